/** The command that goes on with a session in its own tool, ready for a shell. */
import type { Adapter, AdapterEnv } from "sessarc/adapter";
import { isFolder, quoted } from "sessarc/files";
import type { ArchivedSession } from "./archived.ts";

export interface Resume {
  /** One line: `cd '/w/app' && claude --resume 1111…`. */
  command: string;
  /** The same as words, and the folder it runs in; null where any does. */
  words: readonly string[];
  cwd: string | null;
  /** That folder is not on this machine: the command works where the project is now. */
  folderGone: boolean;
}

/** Words that mean themselves in every shell. What is in a log is never quoted into a command: it is this, or there is none. */
const PLAIN = /^[A-Za-z0-9][\w.=:@-]{0,199}$/;
const isPlain = (word: string) => PLAIN.test(word.replace(/^--?(?=\w)/, ""));

/** Null where the tool has no such command, a sub-agent is asked for, or its log is gone: then there is nothing to go on with. */
export async function findResume(
  row: Pick<ArchivedSession, "parentId" | "source" | "key" | "cwd">,
  adapter: Pick<Adapter, "resume"> | undefined,
  platform: AdapterEnv["platform"],
): Promise<Resume | null> {
  if (row.parentId !== null || row.source.missing) return null;
  const { key } = row;
  const words = adapter?.resume?.({ key, path: row.source.path });
  if (!words || !PLAIN.test(key) || !words.every(isPlain)) return null;
  const command = words.join(" ");
  const cwd = row.cwd ?? "";
  // Most tools look for their sessions from the folder on; on Windows it depends on the shell.
  const cd = platform !== "win32" && cwd.startsWith("/") && !hasControl(cwd);
  const folder = cwd === "" ? null : cwd;
  const folderGone = folder !== null && !(await isFolder(folder));
  return { words, cwd: folder, folderGone, command: cd ? `cd ${quoted(cwd)} && ${command}` : command };
}

/** A line end would be a command of its own. */
const hasControl = (text: string) => [...text].some((char) => char < " " || char === "\u007f");
