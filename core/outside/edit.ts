/** The smallest edits of other programs' settings. Everything else stays byte for byte, and that is checked on the values. */
import { isDeepStrictEqual } from "node:util";
import { isRecord, type Json, type JsonRecord } from "../utils/json.ts";
import { parseSettings, SettingsProblem, type SettingsSyntax } from "./parse.ts";
import { appendEntry, appendTable, keepComments, removeEntry, removeTable, setField } from "./toml-text.ts";

type SettingsPath = readonly (string | number)[];

/** One edit of settings. A path holds names of objects and indexes of lists. */
export type SettingsEdit =
  | { kind: "remove"; path: SettingsPath }
  /** Into the object at `path`, instead of what has that name there. */
  | { kind: "set"; path: readonly string[]; key: string; value: Json }
  /** To the end of the list at `path`; objects on the way to it, and the list, are made where they are missing. */
  | { kind: "append"; path: readonly string[]; value: Json };

/** Applies the edits one after another. Throws SettingsProblem when it cannot be done without touching something else. */
export async function editSettings(
  text: string,
  syntax: SettingsSyntax,
  edits: readonly SettingsEdit[],
): Promise<string> {
  const wanted = structuredClone(await parseSettings(text, syntax));
  for (const edit of edits) applyEdit(wanted, edit);
  const edited = syntax === "toml" ? await editToml(text, edits, wanted) : await editJson(text, edits);
  const found = await parseSettings(edited, syntax).catch(() => undefined);
  if (!isDeepStrictEqual(found, wanted))
    throw new SettingsProblem("it cannot be edited without touching something else");
  return edited;
}

/** Undefined when the key is missing; never an inherited value. */
export function settingAt(value: unknown, path: SettingsPath): unknown {
  return path.reduce<unknown>((at, key) => {
    if (typeof key === "number") return Array.isArray(at) ? at[key] : undefined;
    return isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }, value);
}

/** Makes an edit in parsed settings, in place, as `editSettings` makes it in their text. */
export function applyEdit(settings: JsonRecord, edit: SettingsEdit): void {
  if (edit.kind === "append") {
    const list = listAt(settings, edit.path);
    list.push(edit.value);
    return;
  }
  const holder = settingAt(settings, edit.kind === "remove" ? edit.path.slice(0, -1) : edit.path);
  if (edit.kind === "set") {
    if (isRecord(holder)) holder[edit.key] = edit.value;
    return;
  }
  const key = edit.path.at(-1) ?? "";
  if (Array.isArray(holder) && typeof key === "number") holder.splice(key, 1);
  else if (isRecord(holder)) delete holder[key];
}

function listAt(settings: JsonRecord, path: readonly string[]): unknown[] {
  let at = settings;
  for (const [depth, key] of path.entries()) {
    const isLast = depth === path.length - 1;
    const next = settingAt(at, [key]) ?? (isLast ? [] : {});
    if (isLast ? !Array.isArray(next) : !isRecord(next))
      throw new SettingsProblem(`"${path.slice(0, depth + 1).join(".")}" is no ${isLast ? "list" : "object"}`);
    at[key] = next;
    if (Array.isArray(next)) return next;
    at = next as JsonRecord;
  }
  throw new SettingsProblem("it is no list");
}

async function editJson(text: string, edits: readonly SettingsEdit[]): Promise<string> {
  const { append, remove, replace } = await import("./json-text.ts");
  const { findNodeAtLocation, parseTree } = await import("jsonc-parser");
  return edits.reduce((at, edit) => {
    if (edit.kind === "remove") return remove(at, edit.path);
    const tree = parseTree(at);
    const has = (path: SettingsPath) =>
      path.length === 0 || (tree && findNodeAtLocation(tree, [...path])) !== undefined;
    if (edit.kind === "set") {
      const path = [...edit.path, edit.key];
      return has(path) ? replace(at, path, edit.value) : append(at, edit.path, edit.key, edit.value);
    }
    const { path, value } = edit;
    const there = path.findIndex((_, depth) => !has(path.slice(0, depth + 1)));
    if (there < 0) return append(at, path, undefined, value);
    const missing = path.slice(there + 1).reduceRight<Json>((inner, key) => ({ [key]: inner }), [value]);
    return append(at, path.slice(0, there), path[there], missing);
  }, text);
}

/** By text, where it is written as tables; else by the values, which the parser's own patch puts in. */
async function editToml(text: string, edits: readonly SettingsEdit[], wanted: JsonRecord): Promise<string> {
  let edited: string | undefined = text;
  for (const edit of edits) edited = edited === undefined ? undefined : await editTomlOnce(edited, edit);
  const found = edited === undefined ? undefined : await parseSettings(edited, "toml").catch(() => undefined);
  if (edited !== undefined && isDeepStrictEqual(found, wanted)) return edited;
  const { patch } = await import("@decimalturn/toml-patch");
  return keepComments(text, patch(text, wanted));
}

async function editTomlOnce(text: string, edit: SettingsEdit): Promise<string | undefined> {
  if (edit.kind === "append") return appendEntry(text, edit.path, edit.value);
  if (edit.kind === "remove") {
    const settings = await parseSettings(text, "toml").catch(() => undefined);
    if (!settings) return undefined;
    const value = settingAt(settings, edit.path);
    // Tables that held nothing else went with it.
    if (value === undefined) return text;
    const names = edit.path.filter((key) => typeof key === "string");
    if (names.length === edit.path.length) return removeTable(text, names);
    const isEntry = names.length === edit.path.length - 1 && typeof edit.path.at(-1) === "number";
    return isEntry ? removeEntry(text, names, value as Json) : undefined;
  }
  const { path, key, value } = edit;
  if (!isRecord(value)) return setField(text, path, key, value);
  return appendTable(removeTable(text, [...path, key]) ?? text, [...path, key], value);
}
