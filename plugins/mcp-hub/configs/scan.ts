/** What the tools' files name, and what each entry is to the hub. Reads, and starts nothing. */

import { isSessarcError, type JsonRecord, type Kernel } from "sessarc";
import { outsideText, readOutside, toDigest } from "sessarc/files";
import { type Scope, type ServiceEntry, toSlug } from "../entry.ts";
import { classify, type SeenService, type Verdict } from "./classify.ts";
import type { McpReader, McpServerEntry } from "./contract.ts";
import { toHubLink } from "./link.ts";
import { type Candidate, normalForm, toCandidate } from "./normal.ts";
import { parts } from "./parts.ts";
import type { ConfigParts } from "./places.ts";
import { type ConfigFile, type ConfigPlace, configPlaces, type ProjectFolder } from "./places.ts";
import { createTexts, type Texts } from "./texts.ts";
import { vacantFiles } from "./vacant.ts";

export interface FoundEntry extends Candidate {
  key: string;
  source: ConfigFile;
  entry: McpServerEntry;
  slug: string;
  fp: string;
  server: string;
  efp: string;
  scope: Scope;
  verdict: Verdict;
}

/** An entry that leads to the hub. */
export interface ManagedEntry {
  key: string;
  source: ConfigFile;
  entry: McpServerEntry;
  /** False: it leads to an address at which this service does not listen now. */
  current: boolean;
}

/** A service with its fingerprints. */
export type SeenServiceEntry = ServiceEntry & SeenService;

export interface ConfigScan {
  files: ConfigFile[];
  services: SeenServiceEntry[];
  entries: FoundEntry[];
  managed: ManagedEntry[];
  /** Files for the first server of assistants that have none; some of them do not exist. */
  vacant: ConfigFile[];
  problems: { file: string; tool: string; reason: string }[];
}

/** Key of an entry: the file itself and the way to it, as a JSON pointer. */
const toKey = (real: string, path: readonly string[]) =>
  `${real}#${path.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")}`;

export async function scanConfigs(kernel: Kernel, mcp: ConfigParts): Promise<ConfigScan> {
  const rows = await kernel.inject("archive").projects();
  const projects = rows.flatMap(({ id, path }): ProjectFolder[] => (path === null ? [] : [{ id, path }]));
  const texts = createTexts(kernel.pool);
  const scan: ConfigScan = { files: [], services: [], entries: [], managed: [], vacant: [], problems: [] };
  for (const place of await configPlaces(kernel, projects)) {
    try {
      const source = await readConfig(place, texts);
      if (source) scan.files.push(source);
    } catch (error) {
      if (!isSessarcError(error)) throw error;
      scan.problems.push({ file: place.path, tool: place.tools[0] ?? "", reason: error.message });
    }
  }
  const read = createReader(texts);
  for (const source of scan.files) {
    const unapproved = await unapprovedIn(source, kernel, read);
    await addEntries({ scan, source, kernel, mcp, projects, unapproved });
  }
  scan.services = await Promise.all(
    (await mcp.services.list()).map(async (one) => ({ ...one, ...(await marks(one, mcp)) })),
  );
  const named = [...scan.entries, ...scan.managed].map(({ source }) => source);
  scan.vacant = await vacantFiles(kernel, scan.files, named, texts);
  const verdicts = classify(scan.entries, scan.services);
  for (const entry of scan.entries) entry.verdict = verdicts.get(entry.key) ?? entry.verdict;
  return scan;
}

/** Undefined when there is no such file, or it says nothing of servers. Throws SETTINGS_UNUSABLE. */
async function readConfig(place: ConfigPlace, texts: Texts): Promise<ConfigFile | undefined> {
  const file = await readOutside(place.path);
  if (file.bytes === null) return undefined;
  const { text, bom } = outsideText(file);
  // Whatever else is wrong with it is its tool's affair: no tool names servers without one of these words.
  if (!/mcp|servers/i.test(text)) return undefined;
  const config = await texts.parse(text, place.contract.syntax, place.path);
  return { place, file, hash: toDigest(file.bytes), text, bom, config, servers: place.contract.servers(config, parts) };
}

const UNSEEN: Verdict = { class: "New", conflict: null, service: null, duplicateOf: null, hubEdited: false };

/** Other files of a tool, each read once; one that cannot be read says nothing. */
function createReader(texts: Texts): McpReader {
  const known = new Map<string, Promise<JsonRecord>>();
  const read = async (path: string) => {
    const file = await readOutside(path);
    return file.bytes === null ? {} : texts.parse(outsideText(file).text, "jsonc", path);
  };
  return (path) => {
    const found = known.get(path) ?? read(path).catch(() => ({}));
    known.set(path, found);
    return found;
  };
}

/** A project's file comes with the project: the hub starts nothing of it that its user has not agreed to. */
async function unapprovedIn(
  { place, servers }: ConfigFile,
  kernel: Kernel,
  read: McpReader,
): Promise<readonly string[]> {
  if (!place.project || !place.contract.unapproved) return [];
  const names = servers.map(({ name }) => name);
  return place.contract.unapproved(place.project.path, names, kernel.env, read);
}

interface Adding {
  scan: ConfigScan;
  source: ConfigFile;
  kernel: Kernel;
  mcp: Pick<ConfigParts, "vault">;
  projects: readonly ProjectFolder[];
  unapproved: readonly string[];
}

async function addEntries({ scan, source, kernel, mcp, projects, unapproved }: Adding): Promise<void> {
  const { place, file } = source;
  for (const entry of source.servers) {
    const key = toKey(file.real, entry.path);
    const link = toHubLink(entry, kernel);
    if (link) {
      scan.managed.push({ key, source, entry, current: link.current });
      continue;
    }
    const folder = place.project?.path ?? entry.project ?? null;
    const project = folder === null ? null : (projects.find(({ path }) => path === folder)?.id ?? folder);
    const candidate = toCandidate(entry, { place, project: folder, env: kernel.env });
    if (unapproved.includes(entry.name))
      candidate.reasons.push("it comes with the project and is not approved in its tool");
    scan.entries.push({
      ...candidate,
      ...(await marks(candidate.fields, mcp)),
      key,
      source,
      entry,
      slug: toSlug(entry.name),
      scope: { clients: [...place.tools], projects: project === null ? "*" : [project] },
      verdict: UNSEEN,
    });
  }
}

/** Keyed digests: they tell what is equal and nothing else. */
async function marks(fields: Parameters<typeof normalForm>[0], { vault }: Pick<ConfigParts, "vault">) {
  const { all, server, endpoint } = normalForm(fields);
  const [fp, same, efp] = await Promise.all([all, server, endpoint].map((text) => vault.fingerprint(text)));
  return { fp: fp ?? "", server: same ?? "", efp: efp ?? "" };
}
