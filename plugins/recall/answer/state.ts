/** Whether code that a session wrote is still in its file. Reads the file on the disk; nothing is said where that cannot be known. */
import { isAbsolute, resolve } from "node:path";
import type { SessionEvent } from "sessarc";
import { toolCall } from "sessarc/adapter";
import { isFolder, isGone, isInside, openRegular, resolveInside } from "sessarc/files";
import type { CodeState } from "./contract.ts";

const MOST_BYTES = 1 << 20;
/** Lines of edits that are looked for, and letters a line needs to say something. */
const LINES = 60;
const TELLING = 8;
/** A share of the lines that makes code kept. */
const KEPT = 0.6;

/** `edits`: calls that changed files, the newest last. `root`: the project's folder, outside of which nothing is read. */
export async function findCode(
  edits: readonly SessionEvent[],
  root: string,
  cwd: string | null,
): Promise<CodeState | undefined> {
  // Of a project that is not on this disk nothing is known.
  if (!(await isFolder(root))) return undefined;
  const written = new Map<string, Set<string>>();
  for (const { tool_input } of edits) {
    const { path, edits: texts, content } = toolCall(tool_input);
    if (path === undefined) continue;
    const file = isAbsolute(path) ? path : resolve(cwd ?? root, path);
    if (!isInside(root, file)) continue;
    const lines = written.get(file) ?? new Set<string>();
    written.set(file, lines);
    for (const text of [...texts.map(({ after }) => after), content ?? ""])
      for (const line of text.split("\n")) if (isTelling(line)) lines.add(line.trim());
  }
  let found = 0;
  let sought = 0;
  let gone = 0;
  for (const [file, lines] of written) {
    const text = await read(root, file);
    if (text === null) gone++;
    else if (text !== undefined) {
      const now = new Set(text.split("\n").map((line) => line.trim()));
      for (const line of [...lines].slice(0, LINES)) {
        sought++;
        if (now.has(line)) found++;
      }
    }
  }
  if (gone > 0 && gone === written.size) return "gone";
  if (sought === 0) return undefined;
  return found / sought >= KEPT ? "kept" : "rewritten";
}

const isTelling = (line: string) => (line.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= TELLING;

/** Null where no file is there; undefined where it cannot be read. */
async function read(root: string, file: string): Promise<string | null | undefined> {
  try {
    const path = await resolveInside(root, file);
    if (path === undefined) return undefined;
    const handle = await openRegular(path);
    try {
      return (await handle.stat()).size > MOST_BYTES ? undefined : await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch (error) {
    return isGone(error) ? null : undefined;
  }
}
