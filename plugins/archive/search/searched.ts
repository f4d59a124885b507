/** A message as a search reads it. */
import type { Json, SessionEvent } from "sessarc";

export interface Searched {
  event: SessionEvent;
  /** Keys and values of its tool input, one a line. */
  input: string;
}

export const toSearched = (events: readonly SessionEvent[]): Searched[] =>
  events.map((event) => ({ event, input: wordsOf(event.tool_input) }));

function wordsOf(value: Json | undefined): string {
  if (value === undefined) return "";
  if (value === null || typeof value !== "object") return `${value}\n`;
  let words = "";
  if (Array.isArray(value)) for (const item of value) words += wordsOf(item);
  else for (const key of Object.keys(value)) words += `${key}\n${wordsOf(value[key])}`;
  return words;
}
