/** Text as a reader may safely see it. Runs before redaction: nothing that is taken out here can put a secret together later. */
import type { Json, SessionEvent } from "sessarc";

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const ANSI = /\u001b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\u0007\u001b]{0,2048}(?:\u0007|\u001b\\)|[@-Z\\-_])/g;
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: as above
/** Invisible and without a use between the letters a token is made of. */
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff]|(?<=[!-~])[\u200c\u200d](?=[!-~])/g;
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Without terminal codes and control characters; line ends are `\n`. Linear. */
function cleanText(text: string): string {
  return text
    .replace(ANSI, "")
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(CONTROL, "")
    .replace(INVISIBLE, "");
}

/** Characters that turn the direction of what follows are shown by their name, so that text reads as it is stored. */
export function showBidi(text: string): string {
  return text.replace(BIDI, (char) => `⟨U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

export function cleanEvent(event: SessionEvent): SessionEvent {
  const clean: SessionEvent = { ...event, text: cleanText(event.text) };
  for (const field of ["id", "model", "tool_name", "tool_use_id"] as const) {
    const value = event[field];
    if (value !== undefined) clean[field] = cleanText(value);
  }
  if (event.tool_input !== undefined) clean.tool_input = cleanTree(event.tool_input, 0);
  return clean;
}

/** Deeper trees than this are redacted whole anyway. */
const DEPTH = 100;

export function cleanTree(value: Json, depth = 0): Json {
  if (typeof value === "string") return cleanText(value);
  if (typeof value !== "object" || value === null || depth > DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => cleanTree(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [cleanText(key), cleanTree(item, depth + 1)]));
}
