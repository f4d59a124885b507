/** Edits of TOML text that touch nothing but what is taken out or put in; comments that are not inside of it stay. */
import { isRecord, type Json } from "../utils/json.ts";
import { type TomlBlock, tomlBlocks } from "./toml-blocks.ts";

type Table = { [key: string]: Json };
type Path = readonly string[];

/** Without the table at `path` and all below it. Undefined where it is written in a way this cannot take apart. */
export function removeTable(text: string, path: Path): string | undefined {
  const blocks = tomlBlocks(text);
  if (!blocks) return undefined;
  const cuts = blocks.flatMap((block) =>
    isBelow(block.path, path)
      ? [{ start: block.start, end: endWithBlanks(text, block) }]
      : block.settings.filter((setting) => isBelow(setting.path, path)).map(({ start, end }) => ({ start, end })),
  );
  if (cuts.length === 0) return undefined;
  return cuts.reverse().reduce((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text);
}

/** With a field of the table at `path` set. Undefined as above. */
export function setField(text: string, path: Path, key: string, value: Json): string | undefined {
  const blocks = tomlBlocks(text);
  const wanted = [...path, key];
  const all = blocks?.flatMap(({ settings }) => settings) ?? [];
  const known = all.find((setting) => isBelow(setting.path, wanted) && setting.path.length === wanted.length);
  if (known) return text.slice(0, known.value.start) + literal(value) + text.slice(known.value.end);
  const block = blocks?.find((one) => one.path.length === path.length && isBelow(one.path, path));
  if (!block) return undefined;
  const eol = toEol(text);
  const at = lineBehindHeader(text, block);
  const gap = text.slice(0, at).endsWith("\n") ? "" : eol;
  return `${text.slice(0, at)}${gap}${key} = ${literal(value)}${eol}${text.slice(at)}`;
}

/** With a table at the end. */
export function appendTable(text: string, path: Path, table: Table): string {
  const eol = toEol(text);
  const fields = Object.entries(table).map(([key, value]) => `${toKey(key)} = ${literal(value)}`);
  const block = [`[${path.map(toKey).join(".")}]`, ...fields, ""].join(eol);
  const isSpaced = text === "" || /(^|\n)[ \t]*\r?\n$/.test(text);
  return text + (isSpaced ? "" : text.endsWith("\n") ? eol : eol + eol) + block;
}

/** Appends an entry to the list of tables at `path` and changes nothing else. Undefined when the value is not a table. */
export function appendEntry(text: string, path: Path, value: Json): string | undefined {
  if (!isTable(value)) return undefined;
  const eol = toEol(text);
  const gap = text === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
  return `${text}${gap}${entryText(path, value).replaceAll("\n", eol)}${eol}`;
}

/** Without an entry of the list of tables at `path`, where it stands as `appendEntry` writes it. */
export function removeEntry(text: string, path: Path, value: Json): string | undefined {
  const eol = toEol(text);
  const own = isTable(value) && `${eol}${entryText(path, value).replaceAll("\n", eol)}${eol}`;
  return own && text.includes(own) ? text.replace(own, () => "") : undefined;
}

/** Its own fields, then an entry for each table of the lists in it. */
function entryText(path: Path, table: Table): string {
  const fields = Object.entries(table);
  const isList = (value: Json): value is Table[] => Array.isArray(value) && value.length > 0 && value.every(isTable);
  const own = fields.flatMap(([key, value]) => (isList(value) ? [] : [`${toKey(key)} = ${literal(value)}`]));
  const lists = fields.flatMap(([key, value]) =>
    isList(value) ? value.map((one) => `\n${entryText([...path, key], one)}`) : [],
  );
  return [`[[${path.map(toKey).join(".")}]]`, ...own, ...lists].join("\n");
}

/**
 * The parser's `patch` forgets a comment behind an empty array: each is put back after its line. `text`: before;
 * `patched`: what the parser made of it.
 */
export function keepComments(text: string, patched: string): string {
  const lines = patched.split("\n");
  for (const line of text.split("\n")) {
    const code = /^(.*?\[\s*\])\s*#/.exec(line)?.[1];
    if (code === undefined || lines.includes(line)) continue;
    const at = lines.findIndex((one) => one.trimEnd() === code);
    if (at >= 0) lines[at] = line;
  }
  return lines.join("\n");
}

const isTable = (value: Json): value is Table => isRecord(value);
const isBelow = (path: Path, root: Path) => root.every((key, i) => path[i] === key);
const toEol = (text: string) => (text.includes("\r\n") ? "\r\n" : "\n");
const toKey = (key: string) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key));

/** Texts, numbers and switches of JSON are TOML's too, but for the sign 0x7F. */
function literal(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "object" && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, one]) => `${toKey(key)} = ${literal(one)}`)
      .join(", ")} }`;
  return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
}

function lineBehindHeader(text: string, block: TomlBlock): number {
  const end = text.indexOf("\n", block.start);
  return end < 0 ? text.length : end + 1;
}

/** The block with the blank lines up to the next comment or header, where there are some before it as well. */
function endWithBlanks(text: string, block: TomlBlock): number {
  if (!/(^|\n)[ \t]*\r?\n$/.test(text.slice(0, block.start)) && block.start > 0) return block.end;
  const blanks = /([ \t]*\r?\n)*/y;
  blanks.lastIndex = block.end;
  blanks.exec(text);
  return Math.max(block.end, blanks.lastIndex);
}
