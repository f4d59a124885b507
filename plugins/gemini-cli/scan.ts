/** Finds chats: `<tmp>/<project>/chats/session-*.json[l]` and the sub-agents in `chats/<session id>/`. */

import type { Dirent } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { SessionRef } from "sessarc";
import { listFolder } from "sessarc/adapter";
import type { FileStat, Head, Heads } from "./heads.ts";
import { type Projects, readProjects } from "./projects.ts";

interface Found extends FileStat {
  stem: string;
  head: Head;
  cwd?: string | undefined;
}

/**
 * A root named `tmp` is the tool's own; any other is taken for a folder of chats. Directory entries, one stat and (once per
 * change) the head of each file.
 */
export async function* scanChats(root: string, heads: Heads): AsyncGenerator<SessionRef> {
  const isTmp = basename(root) === "tmp";
  const folders = isTmp ? await foldersIn(root) : [root];
  const projects = await readProjects(isTmp ? dirname(root) : root, folders);
  const mains: Found[] = [];
  for (const folder of folders) {
    const chats = join(folder, "chats");
    for (const dir of isTmp ? [chats] : [folder, chats]) {
      const entries = await listFolder(dir);
      const strict = !isTmp && dir === folder; // other JSON files may lie here
      for (const found of await filesIn(dir, entries, folder, projects, heads)) {
        if (!strict || found.head.sessionId !== undefined) mains.push(found);
      }
      if (strict) continue;
      for (const entry of entries) {
        if (!entry.isDirectory()) continue;
        yield* subagents(join(dir, entry.name), folder, projects, heads);
      }
    }
  }
  yield* toRefs(mains);
}

async function* subagents(dir: string, folder: string, projects: Projects, heads: Heads): AsyncGenerator<SessionRef> {
  const parent = basename(dir);
  for (const found of await filesIn(dir, await listFolder(dir), folder, projects, heads)) {
    // Sub-agent ids are only unique below their parent.
    if (found.path.endsWith(".jsonl")) yield { ...toRef(found, `${parent}.${found.stem}`), parent };
  }
}

/** One ref per session: a `.json` that was moved to a `.jsonl` is a companion of that. */
async function* toRefs(files: readonly Found[]): AsyncGenerator<SessionRef> {
  const byId = new Map<string, Found[]>();
  for (const file of [...files].sort((a, b) => (a.stem < b.stem ? -1 : a.stem > b.stem ? 1 : 0))) {
    const id = file.head.sessionId ?? file.stem;
    const same = byId.get(id);
    if (same) same.push(file);
    else byId.set(id, [file]);
  }
  for (const [id, same] of byId) {
    // A resume leaves an empty log beside the chat that it continued.
    const said = same.filter((file) => !file.head.silent);
    const chats = said.length > 0 ? said : same;
    const logs = chats.filter((file) => file.path.endsWith(".jsonl"));
    const sessions = logs.length > 0 ? logs : chats;
    const twins = same.filter((file) => !sessions.includes(file)).map((file) => file.path);
    for (const [n, file] of sessions.entries()) {
      const other = `${id}.${file.stem}`;
      const ref = n === 0 ? toRef(file, id, other) : toRef(file, other, id);
      const companions = n > 0 ? [] : [...twins];
      const folder = dirname(file.path);
      for (const beside of n > 0 ? [] : [join(folder, id), join(dirname(folder), "tool-outputs", `session-${id}`)])
        if (await isFolder(beside)) companions.push(beside);
      yield companions.length > 0 ? { ...ref, companions } : ref;
    }
  }
}

function toRef(file: Found, key: string, otherKey?: string): SessionRef {
  const ref: SessionRef = {
    tool: "gemini-cli",
    key,
    otherKey,
    path: file.path,
    size: file.size,
    mtime: file.mtimeMs,
    born: file.birthtimeMs,
    exclusive: true,
  };
  return file.cwd === undefined ? ref : { ...ref, cwd: file.cwd };
}

async function filesIn(
  dir: string,
  entries: readonly Dirent[],
  folder: string,
  projects: Projects,
  heads: Heads,
): Promise<Found[]> {
  const found: Found[] = [];
  for (const entry of entries) {
    // `.jsonl.unreadable-<ms>` and `.tmp-<pid>` siblings end otherwise.
    const stem = entry.name.match(/^([^.].*)\.jsonl?$/)?.[1];
    if (stem === undefined || !entry.isFile()) continue;
    const path = join(dir, entry.name);
    const info = await stat(path).catch(() => undefined);
    if (!info) continue; // deleted since
    const { size, mtimeMs, birthtimeMs } = info;
    const file = { path, size, mtimeMs, birthtimeMs };
    const head = await heads.of(file).catch((): Head => ({})); // no longer readable: listed by its name
    found.push({ ...file, stem, head, cwd: await projects.pathOf(folder, head.projectHash) });
  }
  return found;
}

/** Links are not followed: they could lead out of the root. */
async function foldersIn(root: string): Promise<string[]> {
  return (await listFolder(root)).filter((entry) => entry.isDirectory()).map((entry) => join(root, entry.name));
}

async function isFolder(path: string): Promise<boolean> {
  const info = await stat(path).catch(() => undefined);
  return info?.isDirectory() ?? false;
}
