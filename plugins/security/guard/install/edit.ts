/** Adds the guard's entry to a list of hooks and removes it. */
import { isDeepStrictEqual } from "node:util";
import { isRecord, type Json, type JsonRecord, SessarcError } from "sessarc";
import {
  applyEdit,
  editSettings,
  parseSettings,
  type SettingsEdit,
  SettingsProblem,
  type SettingsSyntax,
  settingAt,
} from "sessarc/files";
import { hookIn, isWaitingHook } from "./hook-command.ts";
import type { HookTool } from "./hooks.ts";

interface Edited {
  text: string;
  /** Containers that the edit created, outermost first. Removing the entry removes them if they are empty. */
  made: string[][];
}

/** Parses the settings as the assistant does. Throws SETTINGS_UNUSABLE with the place of a syntax error. */
export const readHooks = (text: string, tool: Pick<HookTool, "format">, path: string): Promise<JsonRecord> =>
  usable(path, () => parseSettings(text, syntaxOf(tool)));

/** The hooks of the guard: one in its list, and those that report waiting, in other lists or in the same. */
export interface Wanted {
  list: readonly string[];
  entry: Json;
}

/** Appends the entries to their lists, and removes earlier entries of the guard. */
export async function addEntries(
  before: string,
  tool: HookTool,
  wanted: readonly Wanted[],
  path: string,
): Promise<Edited> {
  const start = before.trim() === "" && tool.format !== "toml" ? "{}\n" : before;
  const settings = await readHooks(start, tool, path);
  const changed = listsOf(tool).flatMap((list) => {
    const entries = wanted.filter((one) => isDeepStrictEqual(one.list, list)).map(({ entry }) => entry);
    // Some assistants identify a hook by its position, so equal entries are not moved.
    return isDeepStrictEqual(oursIn(settings, list), entries) ? [] : [{ list, entries }];
  });
  if (changed.length === 0) return { text: before, made: [] };
  const roots = Object.entries(tool.root ?? {}).filter(([key]) => settings[key] === undefined);
  const added = changed.flatMap(({ list, entries }) => entries.map((entry) => ({ list, entry })));
  const containers = added.flatMap(({ list }) => list.map((_, depth) => list.slice(0, depth + 1)));
  const missing = [...new Map(containers.map((container) => [container.join("\0"), container])).values()].filter(
    (container) => settingAt(settings, container) === undefined,
  );
  const edits: SettingsEdit[] = [
    ...changed.flatMap(({ list }) => removals(settings, list)),
    ...roots.map(([key, value]) => ({ kind: "set", path: [], key, value }) as const),
    ...added.map(({ list, entry }) => ({ kind: "append", path: list, value: entry }) as const),
  ];
  const text = await usable(path, () => editSettings(start, syntaxOf(tool), edits));
  return { text, made: [...roots.map(([key]) => [key]).reverse(), ...missing] };
}

/** Removes the guard's entries, and the containers of `made` that are then empty. */
export async function removeOurs(
  before: string,
  tool: HookTool,
  made: readonly string[][],
  path: string,
): Promise<string> {
  const settings = await readHooks(before, tool, path);
  const edits = listsOf(tool).flatMap((list) => removals(settings, list));
  const rest = structuredClone(settings);
  for (const edit of edits) applyEdit(rest, edit);
  for (const container of [...made].reverse()) {
    const value = settingAt(rest, container);
    const isOwnField = container.length === 1 && tool.root?.[container[0] ?? ""] === value;
    const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
    if (!isOwnField && !isEmpty) continue;
    const edit: SettingsEdit = { kind: "remove", path: container };
    applyEdit(rest, edit);
    edits.push(edit);
  }
  return edits.length === 0 ? before : usable(path, () => editSettings(before, syntaxOf(tool), edits));
}

/** Every list that may have an entry of the guard, each once. */
const listsOf = (tool: HookTool): (readonly string[])[] => [
  ...new Map(
    [tool.list, ...(tool.waiting ?? []).map(({ list }) => list)].map((list) => [list.join("\0"), list]),
  ).values(),
];

const isOurs = (item: unknown): boolean => hookIn(item) !== undefined || isWaitingHook(item);

function oursIn(settings: JsonRecord, path: readonly string[]): unknown[] {
  const there = settingAt(settings, path);
  return Array.isArray(there) ? there.filter(isOurs) : [];
}

/** In an entry with other hooks, removes only the guard's. Removes from the end so that earlier positions are unchanged. */
function removals(settings: JsonRecord, path: readonly string[]): SettingsEdit[] {
  const list = settingAt(settings, path);
  const found = Array.isArray(list) ? list.map((item, index) => ({ item, index })).reverse() : [];
  return found.flatMap(({ item, index }): SettingsEdit[] => {
    if (!isOurs(item)) return [];
    const at = [...path, index];
    const inner: unknown[] = isRecord(item) && Array.isArray(item.hooks) ? item.hooks : [];
    if (inner.every(isOurs)) return [{ kind: "remove", path: at }];
    const ours = inner.flatMap((hook, i) => (isOurs(hook) ? [i] : [])).reverse();
    return ours.map((i) => ({ kind: "remove", path: [...at, "hooks", i] }));
  });
}

/** These assistants allow comments but no trailing commas. */
const syntaxOf = ({ format }: Pick<HookTool, "format">): SettingsSyntax =>
  format === "toml" ? "toml" : format === "jsonc" ? "commented" : "json";

async function usable<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SettingsProblem) throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: error.message });
    throw error;
  }
}
