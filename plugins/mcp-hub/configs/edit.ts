/** One file's edits: what goes, what is switched off, what leads to the hub. Everything else stays byte for byte, and that is checked. */
import { isDeepStrictEqual } from "node:util";
import { isRecord, type Json, type JsonRecord, keepTomlComments, loadJsonEdits } from "sessarc";
import { ConfigError, parseConfig, type Syntax } from "./document.ts";
import { appendTable, removeTable, setField } from "./toml-edit.ts";

export type Path = readonly string[];

export type ConfigEdit =
  | { kind: "remove"; path: Path }
  /** Into the object at `path`, instead of what has that name there. */
  | { kind: "set"; path: Path; key: string; value: Json };

/** Throws ConfigError when it cannot be done without touching something else. */
export async function editConfig(text: string, syntax: Syntax, edits: readonly ConfigEdit[]): Promise<string> {
  const config = await parseConfig(text, syntax);
  const wanted = edits.reduce<JsonRecord>((at, edit) => valueAfter(at, edit), structuredClone(config));
  const edited = syntax === "toml" ? await editToml(text, edits, wanted) : await editJson(text, edits);
  const found = await parseConfig(edited, syntax).catch(() => undefined);
  if (!isDeepStrictEqual(found, wanted)) throw new ConfigError("it cannot be edited without touching something else");
  return edited;
}

function valueAfter(config: JsonRecord, edit: ConfigEdit): JsonRecord {
  const container = edit.kind === "remove" ? edit.path.slice(0, -1) : edit.path;
  const key = edit.kind === "remove" ? (edit.path.at(-1) ?? "") : edit.key;
  const holder = valueAt(config, container);
  if (!isRecord(holder)) return config;
  if (edit.kind === "remove") delete holder[key];
  else holder[key] = edit.value;
  return config;
}

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, key) => (isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined), value);
}

async function editJson(text: string, edits: readonly ConfigEdit[]): Promise<string> {
  const { append, remove, replace } = await loadJsonEdits();
  const { findNodeAtLocation, parseTree } = await import("jsonc-parser");
  return edits.reduce((at, edit) => {
    if (edit.kind === "remove") return remove(at, edit.path);
    const tree = parseTree(at);
    const there = tree && findNodeAtLocation(tree, [...edit.path, edit.key]);
    return there ? replace(at, [...edit.path, edit.key], edit.value) : append(at, edit.path, edit.key, edit.value);
  }, text);
}

/** By text, where it is written as tables; else by the values, which the parser's own patch puts in. */
async function editToml(text: string, edits: readonly ConfigEdit[], wanted: JsonRecord): Promise<string> {
  const edited = edits.reduce<string | undefined>((at, edit) => at && editTomlOnce(at, edit), text);
  const found = edited === undefined ? undefined : await parseConfig(edited, "toml").catch(() => undefined);
  if (edited !== undefined && isDeepStrictEqual(found, wanted)) return edited;
  const { patch } = await import("@decimalturn/toml-patch");
  return keepTomlComments(text, patch(text, wanted));
}

const isTable = (value: Json): value is { [key: string]: Json } => isRecord(value);

function editTomlOnce(text: string, edit: ConfigEdit): string | undefined {
  if (edit.kind === "remove") return removeTable(text, edit.path);
  const { path, key, value } = edit;
  if (!isTable(value)) return setField(text, path, key, value);
  return appendTable(removeTable(text, [...path, key]) ?? text, [...path, key], value);
}
