/** Messages as lines. */
import { EVENT_KINDS, type EventKind, isRecord, type SessionEvent, toJson } from "sessarc";

/** Fields in the order in which an archive returns them, so that equal messages are equal lines. */
export function eventLine(event: SessionEvent): string {
  const { seq, kind, text, id, at, model, tool_name, tool_use_id, tool_input, is_error, truncated } = event;
  return JSON.stringify({ seq, kind, id, at, model, tool_name, tool_use_id, is_error, truncated, text, tool_input });
}

/** The message of a line, with the number `seq`; undefined for a line that is not a message. */
export function toEvent(line: string, seq: number): SessionEvent | undefined {
  const row = parse(line);
  if (!isRecord(row) || !isKind(row.kind) || typeof row.text !== "string") return undefined;
  const event: SessionEvent = { seq, kind: row.kind, text: row.text };
  for (const field of TEXTS) {
    const value = row[field];
    if (typeof value === "string") event[field] = value;
  }
  if (row.tool_input !== undefined) event.tool_input = toJson(row.tool_input);
  if (typeof row.is_error === "boolean") event.is_error = row.is_error;
  if (row.truncated === true) event.truncated = true;
  return event;
}

const TEXTS = ["id", "at", "model", "tool_name", "tool_use_id"] as const;
const isKind = (value: unknown): value is EventKind => EVENT_KINDS.some((kind) => kind === value);

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
