/** The plan of a takeover for one file: what is removed, what leads here instead, and the text afterwards. Nothing is done here. */

import { isRecord, type JsonRecord, type Kernel, SessarcError, toRecord } from "sessarc";
import { HARD_LINKED, settingAt } from "sessarc/files";
import { HUB_NAME, linkFor, relinkUrl, toHubLink } from "./link.ts";
import type { ConfigFile } from "./places.ts";
import type { FoundEntry, ManagedEntry } from "./scan.ts";
import { type ConfigEdit, createTexts } from "./texts.ts";

export type TakeoverMode = "import" | "disable" | "replace";

export interface FileStep {
  source: ConfigFile;
  edits: ConfigEdit[];
  /** Its text afterwards. */
  after: string;
}

export async function planFile(
  kernel: Kernel,
  source: ConfigFile,
  asked: {
    chosen: readonly FoundEntry[];
    links: readonly ManagedEntry[];
    beside: readonly FoundEntry[];
    /** Files in which the hub's entry is the first one. */
    vacant: readonly ConfigFile[];
  },
  mode: TakeoverMode,
): Promise<FileStep> {
  const { place, text, config, file } = source;
  const own = asked.chosen.filter((entry) => entry.source === source);
  if (mode === "import") return { source, edits: [], after: text };
  if (file.links > 1)
    throw new SessarcError("MCP_ENTRY_REFUSED", {
      name: place.path,
      reason: HARD_LINKED,
      remedy: "Import its servers and leave the file unchanged, or make it a symbolic link.",
    });
  const links = [
    ...linksFor(kernel, [...own, ...asked.beside.filter((entry) => entry.source === source)]),
    ...(asked.vacant.includes(source) ? [firstLink(kernel, source)] : []),
  ];
  const same = (one: readonly string[], other: readonly string[]) => JSON.stringify(one) === JSON.stringify(other);
  const toPlace = ({ path, key }: HubLink) => [...path, key];
  // An edit that replaces an entry has removed it already.
  const gone = own.filter(({ entry }) => !links.some((link) => same(toPlace(link), entry.path)));
  for (const link of links) {
    const there = source.servers.find((one) => same(one.path, toPlace(link)));
    const isFree = settingAt(config, toPlace(link)) === undefined || (there && toHubLink(there, kernel));
    if (!isFree && !own.some(({ entry }) => same(entry.path, toPlace(link))))
      throw new SessarcError("MCP_ENTRY_REFUSED", {
        name: place.path,
        reason: `the file has a server called ${HUB_NAME} that does not lead here`,
        remedy: "Take it over as well, or rename it in the file.",
      });
  }
  const old = asked.links.filter((one) => one.source === source && !one.current);
  const stale = old.filter(({ entry }) => !links.some((link) => same(toPlace(link), entry.path)));
  const edits = [
    ...links,
    ...stale.flatMap((one) => relinked(kernel, config, one)),
    ...gone.map((entry) => goneFor(entry, mode)),
  ];
  const { syntax } = place.contract;
  const isEmpty = text.trim() === "" && syntax !== "toml";
  const made = links.flatMap((link) => missingObjects(source, link));
  const after = await createTexts(kernel.pool).edit(isEmpty ? "{}\n" : text, syntax, [...made, ...edits], place.path);
  return { source, edits, after };
}

/** Objects on the way to an entry that the file lacks. Throws MCP_ENTRY_REFUSED where something else has one of their names. */
function missingObjects({ place, config }: ConfigFile, { path }: HubLink): HubLink[] {
  return path.flatMap((key, depth): HubLink[] => {
    const found = settingAt(config, path.slice(0, depth + 1));
    if (isRecord(found)) return [];
    if (found === undefined) return [{ kind: "set", path: path.slice(0, depth), key, value: {} }];
    throw new SessarcError("MCP_ENTRY_REFUSED", {
      name: place.path,
      reason: `"${path.slice(0, depth + 1).join(".")}" is not an object`,
      remedy: "Correct it in the file.",
    });
  });
}

type HubLink = Extract<ConfigEdit, { kind: "set" }>;

/** The entry in a file that names no server. */
function firstLink(kernel: Kernel, { place, config }: ConfigFile): HubLink {
  const { contract, path: file } = place;
  const path = contract.into?.(config, file) ?? [];
  return { kind: "set", path, key: HUB_NAME, value: linkValue(kernel, place, null, path) };
}

/** One for each object that entries are taken from: the tool reads it wherever it read them. */
function linksFor(kernel: Kernel, own: readonly FoundEntry[]): HubLink[] {
  const links = new Map<string, HubLink>();
  for (const { entry, source, scope } of own) {
    const path = entry.path.slice(0, -1);
    const [project = null] = scope.projects === "*" ? [] : scope.projects;
    const value = linkValue(kernel, source.place, project, path);
    links.set(JSON.stringify(path), { kind: "set", path, key: HUB_NAME, value });
  }
  return [...links.values()];
}

function linkValue(
  kernel: Kernel,
  { path: file, contract, scope, tools }: ConfigFile["place"],
  project: string | null,
  path: readonly string[],
): HubLink["value"] {
  const link = linkFor(kernel, tools, project);
  const token = kernel.access.scoped("mcp");
  if (token !== undefined && scope === "project")
    throw new SessarcError("MCP_ENTRY_REFUSED", {
      name: file,
      reason: "the service asks for a token, which does not belong into a file of a project",
      remedy: "Import its servers and leave the file unchanged, or start the service without --auth.",
    });
  const all = { ...link.headers, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) };
  return contract.link(link.url, path, Object.keys(all).length === 0 ? undefined : all);
}

/** The address alone: whatever else its user wrote beside it stays. */
function relinked(kernel: Kernel, config: JsonRecord, { entry }: ManagedEntry): ConfigEdit[] {
  const { url, path } = entry;
  const [field] = Object.entries(toRecord(settingAt(config, path))).find(([, value]) => value === url) ?? [];
  return url === undefined || field === undefined
    ? []
    : [{ kind: "set", path, key: field, value: relinkUrl(kernel, url) }];
}

function goneFor(found: FoundEntry, mode: "disable" | "replace"): ConfigEdit {
  const { entry, source } = found;
  if (mode === "replace") return { kind: "remove", path: entry.path };
  const off = source.place.contract.off?.(entry.path.slice(0, -1));
  if (!off)
    return refuse(
      found,
      "this tool cannot switch a server off in its file",
      "Point the entry to the hub instead, or leave the file unchanged.",
    );
  return { kind: "set", path: entry.path, key: off.key, value: off.value };
}

export function refuse(entry: Pick<FoundEntry, "entry" | "source">, reason: string, remedy?: string): never {
  throw new SessarcError("MCP_ENTRY_REFUSED", {
    name: `${entry.entry.name} of ${entry.source.place.path}`,
    reason,
    remedy,
  });
}
