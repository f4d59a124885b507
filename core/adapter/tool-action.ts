/** What a tool call's arguments say, across assistants: what it does to files, or the command it runs. */
import type { ToolRole } from "../contract/adapter.ts";
import type { TextEdit, ToolAction } from "../contract/tool-action.ts";
import type { Json } from "../utils/json.ts";
import { isForAll, NAMES } from "./tool-call.ts";

type Arguments = { [key: string]: Json };

/**
 * What a call of a tool with this role does, read from its arguments by their usual names. Undefined for roles that change nothing
 * (read, search, fetch, todo, agent). A call that changes something in a way that its arguments do not show is `unknown`, with the reason.
 * Linear in the arguments.
 */
export function toolActions(role: ToolRole | undefined, input: Json | undefined): ToolAction[] | undefined {
  switch (role) {
    case "shell":
      return [toCommand(input)];
    case "patch":
      return toPatch(input);
    case "write":
    case "edit":
      return typeof input === "string" && isPatch(input) ? toPatch(input) : toEdits(input);
    case "delete":
      return toPaths(input).map((path) => ({ do: "delete", path }));
    case "move":
      return [toMove(input)];
    default:
      return undefined;
  }
}

function toCommand(input: Json | undefined): ToolAction {
  const args = toArguments(input);
  const command =
    typeof input === "string" ? input : NAMES.command.map((name) => args[name]).find((it) => it !== undefined);
  const cwd = first(args, NAMES.folder);
  const at = cwd === undefined ? {} : { cwd };
  const words = Array.isArray(command)
    ? command.flatMap((word) => (typeof word === "string" ? [word] : []))
    : undefined;
  const text = words ? shellText(words) : command;
  const patch = typeof text === "string" ? patchInCommand(text) : words?.[0] === "apply_patch" ? words[1] : undefined;
  if (patch !== undefined) return { do: "patch", text: patch };
  if (typeof text === "string" && text.trim() !== "") return { do: "command", command: text, ...at };
  if (words && words.length > 0) return { do: "command", command: words, ...at };
  return { do: "unknown", reason: "the log does not hold the command" };
}

/** The text of `bash -lc <text>`; undefined for any other program. */
function shellText(words: readonly string[]): string | undefined {
  const [program = "", flag = "", text] = words;
  const shell = /^(?:.*\/)?(?:ba|z|da|k)?sh$/.test(program) && /^-[a-z]*c$/.test(flag);
  return shell && words.length === 3 ? text : undefined;
}

const isPatch = (text: string) => /^\s*\*\*\* Begin Patch/.test(text);

/** Codex gives its patches to a program that only it has: `apply_patch <<'EOF' … EOF`. */
function patchInCommand(command: string): string | undefined {
  if (!/^\s*(?:cd\s+[^\s;&|]+\s*&&\s*)?apply_patch\b/.test(command)) return undefined;
  const start = command.indexOf("*** Begin Patch");
  const end = command.lastIndexOf("*** End Patch");
  return start < 0 || end < start ? undefined : `${command.slice(start, end)}*** End Patch`;
}

function toPatch(input: Json | undefined): ToolAction[] {
  const text = typeof input === "string" ? input : first(toArguments(input), NAMES.patch);
  return [text ? { do: "patch", text } : { do: "unknown", reason: "the log does not hold the patch" }];
}

function toEdits(input: Json | undefined): ToolAction[] {
  const args = toArguments(input);
  const path = toPaths(args)[0];
  // The text editor that models are trained with names its deed in `command`.
  if (args.command === "view") return [];
  const line = args.insert_line;
  if (typeof line === "number" && path !== undefined)
    return [{ do: "insert", path, line, text: first(args, NAMES.inserted) ?? "" }];
  if (args.new_source !== undefined)
    return [{ do: "unknown", reason: "cells of notebooks are not replayed", ...at(path) }];
  const list = NAMES.edits.map((name) => args[name]).find(Array.isArray);
  if (list) {
    const actions = list.map((item) => toEdit(item, path));
    return actions.length > 0 ? joined(actions) : [{ do: "unknown", reason: "the call names no edit", ...at(path) }];
  }
  const patch = first(args, NAMES.patch);
  if (patch !== undefined && isPatch(patch)) return [{ do: "patch", text: patch }];
  return [toEdit(args, path)];
}

function toEdit(value: Json, outer: string | undefined): ToolAction {
  const args = toArguments(value);
  const path = toPaths(args)[0] ?? outer;
  if (path === undefined) return { do: "unknown", reason: "the call names no file" };
  for (const [from, to] of NAMES.pairs) {
    const old = args[from];
    const next = args[to];
    if (typeof old !== "string" && typeof next !== "string") continue;
    if (typeof next !== "string" && next !== undefined) continue;
    const edit: TextEdit = {
      old: typeof old === "string" ? old : "",
      new: next ?? "",
      ...(isForAll(args) && { all: true }),
    };
    return { do: "edit", path, edits: [edit] };
  }
  const text = first(args, NAMES.content);
  if (text !== undefined) return { do: "write", path, text };
  return { do: "unknown", path, reason: "the log holds a sketch of the change, not its text" };
}

/** Neighbouring edits of one file are one action. */
function joined(actions: readonly ToolAction[]): ToolAction[] {
  const result: ToolAction[] = [];
  for (const action of actions) {
    const last = result.at(-1);
    if (action.do === "edit" && last?.do === "edit" && last.path === action.path) last.edits.push(...action.edits);
    else result.push(action.do === "edit" ? { ...action, edits: [...action.edits] } : action);
  }
  return result;
}

function toMove(input: Json | undefined): ToolAction {
  const args = toArguments(input);
  for (const [a, b] of NAMES.moves) {
    const from = args[a];
    const to = args[b];
    if (typeof from === "string" && typeof to === "string") return { do: "move", from, to };
  }
  return { do: "unknown", reason: "the log does not hold both names" };
}

function toPaths(input: Json | undefined): string[] {
  const args = toArguments(input);
  const one = first(args, NAMES.path);
  if (one !== undefined && one !== "") return [one];
  const many = NAMES.paths.map((name) => args[name]).find(Array.isArray);
  return (many ?? []).flatMap((path) => (typeof path === "string" && path !== "" ? [path] : []));
}

function first(args: Arguments, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = args[name];
    if (typeof value === "string") return value;
  }
  return undefined;
}

const at = (path: string | undefined) => (path === undefined ? {} : { path });

function toArguments(input: Json | undefined): Arguments {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? input : {};
}
