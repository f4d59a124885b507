/** SKILL.md taken apart: YAML at its head, read with the core schema and nothing else, and Markdown. */
import { isRecord } from "sessarc";
import type * as Yaml from "yaml";
import { quoteValues } from "./lenient.ts";

export interface Frontmatter {
  /** Null when the file has none: the folder's name is used. */
  name: string | null;
  description: string;
  license: string | null;
  compatibility: string | null;
  /** Names of tools it may use without asking; null: it does not say. */
  allowedTools: string[] | null;
  /** Author, version and whatever else the author wrote there; null: none, or not texts by name. */
  metadata: Record<string, string> | null;
  /** Not valid YAML: read as other assistants forgive it. */
  lenient: boolean;
  /** Everything in it, as plain data. */
  fields: Record<string, unknown>;
  /** What the tools forgive. */
  warnings: string[];
}

/** What is wrong, and on which line of the file. */
interface FrontmatterFault {
  message: string;
  line: number;
}

export type ReadFrontmatter = (text: string, folder?: string) => Frontmatter | { fault: FrontmatterFault };

/** Enough for every field at its longest, and little enough to be parsed in some ms whatever it contains: the library is not linear. */
const MAX_BYTES = 16 * 1024;
const MAX_LINES = 500;
/** Characters that begin or part entries, those in texts included. */
const MAX_PARTS = 1_500;
const MAX_DEPTH = 32;
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;

let loaded: Promise<ReadFrontmatter> | undefined;

/** What is used of the library; the package takes in no more of it. */
type Library = Pick<
  typeof Yaml,
  "LineCounter" | "parseDocument" | "isAlias" | "isCollection" | "isMap" | "isNode" | "isPair" | "isScalar"
>;

/** The reader; loads the YAML library once. */
export function loadFrontmatter(): Promise<ReadFrontmatter> {
  loaded ??= import("yaml").then(
    ({ LineCounter, parseDocument, isAlias, isCollection, isMap, isNode, isPair, isScalar }) => {
      const yaml = { LineCounter, parseDocument, isAlias, isCollection, isMap, isNode, isPair, isScalar };
      return (text, folder) => read(yaml, text, folder);
    },
  );
  return loaded;
}

function read(yaml: Library, text: string, folder?: string): Frontmatter | { fault: FrontmatterFault } {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  const fault = (line: number, message: string) => ({ fault: { line, message } });
  if (lines[0]?.trimEnd() !== "---") return fault(1, "It does not begin with frontmatter (a line of three hyphens)");
  const end = lines.findIndex((line, i) => i > 0 && /^(---|\.\.\.)\s*$/.test(line));
  const head = lines.slice(1, end < 0 ? undefined : end);
  const long = tooLong(head);
  if (long !== undefined)
    return fault(
      long + 2,
      `The frontmatter is over ${MAX_BYTES / 1024} KiB, ${MAX_LINES} lines or ${MAX_PARTS} entries`,
    );
  if (end < 0) return fault(1, "The frontmatter has no end (a second line of three hyphens)");
  const deep = tooDeep(head);
  if (deep !== undefined) return fault(deep + 2, `The frontmatter is nested deeper than ${MAX_DEPTH}`);
  const parsed = parse(yaml, head.join("\n"));
  if (!("fault" in parsed)) return toFrontmatter(parsed.value, parsed.lineOf, folder);
  const lenient = readLeniently(yaml, head, folder);
  if (lenient) {
    const where = `line ${parsed.fault.line + 1}: ${parsed.fault.message.replace(/\.$/, "")}`;
    lenient.warnings.unshift(
      `The frontmatter is not valid YAML (${where}). It was read leniently, values as plain text`,
    );
    return lenient;
  }
  // The head begins on line 2 of the file.
  return fault(parsed.fault.line + 1, parsed.fault.message);
}

/** What other assistants make of it; undefined where that is not YAML either, or has no description. */
function readLeniently(yaml: Library, head: readonly string[], folder: string | undefined): Frontmatter | undefined {
  const isValid = (entry: string) => syntaxError(yaml, entry) === undefined;
  const quoted = quoteValues(head, isValid);
  const parsed = quoted && parse(yaml, quoted.join("\n"));
  if (!parsed || "fault" in parsed) return undefined;
  const front = toFrontmatter(parsed.value, parsed.lineOf, folder);
  return "fault" in front ? undefined : { ...front, lenient: true };
}

/** What an entry on its own is not, as YAML. A tag or an alias is YAML, and refused. */
const syntaxError = (yaml: Library, entry: string) => yaml.parseDocument(entry, OPTIONS).errors[0];

const OPTIONS = {
  version: "1.2",
  schema: "core",
  merge: false,
  // Checked below: the library compares each key with all others.
  uniqueKeys: false,
  strict: true,
  prettyErrors: false,
  logLevel: "silent",
} as const;

interface Parsed {
  value: Record<string, unknown>;
  lineOf(key: string): number;
}

