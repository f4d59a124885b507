/** Applies the records of one chat file: messages by id, `$set`, `$rewindTo`. Usage is kept for every id ever seen. */

import { isRecord, type JsonRecord, toIso, toRecord, toText } from "sessarc";
import { countUnknown, earliest, latest } from "sessarc/adapter";
import { findContext } from "./content.ts";
import type { Conversation, Meta, Reply } from "./types.ts";

const META = ["sessionId", "projectHash", "startTime", "lastUpdated", "summary", "kind"] as const;

const isEmpty = (value: unknown) =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

/** `row` with whatever the same message had before. */
function complete(row: JsonRecord, known: JsonRecord | undefined): JsonRecord {
  if (known === undefined || known.type !== row.type) return row;
  const kept = Object.entries(known).filter(([name, value]) => name !== "tokens" && !isEmpty(value));
  return { ...row, ...Object.fromEntries(kept) };
}

export interface Fold {
  /** Applies one record. Never throws. */
  row(row: unknown): void;
  result(): Conversation;
}

export function createFold(): Fold {
  const meta: Meta = {};
  const messages = new Map<string, JsonRecord>();
  /** Every message ever logged: a resume empties the history for a moment. */
  const seen = new Map<string, JsonRecord>();
  const replies = new Map<string, Reply>();
  const unknown: Record<string, number> = {};
  let tokenRecords = 0;
  let bad = 0;
  let nameless = 0;
  let first: string | undefined;
  let last: string | undefined;
  let context: string | undefined;

  function message(row: unknown): void {
    if (!isRecord(row)) {
      bad++;
      return;
    }
    const id = toText(row.id) ?? `#${nameless++}`;
    messages.set(id, row); // a known id keeps its place
    seen.set(id, row);
    const at = toIso(row.timestamp);
    if (at !== undefined) {
      first = earliest([first, at]);
      last = latest([last, at]);
    }
    if (row.type === "user") context ??= findContext(row);
    const known = replies.get(id);
    const model = toText(row.model) ?? known?.model;
    // Tokens often arrive with a second copy of the record; a later null does not take them back.
    if (isRecord(row.tokens)) {
      tokenRecords++;
      replies.set(id, { id, at: known?.at ?? at, model, tokens: row.tokens });
    } else if (known) known.model = model;
  }

  /** A rewritten history (a resume, a compression) has its messages without calls, thoughts and times: the known ones are retained. */
  function replaceAll(rows: unknown): void {
    messages.clear();
    if (!Array.isArray(rows)) bad++;
    else for (const row of rows) message(isRecord(row) ? complete(row, seen.get(String(row.id))) : row);
  }

  function update(set: JsonRecord): void {
    for (const name of META) {
      const value = toText(set[name]);
      if (value !== undefined) meta[name] = value;
    }
    const origin = toText(toRecord(set.sessarc).copyOf);
    if (origin !== undefined) meta.copyOf ??= origin;
    if (set.messages !== undefined) replaceAll(set.messages);
  }

  function rewind(id: string): void {
    let found = false;
    for (const known of messages.keys()) {
      found ||= known === id;
      if (found) messages.delete(known);
    }
    if (!found) messages.clear(); // as the tool itself does
  }

  return {
    row(row) {
      if (!isRecord(row)) bad++;
      else if (typeof row.$rewindTo === "string") rewind(row.$rewindTo);
      else if ("$set" in row) update(toRecord(row.$set));
      else if (typeof row.sessionId === "string" && typeof row.type !== "string") update(row);
      else if (typeof row.id === "string" || typeof row.type === "string") message(row);
      else countUnknown(unknown, Object.keys(row)[0] ?? "{}");
    },
    result: () => ({ meta, messages, replies, tokenRecords, first, last, context, unknown: { ...unknown }, bad }),
  };
}
