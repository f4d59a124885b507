/** Files as the messages of a session show them: read whole, written, edited. */

import { BoundedMap, type SessionEvent } from "sessarc";
import { type Adapter, pathsIn, type ToolAction, toolActions, wholeRead } from "sessarc/adapter";
import type { SeenFile } from "../history/choose.ts";

interface Sight {
  /** False when nothing after it counts. */
  add(event: SessionEvent): boolean;
  /** Least recent first. */
  files(): SeenFile[];
}

const CALLS = 64;
const TEXT = 1 << 19;
/** Commands that change which files the folder has. */
const MOVES =
  /\bgit\b[^;&|\n]*?\b(?:checkout|switch|reset|restore|stash|pull|merge|rebase|revert|cherry-pick|clean|am|apply)\b/;

/** `first`: as the files were before the session changed them, instead of what it made of them. */
export function createSight(adapter: Pick<Adapter, "tools" | "replay"> | undefined, first: boolean): Sight {
  const calls = new BoundedMap<string, SessionEvent>(CALLS);
  /** Undefined: changed, and not known to what. */
  const files = new Map<string, SeenFile | undefined>();

  function put(path: string, seen: { text: string; whole: boolean } | undefined): void {
    if (first && files.has(path)) return;
    files.delete(path);
    files.set(path, seen && seen.text.length <= TEXT ? { path, ...seen } : undefined);
  }

  function edited(path: string, edits: readonly { old: string; new: string }[]): void {
    const known = files.get(path);
    let text = known?.whole ? known.text : "";
    if (first) put(path, { text: edits[0]?.old ?? "", whole: false });
    else if (text !== "" && edits.every(({ old }) => text.includes(old))) {
      for (const edit of edits) text = text.replace(edit.old, () => edit.new);
      put(path, { text, whole: true });
    } else put(path, { text: edits.map((edit) => edit.new).join("\n"), whole: false });
  }

  function apply(action: ToolAction): boolean {
    if (action.do === "command") {
      const moves = MOVES.test(typeof action.command === "string" ? action.command : action.command.join(" "));
      if (moves && !first) files.clear();
      return !(moves && first);
    }
    if (action.do === "write") put(action.path, first ? undefined : { text: action.text, whole: true });
    else if (action.do === "edit") edited(action.path, action.edits);
    else if (action.do === "patch") for (const path of pathsIn(action.text, "patch")) put(path, undefined);
    else if (action.do === "move") for (const path of [action.from, action.to]) put(path, undefined);
    else if (action.path !== undefined) put(action.path, undefined);
    return true;
  }

  return {
    add(event) {
      if (event.kind === "tool_use" && event.tool_use_id !== undefined) calls.set(event.tool_use_id, event);
      if (event.kind !== "tool_result" || event.tool_use_id === undefined) return true;
      const asked = calls.get(event.tool_use_id);
      calls.delete(event.tool_use_id);
      if (!asked || event.is_error) return true;
      const call = { name: asked.tool_name ?? "", input: asked.tool_input };
      const role = adapter?.tools?.[call.name];
      const result = { text: event.text, failed: false };
      const shown = adapter?.replay?.read?.(call, result) ?? wholeRead(call, role, result);
      if (shown) put(shown.path, { text: shown.text, whole: true });
      const actions = adapter?.replay?.actions?.(call) ?? toolActions(role, call.input) ?? [];
      return actions.every(apply);
    },
    files: () => [...files.values()].filter((file) => file !== undefined),
  };
}