/** The core schema of YAML 1.2: strings, numbers, booleans, null. Tags and aliases are refused, so nothing is run and nothing expands. */
function parse(yaml: Library, text: string): Parsed | { fault: FrontmatterFault } {
  const counter = new yaml.LineCounter();
  const lineAt = (offset: number | undefined) => counter.linePos(offset ?? 0).line;
  const doc = yaml.parseDocument(text, { ...OPTIONS, lineCounter: counter });
  const wrong = doc.errors[0] ?? doc.warnings[0];
  if (wrong) return { fault: { line: lineAt(wrong.pos[0]), message: wrong.message.split("\n")[0] ?? wrong.code } };
  const refused = refusedIn(yaml, doc.contents);
  if (refused) return { fault: { line: lineAt(refused.node.range?.[0]), message: refused.message } };
  if (doc.contents !== null && !yaml.isMap(doc.contents))
    return { fault: { line: 1, message: "The frontmatter is not a list of `key: value`" } };
  const map = doc.contents;
  const value: unknown = map === null ? {} : doc.toJS({ maxAliasCount: 0 });
  return {
    value: isRecord(value) ? value : {},
    lineOf: (key) => {
      const pair = map?.items.find((item) => yaml.isScalar(item.key) && item.key.value === key);
      return lineAt(yaml.isNode(pair?.key) ? pair.key.range?.[0] : 0) + 1;
    },
  };
}

/** What is not taken though it is YAML: aliases, tags, a key that is there twice. Depth is limited before. */
function refusedIn(yaml: Library, node: unknown): { node: Yaml.Node; message: string } | undefined {
  if (!yaml.isNode(node)) return undefined;
  if (yaml.isAlias(node)) return { node, message: "Aliases are not allowed in frontmatter" };
  if (node.tag?.startsWith("!")) return { node, message: `The tag ${node.tag} is not allowed` };
  if (!yaml.isCollection(node)) return undefined;
  const keys = new Set<unknown>();
  for (const item of node.items) {
    const { key, value } = yaml.isPair(item) ? item : { key: undefined, value: item };
    if (yaml.isScalar(key)) {
      if (keys.has(key.value)) return { node: key, message: `The key ${JSON.stringify(key.value)} is a duplicate` };
      keys.add(key.value);
    }
    const refused = refusedIn(yaml, key) ?? refusedIn(yaml, value);
    if (refused) return refused;
  }
  return undefined;
}

function toFrontmatter(
  fields: Record<string, unknown>,
  lineOf: (key: string) => number,
  folder: string | undefined,
): Frontmatter | { fault: FrontmatterFault } {
  const warnings: string[] = [];
  const description = toWords(fields.description);
  if (description === null || description.trim() === "") {
    const message = "description" in fields ? "The description is empty or not a text" : "It has no description";
    return { fault: { line: "description" in fields ? lineOf("description") : 1, message } };
  }
  if ([...description].length > 1024) warnings.push("The description is longer than 1024 characters");
  const name = toWords(fields.name);
  if (name === null || name.trim() === "") warnings.push("It has no name: the folder's stands for it");
  else {
    if (!NAME.test(name)) warnings.push("The name is not of lower-case letters, digits and single inner hyphens");
    if (name.length > 64) warnings.push("The name is longer than 64 characters");
    if (folder !== undefined && name !== folder) warnings.push(`The name differs from the folder's, ${folder}`);
  }
  const metadata = toMetadata(fields.metadata);
  if (metadata === null && fields.metadata !== undefined && fields.metadata !== null)
    warnings.push("The metadata is not a list of names with a text each");
  return {
    name: name === null || name.trim() === "" ? null : name.trim(),
    description: description.trim(),
    license: toWords(fields.license),
    compatibility: toWords(fields.compatibility),
    allowedTools: toTools(fields["allowed-tools"]),
    metadata,
    lenient: false,
    fields,
    warnings,
  };
}

/** `Bash(git log:*), Read` or a list; blanks inside brackets belong to the name. */
function toTools(value: unknown): string[] | null {
  if (value === undefined || value === null) return null;
  const texts = Array.isArray(value) ? value.map(toWords) : [toWords(value)];
  const names = texts.flatMap((text) => (text ?? "").match(/(?:\([^)]*\)|[^\s,(])+/g) ?? []);
  return [...new Set(names)];
}

/** A value that is not a text is read as it was meant (`version: 1.0` is a version), a list or a map is not. */
function toMetadata(value: unknown): Record<string, string> | null {
  if (!isRecord(value)) return null;
  const texts = Object.entries(value).map(([name, one]) => [name, toWords(one)] as const);
  return texts.every(([, text]) => text !== null)
    ? Object.fromEntries(texts.map(([name, text]) => [name, text ?? ""]))
    : null;
}

/** Scalars as they were meant: `name: 2048` is a name. */
const toWords = (value: unknown): string | null =>
  typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : null;

/** Index of the line that goes over a limit. */
function tooLong(lines: readonly string[]): number | undefined {
  let bytes = 0;
  let parts = 0;
  const index = lines.findIndex((line, i) => {
    bytes += Buffer.byteLength(line) + 1;
    parts += line.match(/[,:?[\]{}]|- /g)?.length ?? 0;
    return bytes > MAX_BYTES || i >= MAX_LINES || parts > MAX_PARTS;
  });
  return index < 0 ? undefined : index;
}

/**
 * Index of the first line whose brackets, hyphens or indentation nest too deep: the library recurses. Counts more than is there (quoted
 * brackets), never less.
 */
function tooDeep(lines: readonly string[]): number | undefined {
  let open = 0;
  const index = lines.findIndex((line) => {
    for (const char of line) {
      if (char === "[" || char === "{") open++;
      else if (char === "]" || char === "}") open = Math.max(0, open - 1);
    }
    const indicators = /^(\s*[-?:] )*/.exec(line)?.[0].match(/[-?:]/g)?.length ?? 0;
    const indent = (/^ */.exec(line)?.[0].length ?? 0) / 2;
    return open > MAX_DEPTH || indicators > MAX_DEPTH || indent > MAX_DEPTH * 2;
  });
  return index < 0 ? undefined : index;
}
