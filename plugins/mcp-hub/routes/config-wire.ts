/** Entries of the tools' files as the API answers them: no secret in any of it. */
import type { Kernel } from "sessarc";
import type { EntryClass, Verdict } from "../configs/classify.ts";
import type { BackupState } from "../configs/configs.ts";
import { changesBetween, type FieldChange, type ShownFields, showFields } from "../configs/fields.ts";
import type { Matrix } from "../configs/matrix.ts";
import type { ConfigScan, FoundEntry, ManagedEntry } from "../configs/scan.ts";
import type { Scope, ServiceEntry } from "../entry.ts";

export interface WireScanEntry {
  /** File and place in it. */
  key: string;
  file: string;
  /** SHA-256 of the file, to be sent back with a takeover. */
  fileHash: string;
  /** The tool whose form the file has, and all that read it. */
  tool: string;
  tools: string[];
  name: string;
  class: EntryClass;
  /** Why it is in conflict. */
  conflict: Verdict["conflict"];
  importable: boolean;
  /** Why not. */
  reasons: string[];
  /** Of which it is a duplicate. */
  duplicateOf: string | null;
  /** The service it is linked to, equal to or in conflict with. */
  service: string | null;
  hubEdited: boolean;
  /** The name it would have. */
  slug: string;
  scope: Scope;
  enabled: boolean;
  /** What the file says. */
  config: ShownFields;
  /** What differs from the service. */
  diff: FieldChange[];
}

/** An entry that leads to this hub already. */
interface WireManaged {
  /** Of one that is not `current`: sent with a takeover, it is made to lead to where the service listens now. */
  key: string;
  file: string;
  fileHash: string;
  tool: string;
  name: string;
  /** False: it leads to an address at which this service does not listen now. */
  current: boolean;
}

export interface WireScan {
  entries: WireScanEntry[];
  managed: WireManaged[];
  /** Files that were found and cannot be read. */
  problems: ConfigScan["problems"];
}

export interface WireMatrix extends Matrix {
  /** Files that were found and cannot be read. */
  problems: ConfigScan["problems"];
}

export interface WireDiff {
  file: string;
  diff: string;
}

export interface WireBackup {
  id: string;
  /** The takeover it was made for: all its files are restored by this. */
  takeover: string;
  at: string;
  mode: "import" | "disable" | "replace";
  file: string;
  tools: string[];
  sha256: string;
  bytes: number;
  state: BackupState["state"];
  restoredAt: string | null;
}

export async function toWireEntry(
  kernel: Kernel,
  found: FoundEntry,
  services: readonly ServiceEntry[],
): Promise<WireScanEntry> {
  const { key, source, entry, verdict, reasons, slug, scope, fields } = found;
  const service = services.find(({ id }) => id === verdict.service);
  const shown = { config: showFields(fields), diff: service ? changesBetween(service, fields) : [] };
  return {
    key,
    file: source.place.path,
    fileHash: source.hash,
    tool: source.place.tools[0] ?? "",
    tools: source.place.tools,
    name: entry.name,
    class: verdict.class,
    conflict: verdict.conflict,
    importable: reasons.length === 0,
    reasons,
    duplicateOf: verdict.duplicateOf,
    service: verdict.service,
    hubEdited: verdict.hubEdited,
    slug,
    scope,
    enabled: fields.enabled,
    ...(await hideDeep(kernel, shown)),
  };
}

export const toWireManaged = ({ key, source, entry, current }: ManagedEntry): WireManaged => ({
  key,
  file: source.place.path,
  fileHash: source.hash,
  tool: source.place.tools[0] ?? "",
  name: entry.name,
  current,
});

/** Masks whatever has the form of a secret, in any field. */
export async function hideDeep<T>(kernel: Kernel, value: T): Promise<T> {
  const rules = kernel.inject("rules");
  const hide = async (one: unknown): Promise<unknown> => {
    if (typeof one === "string") return rules.hide(one);
    if (Array.isArray(one)) return Promise.all(one.map(hide));
    if (typeof one !== "object" || one === null) return one;
    const pairs = Object.entries(one).map(async ([key, field]) => [key, await hide(field)] as const);
    return Object.fromEntries(await Promise.all(pairs));
  };
  return (await hide(value)) as T;
}

export function toWireBackup({ id, run, path, note, before, state, undoneAt }: BackupState): WireBackup {
  const { tools, bytes } = note;
  const { mode } = run.note;
  return {
    id,
    takeover: run.id,
    at: run.at,
    mode,
    file: path,
    tools,
    sha256: before,
    bytes,
    state,
    restoredAt: undoneAt,
  };
}
