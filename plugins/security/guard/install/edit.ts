/** Adds the guard's entry to a list of hooks and removes it. */
import { isDeepStrictEqual } from "node:util";
import { isRecord, type Json, type JsonRecord } from "sessarc";
import {
  applyEdit,
  editSettings,
  parseSettings,
  type SettingsEdit,
  type SettingsSyntax,
  settingAt,
  usable,
} from "sessarc/files";
import { hookIn, isWaitingHook } from "./hook-command.ts";

/** What an edit has to know of a file; as data, so that the hook can be removed when its adapter is gone. */
export interface HookForm {
  format: "json" | "jsonc" | "toml";
  /** Every list that may have an entry of the guard, each once. */
  lists: string[][];
  /** Required fields of the root. */
  root: { [key: string]: Json };
}

interface Edited {
  text: string;
  /** Containers that the edit created, outermost first. Removing the entry removes them if they are empty. */
  made: string[][];
}

/** Parses the settings as the assistant does. Throws SETTINGS_UNUSABLE with the place of a syntax error. */
export const readHooks = (text: string, { format }: Pick<HookForm, "format">, path: string): Promise<JsonRecord> =>
  usable(path, () => parseSettings(text, toSyntax(format)));

/** The hooks of the guard: one in its list, and those that report waiting, in other lists or in the same. */
export interface Wanted {
  list: readonly string[];
  entry: Json;
}

/** Appends the entries to their lists, removes earlier entries of the guard, and the containers of `known` that are then empty. */
export async function addEntries(
  before: string,
  form: HookForm,
  wanted: readonly Wanted[],
  known: readonly string[][],
  path: string,
): Promise<Edited> {
  const start = before.trim() === "" && form.format !== "toml" ? "{}\n" : before;
  const settings = await readHooks(start, form, path);
  const changed = form.lists.flatMap((list) => {
    const entries = wanted.filter((one) => isDeepStrictEqual(one.list, list)).map(({ entry }) => entry);
    // Some assistants identify a hook by its position, so equal entries are not moved.
    return isDeepStrictEqual(oursIn(settings, list), entries) ? [] : [{ list, entries }];
  });
  if (changed.length === 0) return { text: before, made: [...known] };
  const roots = Object.entries(form.root).filter(([key]) => settings[key] === undefined);
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
  const made = [...known, ...roots.map(([key]) => [key]).reverse(), ...missing];
  const rest = structuredClone(settings);
  const emptied = await usable(path, async () => {
    for (const edit of edits) applyEdit(rest, edit);
    return removeEmpty(rest, made, {});
  });
  const text = await usable(path, () => editSettings(start, toSyntax(form.format), [...edits, ...emptied]));
  return { text, made: made.filter((container) => settingAt(rest, container) !== undefined) };
}

/** Removes from the parsed settings the containers that were made and are empty, and fields of `root`. Returns the edits. */
function removeEmpty(rest: JsonRecord, made: readonly string[][], root: HookForm["root"]): SettingsEdit[] {
  const edits: SettingsEdit[] = [];
  for (const container of [...made].reverse()) {
    const value = settingAt(rest, container);
    if (value === undefined) continue;
    const isOwnField = container.length === 1 && root[container[0] ?? ""] === value;
    const isEmpty = typeof value === "object" && value !== null && Object.keys(value).length === 0;
    if (!isOwnField && !isEmpty) continue;
    const edit: SettingsEdit = { kind: "remove", path: container };
    applyEdit(rest, edit);
    edits.push(edit);
  }
  return edits;
}

/** Removes the guard's entries, and the containers of `made` that are then empty. */
export async function removeOurs(
  before: string,
  form: HookForm,
  made: readonly string[][],
  path: string,
): Promise<string> {
  const settings = await readHooks(before, form, path);
  const edits = form.lists.flatMap((list) => removals(settings, list));
  const rest = structuredClone(settings);
  for (const edit of edits) applyEdit(rest, edit);
  edits.push(...removeEmpty(rest, made, form.root));
  return edits.length === 0 ? before : usable(path, () => editSettings(before, toSyntax(form.format), edits));
}

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
const toSyntax = (format: HookForm["format"]): SettingsSyntax => (format === "jsonc" ? "commented" : format);
