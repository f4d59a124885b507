/** Edits of JSON text that touch nothing but what is added or taken out: every other byte stays, however it is formatted. */
import * as jsonc from "jsonc-parser";
import type { Json } from "../utils/json.ts";

type Path = readonly (string | number)[];

/** `value` at the end of the object or list at `path`; `key` for an object. Without such an object or list nothing changes. */
export function append(text: string, path: Path, key: string | undefined, value: Json): string {
  const root = jsonc.parseTree(text);
  const node = root && jsonc.findNodeAtLocation(root, [...path]);
  if (!node?.children) return text;
  const style = toStyle(text);
  const close = node.offset + node.length - 1;
  const inside = text.slice(node.offset + 1, close);
  const last = node.children.at(-1);
  const isOpen = last ? inside.includes("\n") : text.includes("\n") || node.parent === undefined;
  const own = indentAt(text, node.offset);
  const inner = last && isOpen ? indentAt(text, last.offset) : own + style.indent;
  const name = key === undefined ? "" : JSON.stringify(key) + (isOpen || style.spaced ? ": " : ":");
  // If a comma already follows the last value, none is added.
  const trailing = last && commaAfter(text, last.offset + last.length);
  if (!isOpen) {
    const item = name + (style.spaced ? spaced(value) : JSON.stringify(value));
    if (trailing !== undefined) return splice(text, trailing + 1, trailing + 1, (style.spaced ? " " : "") + item);
    const at = last ? last.offset + last.length : close;
    return splice(text, at, at, last ? (style.spaced ? ", " : ",") + item : item);
  }
  const item = style.eol + inner + name + JSON.stringify(value, null, style.indent).replaceAll("\n", style.eol + inner);
  // Behind a comment that may follow the last value, before the line of the closing bracket.
  const end = node.offset + 1 + inside.trimEnd().length;
  // First the later place: the earlier one must not move.
  if (trailing !== undefined) return splice(text, end, end, item);
  if (last) {
    const comma = last.offset + last.length;
    return splice(splice(text, end, end, item), comma, comma, ",");
  }
  return splice(text, end, close, item + style.eol + own);
}

/** Another value at `path`, where one stands. */
export function replace(text: string, path: Path, value: Json): string {
  const root = jsonc.parseTree(text);
  const node = root && jsonc.findNodeAtLocation(root, [...path]);
  if (!node) return text;
  const style = toStyle(text);
  const isOpen = node.type === "object" && text.slice(node.offset, node.offset + node.length).includes("\n");
  const inner = style.eol + indentAt(text, node.offset);
  const item = isOpen
    ? JSON.stringify(value, null, style.indent).replaceAll("\n", inner)
    : style.spaced
      ? spaced(value)
      : JSON.stringify(value);
  return splice(text, node.offset, node.offset + node.length, item);
}

/** Without the value at `path`, its comma and its line; an object or list that is empty then holds nothing at all. */
export function remove(text: string, path: Path): string {
  const root = jsonc.parseTree(text);
  const value = root && jsonc.findNodeAtLocation(root, [...path]);
  const node = value?.parent?.type === "property" ? value.parent : value;
  const parent = node?.parent;
  const siblings = parent?.children;
  if (!node || !parent || !siblings) return text;
  const [start, close] = [parent.offset + 1, parent.offset + parent.length - 1];
  const end = node.offset + node.length;
  const comma = commaAfter(text, end);
  // Without its comma; a comment between the two stays.
  const behind = comma === undefined ? text.slice(end) : text.slice(end, comma) + text.slice(comma + 1);
  const inside = behind.length - (text.length - close);
  if (siblings.length === 1 && (text.slice(start, node.offset) + behind.slice(0, inside)).trim() === "")
    return text.slice(0, start) + behind.slice(inside);
  const from = startOf(text, start, node.offset, behind);
  const before = siblings.at(-2);
  if (comma !== undefined || !before) return text.slice(0, from) + behind;
  // The last of several, without a comma behind it: the one before it goes.
  const former = commaAfter(text, before.offset + before.length) ?? from;
  return text.slice(0, former) + text.slice(former + 1, from) + behind;
}

/** The end of the text before a value; its own beginning where a comment up to the line's end would swallow what follows. */
function startOf(text: string, start: number, offset: number, behind: string): number {
  const from = start + text.slice(start, offset).trimEnd().length;
  return /^[ \t]*[^\s]/.test(behind) && /[\r\n]/.test(text.slice(from, offset)) ? offset : from;
}

/** Where the comma behind a value stands, comments skipped. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = jsonc.createScanner(text, true);
  scanner.setPosition(offset);
  return scanner.scan() === jsonc.SyntaxKind.CommaToken ? scanner.getTokenOffset() : undefined;
}

interface Style {
  eol: string;
  indent: string;
  /** A blank behind colons and commas. */
  spaced: boolean;
}

function toStyle(text: string): Style {
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
