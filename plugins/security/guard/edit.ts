/** The smallest edits of settings: one entry into a list, or out of it. Everything else stays byte for byte. */
import { isDeepStrictEqual } from "node:util";
import * as jsonc from "jsonc-parser";
import { isRecord, type Json, loadJsonEdits, SessarcError } from "sessarc";
import { hookIn } from "./hook-command.ts";
import type { HookTool } from "./hooks.ts";
import { appendToml, parseToml, removeToml, tomlEntry } from "./toml.ts";

export type Settings = { [key: string]: Json };

export interface Edited {
  text: string;
  /** Containers that were not there before, outermost first: a removal takes them along when they are empty. */
  made: string[][];
}

/** The settings as the tool reads them. Throws SETTINGS_UNUSABLE with the place for anything it would not read. */
export function parseSettings(text: string, tool: Pick<HookTool, "format">, path: string): Settings {
  if (text.trim() === "") return {};
  if (tool.format === "toml") return parseToml(text, path);
  const problems: jsonc.ParseError[] = [];
  const value: unknown =
    tool.format === "jsonc"
      ? jsonc.parse(text, problems, { allowTrailingComma: false, disallowComments: false })
      : jsonc.parse(text, problems, { allowTrailingComma: false, disallowComments: true });
  const [problem] = problems;
  if (problem) {
    const line = text.slice(0, problem.offset).split("\n").length;
    const what = jsonc.printParseErrorCode(problem.error);
    const comment = what === "InvalidCommentToken" ? " (comments make the tool drop the whole file)" : "";
    throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: `line ${line} does not parse: ${what}${comment}` });
  }
  if (!isRecord(value)) throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: "it holds no object" });
  return value as Settings;
}

/** The entry at the end of the tool's list, instead of entries of ours that are there. */
export async function addEntry(before: string, tool: HookTool, entry: Json, path: string): Promise<Edited> {
  const { append } = await loadJsonEdits();
  const start = before.trim() === "" && tool.format !== "toml" ? "{}\n" : before;
  const settings = parseSettings(start, tool, path);
  const there = valueAt(settings, tool.list);
  const ours = Array.isArray(there) ? there.filter((item) => hookIn(item)) : [];
  // Left where it is: some tools know a hook by its place.
  if (ours.length === 1 && isDeepStrictEqual(ours[0], entry)) return { text: before, made: [] };
  let text = await removeOurs(start, tool, [], path);
  const made: string[][] = [];
  let at: Json | undefined = parseSettings(text, tool, path);
  for (let depth = 0; depth < tool.list.length; depth++) {
    const key = tool.list[depth] as string;
    const last = depth === tool.list.length - 1;
    const next: Json | undefined = isRecord(at) ? ((at as Settings)[key] as Json | undefined) : undefined;
    if (next === undefined) {
      for (let from = depth; from < tool.list.length; from++) made.push(tool.list.slice(0, from + 1));
      break;
    }
    if (last ? !Array.isArray(next) : !isRecord(next))
      throw new SessarcError("SETTINGS_UNUSABLE", {
        path,
        reason: `"${tool.list.slice(0, depth + 1).join(".")}" is no ${last ? "list" : "object"}`,
      });
    at = next;
  }
  if (tool.format === "toml") {
    const expected = expectAdded(settings, tool, entry);
    text = appendToml(text, tomlEntry(tool.list, entry));
    verify(parseSettings(text, tool, path), expected, path);
    return { text, made };
  }
  for (const [key, value] of Object.entries(tool.root ?? {})) {
    if (settings[key] !== undefined) continue;
    text = append(text, [], key, value);
    made.unshift([key]);
  }
  const known = tool.list.findIndex((_, depth) => valueAt(settings, tool.list.slice(0, depth + 1)) === undefined);
  if (known < 0) text = append(text, tool.list, undefined, entry);
  else {
    const missing = tool.list.slice(known + 1).reduceRight<Json>((value, key) => ({ [key]: value }), [entry]);
    text = append(text, tool.list.slice(0, known), tool.list[known], missing);
  }
  const expected = expectAdded(settings, tool, entry);
  verify(parseSettings(text, tool, path), expected, path);
  return { text, made };
}

