/** A message as a search reads it. */
import type { Json, SessionEvent } from "sessarc";

export interface Searched {
  event: SessionEvent;
  /** Keys and values of its tool input, one a line. */
  input: string;
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
