/** What a takeover comes to: changes of services, and edits of files. Nothing is done here. */
import { type Kernel, SessarcError } from "sessarc";
import { BUILTIN_ID, type Scope, type ServiceEntry, type ServiceSource, SLUG, SLUG_LENGTH } from "../entry.ts";
import { type ConfigEdit, valueAt } from "./edit.ts";
import { HUB_NAME, hubLinkOf, linkUrl } from "./link.ts";
import type { ServiceFields } from "./normal.ts";
import type { ConfigFile, ConfigScan, FoundEntry } from "./scan.ts";
import { createTexts } from "./texts.ts";

export type TakeoverMode = "import" | "disable" | "replace";

export interface TakeoverRequest {
  /** `import`, `keepHub`, `takeSource` or `rename:<slug>`. */
  entries: readonly { key: string; resolution: string }[];
  /** By file, as the scan answered them. */
  fileHashes: Readonly<Record<string, string>>;
  mode: TakeoverMode;
  /** Services are for all tools at once, and not only for those that had them. */
  everywhere: boolean;
}

export interface ServiceStep {
  key: string;
  action: "created" | "updated" | "linked";
  id: string;
  name: string;
  /** Null: the service stays as it is. */
  fields: ServiceFields | null;
  scope: Scope;
  source: Pick<ServiceSource, "entryKey" | "file" | "tool" | "baseFp">;
}

export interface FileStep {
  source: ConfigFile;
  edits: ConfigEdit[];
  /** Its text afterwards. */
  after: string;
}

export interface TakeoverPlan {
  steps: ServiceStep[];
  files: FileStep[];
}

export async function planTakeover(
  kernel: Kernel,
  scan: ConfigScan,
  request: TakeoverRequest,
  services: readonly ServiceEntry[],
): Promise<TakeoverPlan> {
  const asked = new Map(request.entries.map(({ key, resolution }) => [key, resolution]));
  const chosen = scan.entries.filter(({ key }) => asked.has(key));
  const unknown = [...asked.keys()].filter((key) => !chosen.some((entry) => entry.key === key));
  if (unknown.length > 0) throw new SessarcError("MCP_ENTRY_NOT_FOUND", { ids: unknown });
  const sources = [...new Set(chosen.map(({ source }) => source))];
  for (const { place, hash } of sources)
    if (request.fileHashes[place.path] !== hash)
      throw new SessarcError("MCP_CONFIG_CHANGED", {
        path: place.path,
        remedy: "Scan again and send the hash of now.",
      });
  const steps = planServices(chosen, asked, services, request.everywhere);
  const files = await Promise.all(sources.map((source) => planFile(kernel, source, chosen, request.mode)));
  return { steps, files };
}

function planServices(
  chosen: readonly FoundEntry[],
  asked: ReadonlyMap<string, string>,
  services: readonly ServiceEntry[],
  everywhere: boolean,
): ServiceStep[] {
  const steps: ServiceStep[] = [];
  /** Services as they will be, and of which entry. */
  const made = new Map<string, FoundEntry>();
  const taken = new Set(services.map(({ id }) => id));
  const add = (entry: FoundEntry, action: ServiceStep["action"], id: string) => {
    const { key, source, fp, scope, fields } = entry;
    const own: Scope = everywhere || source.place.tools.length > 1 ? { ...scope, clients: "*" } : scope;
    const link = { entryKey: key, file: source.place.path, tool: source.place.tools[0] ?? "", baseFp: fp };
    steps.push({
      key,
      action,
      id,
      name: entry.entry.name,
      fields: action === "linked" ? null : fields,
      scope: own,
      source: link,
    });
    if (action !== "linked") made.set(id, entry);
  };
  const create = (entry: FoundEntry, id: string) => {
    const rival = made.get(id);
    if (rival?.fp === entry.fp) add(entry, "linked", id);
    else if (rival || taken.has(id))
      refuse(entry, `there is a service called ${id} already`, `Send the resolution "rename:<name>" for it.`);
    else add(entry, "created", id);
  };
  const update = (entry: FoundEntry, id: string) => {
    const rival = made.get(id);
    if (id === BUILTIN_ID)
      refuse(entry, `the service ${id} is built in`, `Send the resolution "rename:<name>" for it.`);
    if (rival && rival.fp !== entry.fp)
      refuse(
        entry,
        `another entry of this request is to be the service ${id}`,
        `Send "rename:<name>" or "keepHub" for one of them.`,
      );
    add(entry, rival ? "linked" : "updated", id);
  };

  for (const entry of chosen) {
    const { verdict, slug, reasons } = entry;
    const resolution = asked.get(entry.key) ?? "import";
    if (reasons.length > 0) refuse(entry, reasons.join("; "));
    const twin = steps.find(({ key }) => key === verdict.duplicateOf)?.id;
    const known = verdict.service ?? twin ?? (made.get(slug) && slug);
    if (resolution.startsWith("rename:")) create(entry, checkedSlug(entry, resolution.slice(7)));
    else if (resolution === "keepHub") {
      if (known === undefined || known === BUILTIN_ID)
        refuse(entry, "the hub has nothing of that name that could be kept");
      else add(entry, "linked", known);
    } else if (resolution === "takeSource") {
      if (verdict.service === null) create(entry, slug);
      else update(entry, verdict.service);
    } else if (verdict.class === "Conflict")
      refuse(
        entry,
        "it is in conflict with what the hub has, or with another entry",
        `Send "keepHub", "takeSource" or "rename:<name>" for it.`,
      );
    else if (verdict.class === "Updated" && verdict.service !== null) update(entry, verdict.service);
    else if (verdict.class === "Unchanged" && verdict.service !== null) add(entry, "linked", verdict.service);
    else if (twin !== undefined) add(entry, "linked", twin);
    else create(entry, slug);
  }
  return steps;
}

