/** The part of a file that arrives at a sink, as a value, and the text of that part. */
import type { RE2JS } from "re2js";
import { isRecord } from "sessarc";
import { expressions } from "../../secrets/match/expressions.ts";

/** Everything else of the file stays unseen. */
export type Part =
  /** Of lines like `A=x` the text before each `=`. */
  | { kind: "names" }
  /** The line that sets the variable. */
  | { kind: "variable"; name: string }
  /** One value of an object: `.a.b`. */
  | { kind: "field"; path: readonly string[] }
  /** Lines by number; a negative `from` counts from the end. */
  | { kind: "lines"; from: number; to?: number }
  /** Lines that match a plain pattern, or that do not. */
  | { kind: "matches"; pattern: string; inverts: boolean; ignoresCase: boolean }
  /** What a search with any expression prints of a file; with `context` the whole file if a line matches. */
  | Search;

type Search = { kind: "search"; pattern: string; inverts: boolean; ignoresCase: boolean; context: boolean };

/** Longer texts are checked whole. */
const LIMIT = 2 ** 20;
const PLAIN = /^\s*(?:#.*|(?:export\s+)?[A-Za-z_][\w.-]*\s*=.*)?$/;
const ASSIGNS = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/;
/** The value continues in the next line because its quote is open. */
const OPEN = /\\$|^\s*(?:"[^"]*|'[^']*)$/;
/** The value contains other variables. */
const FILLED = /[$`]/;
/** Characters of a line that are compared with a pattern. */
const LINE_LIMIT = 10_000;

/** Equal for equal parts. */
export const toKey = (part: Part): string => JSON.stringify(part);

/** Returns the text of all `parts`; the whole text if they cannot be separated. */
export function cutParts(text: string, parts: readonly Part[]): string {
  if (text.length > LIMIT) return text;
  const fields = parts.flatMap((part) => (part.kind === "field" ? [part.path] : []));
  if (fields.length > 0) return fields.length < parts.length ? text : cutFields(text, fields);
  const lines = text.split(/\r?\n/);
  const found = parts.flatMap((part) => selectLines(lines, part));
  if (parts.some(({ kind }) => kind === "names")) {
    if (!lines.every((line) => PLAIN.test(line) && !OPEN.test(ASSIGNS.exec(line)?.[2] ?? ""))) return text;
    found.push(...lines.map((line) => line.replace(/=.*/, "=")));
  }
  const asked = new Set(parts.flatMap((part) => (part.kind === "variable" ? [part.name] : [])));
  if (asked.size === 0) return found.join("\n");
  for (const line of lines) {
    const [, name = "", value = ""] = ASSIGNS.exec(line) ?? [];
    if (name === "" || !asked.has(name)) continue;
    if (OPEN.test(value) || FILLED.test(value)) return text;
    found.push(line);
  }
  return found.join("\n");
}

/** The values of fields of a JSON object, or of fields like `.a` in YAML if the value is in the same line. Returns any other text whole. */
function cutFields(text: string, fields: readonly (readonly string[])[]): string {
  try {
    const whole: unknown = JSON.parse(text);
    const found = fields.map((path) => {
      let value = whole;
      for (const key of path) value = isRecord(value) ? value[key] : undefined;
      return `${path.join(".")}: ${JSON.stringify(value)}`;
    });
    return found.join("\n");
  } catch {
    const found = fields.map((path) => new RegExp(`^${path.join(".")}: *[^\\s|>&*{["'].*$`, "m").exec(text)?.[0]);
    return found.every((line) => line !== undefined) ? found.join("\n") : text;
  }
}

/** The lines of a part that selects lines. */
function selectLines(lines: readonly string[], part: Part): readonly string[] {
  switch (part.kind) {
    case "lines":
      return lines.slice(part.from - 1, part.to);
    case "matches": {
      const asked = new RegExp(part.pattern, part.ignoresCase ? "i" : "");
      return lines.filter((line) => asked.test(line.slice(0, LINE_LIMIT)) !== part.inverts);
    }
    case "search":
      return searchLines(lines, part);
    default:
      return [];
  }
}

/** The last expression: a search has the same one for each of its files. */
let compiled: { key: string; expression: RE2JS } | undefined;

/** The lines of a search with any expression. All lines if the expression cannot be read. */
function searchLines(lines: readonly string[], part: Search): readonly string[] {
  const { RE2JS, RE2JSException } = expressions();
  const key = toKey(part);
  try {
    if (compiled?.key !== key)
      compiled = { key, expression: RE2JS.compile(part.pattern, part.ignoresCase ? RE2JS.CASE_INSENSITIVE : 0) };
    const asked = compiled.expression;
    const found = lines.filter((line) => asked.matcher(line.slice(0, LINE_LIMIT)).find() !== part.inverts);
    return part.context && found.length > 0 ? lines : found;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return lines;
  }
}
