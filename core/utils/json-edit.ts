/** Edits of JSON text that touch nothing but what is added or taken out: every other byte stays, however it is formatted. */
import * as jsonc from "jsonc-parser";
import type { Json } from "./json.ts";

type Path = readonly (string | number)[];

/** `value` at the end of the object or list at `path`; `key` for an object. Where there is none, nothing happens. */
export function append(text: string, path: Path, key: string | undefined, value: Json): string {
  const root = jsonc.parseTree(text);
  const node = root && jsonc.findNodeAtLocation(root, [...path]);
  if (!node?.children) return text;
  const style = styleOf(text);
  const close = node.offset + node.length - 1;
  const inside = text.slice(node.offset + 1, close);
  const last = node.children.at(-1);
  const isOpen = last ? inside.includes("\n") : text.includes("\n") || node.parent === undefined;
  const own = indentAt(text, node.offset);
  const inner = last && isOpen ? indentAt(text, last.offset) : own + style.indent;
  const name = key === undefined ? "" : JSON.stringify(key) + (isOpen || style.spaced ? ": " : ":");
  if (!isOpen) {
    const item = name + (style.spaced ? spaced(value) : JSON.stringify(value));
    const at = last ? last.offset + last.length : close;
    return splice(text, at, at, last ? (style.spaced ? ", " : ",") + item : item);
  }
  const item = style.eol + inner + name + JSON.stringify(value, null, style.indent).replaceAll("\n", style.eol + inner);
  // Behind a comment that may follow the last value, before the line of the closing bracket.
  const end = node.offset + 1 + inside.trimEnd().length;
  // First the later place: the earlier one must not move.
  if (last) {
    const comma = last.offset + last.length;
    return splice(splice(text, end, end, item), comma, comma, ",");
  }
  return splice(text, end, close, item + style.eol + own);
}

/** Without the value at `path`, its comma and its line; an object or list that is empty then holds nothing at all. */
export function remove(text: string, path: Path): string {
  const root = jsonc.parseTree(text);
  const value = root && jsonc.findNodeAtLocation(root, [...path]);
  const node = value?.parent?.type === "property" ? value.parent : value;
  const parent = node?.parent;
  const siblings = parent?.children;
  if (!node || !parent || !siblings) return text;
  const end = node.offset + node.length;
  const [start, close] = [parent.offset + 1, parent.offset + parent.length - 1];
  const from = start + text.slice(start, node.offset).trimEnd().length;
  if (siblings.at(-1) !== node) return splice(text, from, commaFrom(text, end) + 1, "");
  const before = siblings.at(-2);
  if (before) {
    const comma = commaFrom(text, before.offset + before.length);
    return splice(splice(text, from, end, ""), comma, comma + 1, "");
  }
  const rest = text.slice(start, from) + text.slice(end, close);
  return rest.trim() === "" ? splice(text, start, close, "") : splice(text, from, end, "");
}

function commaFrom(text: string, offset: number): number {
  const scanner = jsonc.createScanner(text);
  scanner.setPosition(offset);
  for (let token = scanner.scan(); token !== jsonc.SyntaxKind.CommaToken; token = scanner.scan())
    if (token === jsonc.SyntaxKind.EOF) break;
  return scanner.getTokenOffset();
}

interface Style {
  eol: string;
  indent: string;
  /** A blank behind colons and commas. */
  spaced: boolean;
}

function styleOf(text: string): Style {
  return {
    eol: text.includes("\r\n") ? "\r\n" : "\n",
    indent: /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ",
    spaced: /"\s*:\s/.test(text),
  };
}

/** On one line, as people write it. */
function spaced(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  const fields = Object.entries(value).map(([key, field]) => `${JSON.stringify(key)}: ${spaced(field)}`);
  return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
}

/** The blanks that begin the line of `offset`. */
function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? "";
}

const splice = (text: string, start: number, end: number, by: string) => text.slice(0, start) + by + text.slice(end);