/** Without our entries, and without containers of `made` that are empty then. */
export async function removeOurs(
  before: string,
  tool: HookTool,
  made: readonly string[][],
  path: string,
): Promise<string> {
  const { remove } = await loadJsonEdits();
  const settings = parseSettings(before, tool, path);
  let text = before;
  if (tool.format === "toml") {
    const expected = expectRemoved(settings, tool, made);
    const ours = valueAt(settings, tool.list);
    const entry = Array.isArray(ours) ? ours.find((item) => hookIn(item)) : undefined;
    const block = entry === undefined ? undefined : tomlEntry(tool.list, entry);
    text = isDeepStrictEqual(settings, expected) ? before : removeToml(before, block, expected);
    verify(parseSettings(text, tool, path), expected, path);
    return text;
  }
  const list = valueAt(settings, tool.list);
  if (Array.isArray(list)) {
    for (let index = list.length - 1; index >= 0; index--) {
      const item = list[index] as Json;
      if (!hookIn(item)) continue;
      const inner = isRecord(item) ? item.hooks : undefined;
      if (Array.isArray(inner) && inner.some((hook) => !hookIn(hook))) {
        for (let i = inner.length - 1; i >= 0; i--)
          if (hookIn(inner[i])) text = remove(text, [...tool.list, index, "hooks", i]);
      } else text = remove(text, [...tool.list, index]);
    }
  }
  for (const container of [...made].reverse()) {
    const value = valueAt(parseSettings(text, tool, path), container);
    const isOwnField = container.length === 1 && tool.root?.[container[0] as string] === value;
    const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
    if (isEmpty || isOwnField) text = remove(text, container);
  }
  const expected = expectRemoved(settings, tool, made);
  verify(parseSettings(text, tool, path), expected, path);
  return text;
}

/** What the list must be afterwards, worked out on values and not on text. */
function expectRemoved(settings: Settings, tool: HookTool, made: readonly string[][]): Settings {
  const copy = structuredClone(settings);
  const list = valueAt(copy, tool.list);
  if (Array.isArray(list)) {
    const kept = list.flatMap((item) => {
      if (!hookIn(item)) return [item];
      const inner = isRecord(item) && Array.isArray(item.hooks) ? item.hooks.filter((hook) => !hookIn(hook)) : [];
      return inner.length > 0 ? [{ ...(item as Settings), hooks: inner }] : [];
    });
    list.splice(0, list.length, ...kept);
  }
  for (const container of [...made].reverse()) {
    const parent = valueAt(copy, container.slice(0, -1));
    const key = container.at(-1) as string;
    if (!isRecord(parent)) continue;
    const value = (parent as Settings)[key];
    const isOwnField = container.length === 1 && tool.root?.[key] === value;
    if (isOwnField || (typeof value === "object" && value !== null && Object.keys(value).length === 0))
      delete (parent as Settings)[key];
  }
  return copy;
}

function expectAdded(settings: Settings, tool: HookTool, entry: Json): Settings {
  const copy: Settings = { ...tool.root, ...expectRemoved(settings, tool, []) };
  let at = copy;
  for (const key of tool.list.slice(0, -1)) {
    at[key] ??= {};
    at = at[key] as Settings;
  }
  const key = tool.list.at(-1) as string;
  at[key] = [...((at[key] as Json[] | undefined) ?? []), entry];
  return copy;
}

/** A key that stands twice, or anything else an edit got wrong, shows here and stops it. */
function verify(found: Settings, expected: Settings, path: string): void {
  if (!isDeepStrictEqual(found, expected))
    throw new SessarcError("SETTINGS_UNUSABLE", {
      path,
      reason: "it cannot be edited without touching something else",
    });
}

function valueAt(value: Json | undefined, path: readonly string[]): Json | undefined {
  let at = value;
  for (const key of path) at = isRecord(at) ? ((at as Settings)[key] as Json | undefined) : undefined;
  return at;
}
