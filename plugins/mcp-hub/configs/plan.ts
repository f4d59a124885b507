/** The plan of a takeover: changes of services, and edits of files. Nothing is done here. */
import { type Kernel, SessarcError } from "sessarc";
import { BUILTIN_ID, type Scope, type ServiceEntry, type ServiceSource, SLUG, SLUG_LENGTH } from "../entry.ts";
import type { ServiceFields } from "./normal.ts";
import { type ConfigFile, isOwnFile } from "./places.ts";
import { type FileStep, planFile, refuse, type TakeoverMode } from "./plan-files.ts";
import type { ConfigScan, FoundEntry, ManagedEntry } from "./scan.ts";

export interface TakeoverRequest {
  /** `import`, `keepHub`, `takeSource`, `rename:<slug>` or `join:<service, or key of an entry of this request>`. One that leads to the hub is made to lead to where it is now. */
  entries: readonly { key: string; resolution: string }[];
  /** By file, as the scan answered them. */
  fileHashes: Readonly<Record<string, string>>;
  mode: TakeoverMode;
  /** Services are for all tools at once, and not only for those that had them. */
  everywhere: boolean;
  /** Assistants that are led to the hub although none of their entries is taken over. */
  connect: readonly string[];
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
  const connections = request.connect.flatMap((tool) => toConnection(scan, tool));
  const added = connections.flatMap(({ beside }) => beside ?? []);
  const vacant = connections.flatMap(({ first }) => first ?? []);
  const links = scan.managed.filter((one) => asked.has(one.key) || added.includes(one));
  const unknown = [...asked.keys()].filter((key) => ![...chosen, ...links].some((entry) => entry.key === key));
  if (unknown.length > 0) throw new SessarcError("MCP_ENTRY_NOT_FOUND", { ids: unknown });
  const beside = scan.entries.filter((one) => added.includes(one));
  const sources = [...new Set([...[...chosen, ...links, ...beside].map(({ source }) => source), ...vacant])];
  for (const { place, hash } of sources)
    if (request.fileHashes[place.path] !== hash)
      throw new SessarcError("MCP_CONFIG_CHANGED", {
        path: place.path,
        remedy: "Scan again and send the hash of now.",
      });
  const steps = planServices(chosen, asked, services, request.everywhere);
  const files = await Promise.all(
    sources.map((source) => planFile(kernel, source, { chosen, links, beside, vacant }, request.mode)),
  );
  return { steps, files };
}

interface Connection {
  /** The entry it is written over, or beside. */
  beside?: FoundEntry | ManagedEntry;
  /** The file in which it is the first one. */
  first?: ConfigFile;
}

/**
 * Where an assistant's entry for the hub is written: over an older one in the user's file, beside the first server there, or into a file
 * without servers. Nothing if the entry exists.
 */
