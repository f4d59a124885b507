/** A message as a search reads it. */
import type { Json, SessionEvent } from "sessarc";
import { decodeChunk } from "sessarc/storage";

export interface Searched {
  event: SessionEvent;
  /** Keys and values of its tool input, one a line. */
  input: string;
}

/**
 * Messages of an inflated chunk (its bytes read as Latin-1) that may match: those in whose line each of `bytes` finds something, all where there are
 * none. A message is one line, and no line break is inside of it: only the lines that are returned are parsed.
 */
export function searchedIn(chunk: string, [first, ...others]: readonly RegExp[]): Searched[] {
  if (!first) return toSearched(decodeChunk(Buffer.from(chunk, "latin1")));
  const lines: string[] = [];
  for (let from = 0; from < chunk.length; ) {
    first.lastIndex = from;
    const hit = first.exec(chunk);
    if (!hit) break;
    // The array's brackets and commas are at the edges of lines.
    const start = Math.max(1, chunk.lastIndexOf("\n", hit.index) + 1);
    const next = chunk.indexOf("\n", hit.index);
    const end = next < 0 ? chunk.length : next;
    const line = chunk.slice(start, end - 1);
    if (others.every((other) => line.search(other) >= 0)) lines.push(line);
    from = end + 1;
  }
  return lines.length === 0 ? [] : toSearched(decodeChunk(Buffer.from(`[${lines.join(",")}]`, "latin1")));
}

export const toSearched = (events: readonly SessionEvent[]): Searched[] =>
  events.map((event) => ({ event, input: toWords(event.tool_input) }));

function toWords(value: Json | undefined): string {
  if (value === undefined) return "";
  if (value === null || typeof value !== "object") return `${value}\n`;
  let words = "";
  if (Array.isArray(value)) for (const item of value) words += toWords(item);
  else for (const key of Object.keys(value)) words += `${key}\n${toWords(value[key])}`;
  return words;
}
