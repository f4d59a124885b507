/** Parts of a file: lines that a filter prints, variables of lines like `A=x`, fields of an object. */
import { isRecord } from "sessarc";
import { linesLeft } from "./select.ts";

/** Longer texts are checked whole. */
const LIMIT = 2 ** 20;
const PLAIN = /^\s*(?:#.*|(?:export\s+)?[A-Za-z_][\w.-]*\s*=.*)?$/;
const ASSIGNS = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/;
/** The value continues in the next line because its quote is open. */
const OPEN = /\\$|^\s*(?:"[^"]*|'[^']*)$/;
/** The value contains other variables. */
const FILLED = /[$`]/;

/** Returns the lines that set a variable of `parts` or that a filter prints (`selected`); for "" the text before each `=`. Returns the whole text if the parts cannot be separated. */
export function partsOf(text: string, parts: readonly string[]): string {
  if (text.length > LIMIT) return text;
  const fields = parts.filter((part) => part.startsWith("."));
  if (fields.length > 0) return fields.length < parts.length ? text : fieldsOf(text, fields);
  const asked = new Set(parts);
  const lines = text.split(/\r?\n/);
  const found: string[] = [];
  for (const part of parts) found.push(...(linesLeft(lines, part) ?? []));
  if (asked.has("")) {
    if (!lines.every((line) => PLAIN.test(line) && !OPEN.test(ASSIGNS.exec(line)?.[2] ?? ""))) return text;
    found.push(...lines.map((line) => line.replace(/=.*/, "=")));
  }
  for (const line of lines) {
    const [, name = "", value = ""] = ASSIGNS.exec(line) ?? [];
    if (name === "" || !asked.has(name)) continue;
    if (OPEN.test(value) || FILLED.test(value)) return text;
    found.push(line);
  }
  return found.join("\n");
}

/** Returns the values of fields like `.a.b` of a JSON object, or of `.a` in YAML if the value is in the same line. Returns any other text whole. */
function fieldsOf(text: string, fields: readonly string[]): string {
  try {
    const whole: unknown = JSON.parse(text);
    const found = fields.map((field) => {
      let value = whole;
      for (const key of field.slice(1).split(".")) value = isRecord(value) ? value[key] : undefined;
      return `${field.slice(1)}: ${JSON.stringify(value)}`;
    });
    return found.join("\n");
  } catch {
    const found = fields.map((field) => new RegExp(`^${field.slice(1)}: *[^\\s|>&*{["'].*$`, "m").exec(text)?.[0]);
    return found.every((line) => line !== undefined) ? found.join("\n") : text;
  }
}
