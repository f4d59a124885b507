/** The line that a secret is in, from the message as this page has it: the check itself answers values masked and nothing else. */
import type { Message } from "../../wire.ts";

interface Place {
  seq: number;
  /** `text`, or the path of an argument: `tool_input.env.TOKEN`. */
  field: string;
  start: number;
  end: number;
  masked: string;
}

/** Characters on each side. */
const MOST = 60;

/** The rest of the line on both sides of `place`; the other places of the same text are masked in it. Undefined where the text is not there. */
export function aroundOf(
  message: Message | undefined,
  place: Place,
  all: readonly Place[],
): { before: string; after: string } | undefined {
  const text = message && textAt(message, place.field);
  if (text === undefined || place.end > text.length) return undefined;
  const others = all
    .filter((one) => one !== place && one.seq === place.seq && one.field === place.field)
    .sort((a, b) => a.start - b.start);
  const before = masked(text, Math.max(0, place.start - MOST), place.start, others);
  const after = masked(text, place.end, Math.min(text.length, place.end + MOST), others);
  return { before: before.split("\n").at(-1) ?? "", after: after.split("\n", 1)[0] ?? "" };
}

function masked(text: string, from: number, to: number, others: readonly Place[]): string {
  let shown = "";
  let at = from;
  for (const one of others) {
    if (one.end <= at || one.start >= to) continue;
    shown += text.slice(at, Math.max(at, one.start)) + one.masked;
    at = one.end;
  }
  return shown + text.slice(Math.min(at, to), to);
}

function textAt(message: Message, field: string): string | undefined {
  if (field === "text") return message.text;
  let value: unknown = message;
  for (const key of field.split("."))
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return typeof value === "string" ? value : undefined;
}
