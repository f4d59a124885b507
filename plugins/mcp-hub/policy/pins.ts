/**
 * Definitions as they were accepted. The first one seen counts as accepted; a tool whose description or schema reads otherwise later
 * is held until a person accepts it (its digest as `pin` in the service's policy).
 */
import { createHash } from "node:crypto";
import { canonicalJson, isRecord, type JsonRecord, parseRecord } from "sessarc";
import type { ServiceEntry } from "../entry.ts";
import type { AcceptedTool, RegistryStore } from "../registry/store.ts";

export interface ToolChange {
  digest: string;
  before: JsonRecord;
  after: JsonRecord;
}

/** One part of a definition that differs, as JSON; null where it is missing. */
export interface DefinitionChange {
  field: string;
  before: string | null;
  after: string | null;
}

const MOST_CHANGES = 20;
const MOST_CHARS = 300;

/** What differs between two definitions, down to the smallest parts. */
export function toChanges({ before, after }: ToolChange): DefinitionChange[] {
  const changes: DefinitionChange[] = [];
  compare(before, after, "", changes);
  return changes.slice(0, MOST_CHANGES);
}

function compare(before: unknown, after: unknown, field: string, changes: DefinitionChange[]): void {
  if (canonicalJson(before) === canonicalJson(after)) return;
  if (!isRecord(before) || !isRecord(after))
    return void changes.push({ field, before: shortened(before), after: shortened(after) });
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
    compare(before[key], after[key], field === "" ? key : `${field}.${key}`, changes);
}

function shortened(value: unknown): string | null {
  const text = value === undefined ? null : JSON.stringify(value);
  return text !== null && text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text;
}

/** What a model reads of a tool, in one order whatever the service's. */
function toDefinition(tool: JsonRecord): JsonRecord {
  const { title, description, inputSchema, outputSchema, annotations } = tool;
  return { title, description, inputSchema, outputSchema, annotations };
}

const toDigest = (tool: JsonRecord): string =>
  createHash("sha256")
    .update(canonicalJson(toDefinition(tool)))
    .digest("hex")
    .slice(0, 16);

/** Compares what a service lists with what was accepted; new tools and new pins are written down. Answers the tools that are held. */
export async function checkDefinitions(
  store: RegistryStore,
  entry: ServiceEntry,
  tools: readonly JsonRecord[],
): Promise<Map<string, ToolChange>> {
  const accepted = new Map((await store.accepted(entry.id)).map((row) => [row.name, row]));
  const changes = new Map<string, ToolChange>();
  const fresh: AcceptedTool[] = [];
  for (const tool of tools) {
    const name = String(tool.name);
    const digest = toDigest(tool);
    const known = accepted.get(name);
    if (known?.digest === digest) continue;
    const pin = Object.hasOwn(entry.policy.tools, name) ? entry.policy.tools[name]?.pin : undefined;
    if (known && pin !== digest)
      changes.set(name, { digest, before: parseRecord(known.definition) ?? {}, after: toDefinition(tool) });
    else fresh.push({ name, digest, definition: JSON.stringify(toDefinition(tool)) });
  }
  if (fresh.length > 0) await store.accept(entry.id, fresh, new Date().toISOString());
  return changes;
}