function checkedSlug(entry: FoundEntry, slug: string): string {
  if (SLUG.test(slug) && slug.length <= SLUG_LENGTH) return slug;
  return refuse(
    entry,
    `"${slug}" is no name for a service`,
    `Use up to ${SLUG_LENGTH} lower-case letters and digits, words joined by -.`,
  );
}

function refuse(entry: Pick<FoundEntry, "entry" | "source">, reason: string, remedy?: string): never {
  throw new SessarcError("MCP_ENTRY_REFUSED", {
    name: `${entry.entry.name} of ${entry.source.place.path}`,
    reason,
    remedy,
  });
}

async function planFile(
  kernel: Kernel,
  source: ConfigFile,
  chosen: readonly FoundEntry[],
  mode: TakeoverMode,
): Promise<FileStep> {
  const { place, text, config } = source;
  const own = chosen.filter((entry) => entry.source === source);
  if (mode === "import") return { source, edits: [], after: text };
  const links = linksFor(kernel, own);
  const same = (one: readonly string[], other: readonly string[]) => JSON.stringify(one) === JSON.stringify(other);
  const placeOf = ({ path, key }: HubLink) => [...path, key];
  // What is put in the place of an entry of that name has taken it out.
  const gone = own.filter(({ entry }) => !links.some((link) => same(placeOf(link), entry.path)));
  for (const link of links) {
    const there = source.servers.find((one) => same(one.path, placeOf(link)));
    const isFree = valueAt(config, placeOf(link)) === undefined || (there && hubLinkOf(there, kernel));
    if (!isFree && !own.some(({ entry }) => same(entry.path, placeOf(link))))
      throw new SessarcError("MCP_ENTRY_REFUSED", {
        name: place.path,
        reason: `a server called ${HUB_NAME} stands there that does not lead here`,
        remedy: "Take it over as well, or rename it in the file.",
      });
  }
  const edits = [...links, ...gone.map((entry) => goneFor(entry, mode))];
  return { source, edits, after: await createTexts(kernel.pool).edit(text, place.contract.syntax, edits, place.path) };
}

type HubLink = Extract<ConfigEdit, { kind: "set" }>;

/** One for each object that entries are taken from: the tool reads it wherever it read them. */
function linksFor(kernel: Kernel, own: readonly FoundEntry[]): HubLink[] {
  const links = new Map<string, HubLink>();
  for (const { entry, source, scope } of own) {
    const { tools, contract, scope: of } = source.place;
    const path = entry.path.slice(0, -1);
    const [project = null] = scope.projects === "*" ? [] : scope.projects;
    const url = linkUrl(kernel, tools.length === 1 ? (tools[0] ?? null) : null, project);
    const token = kernel.access.scoped("mcp");
    if (token !== undefined && of === "project")
      throw new SessarcError("MCP_ENTRY_REFUSED", {
        name: source.place.path,
        reason: "the service asks for a token, which does not belong into a file of a project",
        remedy: `Use the mode "import", or start the service without --auth.`,
      });
    const headers = token === undefined ? undefined : { Authorization: `Bearer ${token}` };
    links.set(JSON.stringify(path), { kind: "set", path, key: HUB_NAME, value: contract.link(url, path, headers) });
  }
  return [...links.values()];
}

function goneFor(found: FoundEntry, mode: "disable" | "replace"): ConfigEdit {
  const { entry, source } = found;
  if (mode === "replace") return { kind: "remove", path: entry.path };
  const off = source.place.contract.off?.(entry.path.slice(0, -1));
  if (!off) return refuse(found, "this tool cannot switch a server off in its file", `Use the mode "replace".`);
  return { kind: "set", path: entry.path, key: off.key, value: off.value };
}
