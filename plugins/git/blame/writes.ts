/** What the calls of a session wrote into one file: whole lines, and pieces of lines. */

import type { Adapter, ToolAction } from "sessarc";
import { answeredCalls, type Chunk } from "#internal";
import { toolActions } from "#internal/adapter";

export interface Write {
  seq: number;
  /** ms; of a log without times, when the session ended. */
  at: number;
  /** Name of the tool. */
  name: string;
  lines: ReadonlySet<string>;
  /** Beginnings and ends of what was put inside of lines. */
  parts: readonly string[];
}

/** Letters from which on a piece says something. */
const ENOUGH = 4;
const weight = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, "").length;
export const isHeavy = (line: string): boolean => weight(line) >= ENOUGH;
const linesOf = (text: string) => text.split("\n").map((line) => line.replace(/\r$/, ""));

/** In the order of the calls' results; calls that failed wrote nothing. `isFile` returns whether a path, as written, is the file. */
export async function writesOf(
  chunks: AsyncIterable<Chunk>,
  adapter: Pick<Adapter, "tools" | "replay"> | undefined,
  isFile: (path: string) => boolean,
  otherwise: number,
): Promise<Write[]> {
  const found: Write[] = [];
  for await (const { call, result } of answeredCalls(chunks)) {
    if (!call || result.is_error === true) continue;
    const name = call.tool_name ?? "unknown";
    const role = adapter?.tools && Object.hasOwn(adapter.tools, name) ? adapter.tools[name] : undefined;
    const actions = adapter?.replay?.actions?.({ name, input: call.tool_input }) ?? toolActions(role, call.tool_input);
    const write = added(actions ?? [], isFile);
    if (write.lines.size + write.parts.length === 0) continue;
    const at = Date.parse(call.at ?? "");
    found.push({ seq: call.seq, at: Number.isNaN(at) ? otherwise : at, name, ...write });
  }
  return found;
}

function added(actions: readonly ToolAction[], isFile: (path: string) => boolean): Pick<Write, "lines" | "parts"> {
  const lines = new Set<string>();
  const parts: string[] = [];
  for (const action of actions) {
    if (action.do === "patch") for (const line of patchLines(action.text, isFile)) lines.add(line);
    else if (!("path" in action) || action.path === undefined || !isFile(action.path)) continue;
    else if (action.do === "write" || action.do === "insert") for (const line of linesOf(action.text)) lines.add(line);
    else if (action.do === "edit")
      for (const edit of action.edits) {
        const before = new Set(linesOf(edit.old));
        const fresh = linesOf(edit.new).filter((line) => !before.has(line));
        for (const line of fresh) lines.add(line);
        // What begins or ends inside of a line is a piece of it.
        for (const piece of [fresh[0], fresh.at(-1)]) if (piece && isHeavy(piece)) parts.push(piece.trim());
      }
  }
  return { lines, parts };
}

/** Lines with a plus in the sections about the file, of a `*** Begin Patch` or a unified diff. */
function* patchLines(text: string, isFile: (path: string) => boolean): Generator<string> {
  let inside = false;
  for (const line of linesOf(text)) {
    const path = /^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$|^\+\+\+ (?:b\/)?([^\t]+)/.exec(line);
    if (path) inside = isFile((path[1] ?? path[2] ?? path[3] ?? "").trim());
    else if (inside && line.startsWith("+")) yield line.slice(1);
  }
}