function toConnection({ entries, managed, vacant }: ConfigScan, tool: string): Connection[] {
  if (managed.some(({ source, current }) => current && source.place.tools.includes(tool))) return [];
  const beside = [...managed, ...entries].find(({ source }) => isOwnFile(source.place, tool));
  if (beside) return [{ beside }];
  const first = vacant.find(({ place }) => isOwnFile(place, tool));
  if (first) return [{ first }];
  throw new SessarcError("MCP_ENTRY_REFUSED", {
    name: tool,
    reason: "it is not installed, or its configuration file is not its own or cannot be read",
    remedy: "Add the hub's address to its configuration by hand.",
  });
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
  /** Named as in its file, with a number where another service has that name: two of one name cannot be distinguished. */
  const freeName = (name: string, id: string) => {
    const others = [...services, ...steps].filter((one) => one.id !== id).map((one) => one.name.toLowerCase());
    for (let n = 1; ; n++) {
      const next = n === 1 ? name : `${name}-${n}`;
      if (!others.includes(next.toLowerCase())) return next;
    }
  };
  const add = (entry: FoundEntry, action: ServiceStep["action"], id: string) => {
    const { key, source, fp, scope, fields } = entry;
    const own: Scope = everywhere || source.place.tools.length > 1 ? { ...scope, clients: "*" } : scope;
    const link = { entryKey: key, file: source.place.path, tool: source.place.tools[0] ?? "", baseFp: fp };
    steps.push({
      key,
      action,
      id,
      name: freeName(id === entry.slug ? entry.entry.name : id, id),
      fields: action === "linked" ? null : fields,
      scope: own,
      source: link,
    });
    if (action !== "linked") made.set(id, entry);
  };
  const create = (entry: FoundEntry, id: string) => {
    const rival = made.get(id);
    if (rival?.server === entry.server) add(entry, "linked", id);
    else if (rival)
      refuse(entry, `${rival.entry.name} of ${rival.source.place.path} gets the name ${id}`, ANOTHER_NAME);
    else if (taken.has(id)) refuse(entry, `a service called ${id} exists already`, ANOTHER_NAME);
    else add(entry, "created", id);
  };
  const update = (entry: FoundEntry, id: string) => {
    const rival = made.get(id);
    if (id === BUILTIN_ID) refuse(entry, `the service ${id} is built in`, ANOTHER_NAME);
    // Another file's entry has become this service: this one becomes a service of its own.
    if (rival && rival.server !== entry.server) add(entry, "created", freeId(id));
    else add(entry, rival ? "linked" : "updated", id);
  };

  const isTaken = (id: string) => taken.has(id) || made.has(id);
  const freeId = (id: string) => {
    for (let n = 2; ; n++) {
      const next = `${id.slice(0, SLUG_LENGTH - String(n).length - 1).replace(/-+$/, "")}-${n}`;
      if (!isTaken(next)) return next;
    }
  };

  // Services are there before other entries are joined to them.
  const ordered = [false, true].flatMap((last) =>
    chosen.filter(({ key }) => /^(keepHub$|join:)/.test(asked.get(key) ?? "") === last),
  );
  for (const entry of ordered) {
    const { verdict, slug, reasons } = entry;
    const resolution = asked.get(entry.key) ?? "import";
    if (reasons.length > 0) refuse(entry, reasons.join("; "));
    const twin = steps.find(({ key }) => key === verdict.duplicateOf)?.id;
    const known = verdict.service ?? twin ?? (made.get(slug) && slug);
    if (resolution.startsWith("rename:")) create(entry, checkedSlug(entry, resolution.slice(7)));
    else if (resolution.startsWith("join:")) {
      const of = resolution.slice(5);
      const id = steps.find((step) => step.key === of)?.id ?? (taken.has(of) ? of : undefined);
      if (id === undefined || id === BUILTIN_ID) refuse(entry, `there is no service ${of} it could become`);
      else add(entry, "linked", id);
    } else if (resolution === "keepHub") {
      if (known === undefined || known === BUILTIN_ID) refuse(entry, "the hub has no service of that name");
      else add(entry, "linked", known);
    } else if (resolution === "takeSource") {
      const same = [...made].find(([, rival]) => rival.server === entry.server)?.[0];
      if (verdict.service !== null) update(entry, verdict.service);
      else if (same !== undefined) add(entry, "linked", same);
      else add(entry, "created", isTaken(slug) ? freeId(slug) : slug);
    } else if (verdict.class === "Conflict")
      refuse(
        entry,
        "it is in conflict with what the hub has, or with another entry",
        "Choose for it: keep the hub's server, take the file's, or import it under another name.",
      );
    else if (verdict.class === "Updated" && verdict.service !== null) update(entry, verdict.service);
    else if (verdict.class === "Unchanged" && verdict.service !== null) add(entry, "linked", verdict.service);
    else if (twin !== undefined) add(entry, "linked", twin);
    else create(entry, slug);
  }
  return steps;
}

const ANOTHER_NAME = "Choose another name for it.";

function checkedSlug(entry: FoundEntry, slug: string): string {
  if (SLUG.test(slug) && slug.length <= SLUG_LENGTH) return slug;
  return refuse(
    entry,
    `"${slug}" is not a valid name for a service`,
    `Use up to ${SLUG_LENGTH} lower-case letters and digits, words joined by -.`,
  );
}
