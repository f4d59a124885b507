/** Servers by assistants: which assistant has which server, in its own file or through the hub, and where they differ. */
import { basename } from "node:path";
import { BUILTIN_ID, type ServiceEntry } from "../entry.ts";
import { changesBetween, type FieldChange, type ShownFields, showFields } from "./fields.ts";
import type { ServiceFields } from "./normal.ts";
import { isOwnFile } from "./places.ts";
import type { ConfigScan, FoundEntry, SeenServiceEntry } from "./scan.ts";

interface MatrixAssistant {
  tool: string;
  /** Its file has an entry that leads to the hub. */
  connected: boolean;
  /** A takeover can write that entry. */
  connectable: boolean;
}

interface MatrixEntry {
  key: string;
  file: string;
  /** Its name in that file. */
  name: string;
  importable: boolean;
  /** Why not. */
  reasons: string[];
  /** What a takeover sends to move it to this server's service; null: the service is built in. */
  resolution: string | null;
  /** What differs: `before` is what the hub has, or the file of `reference`. */
  diff: FieldChange[];
}

interface MatrixCell {
  tool: string;
  /** `file`: in its own file; `differs`: there as well, with other fields; `hub`: through the hub alone. */
  state: "file" | "differs" | "hub" | "absent";
  entries: MatrixEntry[];
}

interface MatrixServer {
  name: string;
  /** Other names of it in files. */
  otherNames: string[];
  /** Id of the hub's service. */
  service: string | null;
  /** Where the hub has no service: the entry that the others are compared with. */
  reference: { key: string; file: string } | null;
  config: ShownFields;
  cells: MatrixCell[];
}

export interface Matrix {
  assistants: MatrixAssistant[];
  servers: MatrixServer[];
  /** SHA-256 of each file, to be sent back with a takeover. */
  files: Record<string, string>;
}

/** A server: everything that starts the same. */
interface Group {
  service: SeenServiceEntry | undefined;
  entries: FoundEntry[];
}

export function createMatrix(scan: ConfigScan): Matrix {
  const assistants = toAssistants(scan);
  return {
    assistants,
    servers: toGroups(scan).map((group) => toServer(group, assistants)),
    files: Object.fromEntries([...scan.files, ...scan.vacant].map(({ place, hash }) => [place.path, hash])),
  };
}

function toAssistants({ files, entries, managed, vacant }: ConfigScan): MatrixAssistant[] {
  const tools = [...new Set([...files, ...vacant].flatMap(({ place }) => place.tools))];
  return tools.map((tool) => ({
    tool,
    connected: managed.some(({ source, current }) => current && source.place.tools.includes(tool)),
    connectable: [...[...entries, ...managed].map(({ source }) => source), ...vacant].some(({ place }) =>
      isOwnFile(place, tool),
    ),
  }));
}

/** Services first, then what files name besides, in the order of the scan. */
function toGroups({ services, entries }: ConfigScan): Group[] {
  let groups: Group[] = services.map((service) => ({ service, entries: [] }));
  for (const entry of entries) {
    const [first, ...others] = groups.filter((group) => isSame(group, entry));
    if (!first) {
      groups.push({ service: undefined, entries: [entry] });
      continue;
    }
    // It is what two rows have in common: they are one. Services stay apart.
    const joined = others.filter(({ service }) => service === undefined);
    first.entries.push(...joined.flatMap((group) => group.entries), entry);
    groups = groups.filter((group) => !joined.includes(group));
  }
  return groups;
}

/** The same command line or address; or the same program under the same name, with other arguments. */
function isSame({ service, entries }: Group, entry: FoundEntry): boolean {
  if (service?.sources.some(({ entryKey }) => entryKey === entry.key)) return true;
  const members = [...(service ? [{ ...service, slug: service.id, fields: service }] : []), ...entries];
  return members.some(
    (one) => one.efp === entry.efp || (one.slug === entry.slug && toProgram(one.fields) === toProgram(entry.fields)),
  );
}

function toProgram({ command, url }: ServiceFields): string {
  if (command !== null) return basename(command);
  return url !== null && URL.canParse(url) ? new URL(url).host : (url ?? "");
}

function toServer(group: Group, assistants: readonly MatrixAssistant[]): MatrixServer {
  const { service, entries } = group;
  const reference = service ? undefined : mostCommon(entries);
  const first = service ?? reference;
  const fields = service ?? reference?.fields;
  if (!first || !fields) throw new Error("A server is a service or an entry");
  const names = [...new Set(entries.map(({ entry }) => entry.name))];
  const name = service?.name ?? reference?.entry.name ?? "";
  return {
    name,
    otherNames: names.filter((one) => one !== name),
    service: service?.id ?? null,
    reference: reference ? { key: reference.key, file: reference.source.place.path } : null,
    config: showFields(fields),
    cells: assistants.map(({ tool, connected }) => {
      const own = entries.filter(({ source }) => source.place.tools.includes(tool));
      const differs = own.some((entry) => entry.server !== first.server);
      const through = connected && service !== undefined && isFor(service, tool);
      const stored = own.length > 0 ? (differs ? "differs" : "file") : undefined;
      return {
        tool,
        state: stored ?? (through ? "hub" : "absent"),
        entries: own.map((entry) => ({
          key: entry.key,
          file: entry.source.place.path,
          name: entry.entry.name,
          importable: entry.reasons.length === 0,
          reasons: entry.reasons,
          resolution: findResolution(entry, service, reference),
          diff: changesBetween(fields, entry.fields),
        })),
      };
    }),
  };
}

const isFor = ({ enabled, scope: { clients } }: ServiceEntry, tool: string): boolean =>
  enabled && (clients === "*" || clients.includes(tool));

/** What most files say; of as many, what comes first. */
function mostCommon(entries: readonly FoundEntry[]): FoundEntry | undefined {
  const counts = entries.map((entry) => entries.filter(({ server }) => server === entry.server).length);
  return entries[counts.indexOf(Math.max(...counts))];
}

function findResolution(
  { server, verdict }: FoundEntry,
  service: SeenServiceEntry | undefined,
  reference: FoundEntry | undefined,
): string | null {
  if (service?.id === BUILTIN_ID) return null;
  if (service) return verdict.class === "Unchanged" && verdict.service === service.id ? "import" : `join:${service.id}`;
  if (server !== reference?.server) return `join:${reference?.key ?? ""}`;
  return verdict.class === "Conflict" ? "takeSource" : "import";
}
