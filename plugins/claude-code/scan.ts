/** Finds the sessions below a `projects` folder from directory entries and stat alone. */
import { createHash } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { SessionRef } from "sessarc";
import { bytesAt, isUnreadable, namesInSlices, readFolderInSlices, withoutCopies } from "sessarc/adapter";
import { isUuid, toStem } from "./parse.ts";

/** Entries handled before other work gets its turn: about 5 ms. */
const SLICE = 400;
/** Below a project: session folder, `subagents`, `workflows`, one workflow. */
const DEPTH = 5;
/** Where a file's first time must stand. */
const HEAD = 64 * 1024;

interface Found {
  path: string;
  /** Folder names below the root, the project first. */
  folders: string[];
  stem: string;
  size: number;
  mtime: number;
  /** Inside a project folder that is a link: never ours to delete. */
  linked: boolean;
  /** Files and folders that belong to it alone. */
  companions: string[];
}

/** Directories of one root, each read once; links are followed for project folders only, by real path. */
export async function* scanProjects(root: string): AsyncGenerator<SessionRef> {
  /** Plain key → the files that have it. */
  const sessions = new Map<string, Found[]>();
  const agents: Found[] = [];
  let entries = 0;
  const walk = async (dir: string, folders: string[], linked: boolean): Promise<void> => {
    const list = await readFolderInSlices(dir);
    const names = await namesInSlices(list);
    for (const entry of list) {
      if (++entries % SLICE === 0) await nextTurn();
      const path = join(dir, entry.name);
      if (entry.isFile() && entry.name.endsWith(".jsonl")) {
        const stem = toStem(entry.name);
        const inside = folders.includes("subagents");
        // Behind a link may be any folder: only what is surely a session is taken there.
        if (linked && !inside && !isUuid(stem) && !stem.startsWith("agent-")) continue;
        if (inside && !stem.startsWith("agent-")) continue; // a workflow's journal
        const stat = statSync(path, { throwIfNoEntry: false });
        if (!stat?.isFile()) continue;
        const side = inside ? `${stem}.meta.json` : stem;
        const companions = names.has(side) ? [join(dir, side)] : [];
        const found = { path, folders, stem, size: stat.size, mtime: stat.mtimeMs, linked, companions };
        if (inside) agents.push(found);
        else addTo(sessions, plainKey(folders, stem), found);
      } else if (
        entry.isDirectory() &&
        folders.length <= DEPTH &&
        !(linked && folders.length === 1 && !isUuid(entry.name))
      ) {
        await walk(path, [...folders, entry.name], linked);
      }
    }
  };
  const seen = new Set<string>();
  for (const entry of await readFolderInSlices(root)) {
    const path = join(root, entry.name);
    if (!entry.isDirectory() && !entry.isSymbolicLink()) continue;
    const real = realFolder(path);
    // The real folder comes first, so that a link to it inside the root adds nothing.
    if (real && !entry.isSymbolicLink()) seen.add(real);
  }
  for (const entry of await readFolderInSlices(root)) {
    const path = join(root, entry.name);
    if (entry.isDirectory()) await walk(path, [entry.name], false);
    if (!entry.isSymbolicLink()) continue;
    const real = realFolder(path);
    if (!real || seen.has(real) || isWithin(real, root) || isWithin(root, real)) continue;
    seen.add(real);
    await walk(real, [entry.name], true);
  }
  /** `project/session` → key, for the parents of sub-agents. */
  const keys = new Map<string, string>();
  const taken = new Set<string>();
  for (const [plain, group] of sessions) {
    for (const [key, found] of distinct(plain, group)) {
      if (++entries % SLICE === 0) await nextTurn();
      keys.set(`${found.folders.join("/")}/${found.stem}`, key);
      taken.add(key);
      yield toRef(key, found);
    }
  }
  for (const found of agents) {
    if (++entries % SLICE === 0) await nextTurn();
    const above = found.folders.slice(0, found.folders.indexOf("subagents"));
    const parent = keys.get(above.join("/")) ?? plainKey(above.slice(0, -1), above.at(-1) ?? "");
    let key = `${parent}:${found.stem}`;
    if (taken.has(key)) key = `${key}~${toHash(found.folders.join("/"))}`;
    taken.add(key);
    yield { ...toRef(key, found), parent };
  }
}

function toRef(key: string, { path, size, mtime, linked, companions }: Found): SessionRef {
  return { tool: "claude-code", key, path, size, mtime, exclusive: !linked, companions };
}

/** The file's stem where it is an id; else the folders too, since `chat.jsonl` may be in any of them. */
function plainKey(folders: readonly string[], stem: string): string {
  if (isUuid(stem) || /^agent-[\w-]{1,100}$/.test(stem)) return stem;
  const whole = [...folders, stem].join(":");
  if (/^[\w.:-]{1,120}$/.test(whole) && !folders.some((folder) => folder.includes(":"))) return whole;
  return `${stem.replace(/[^\w.-]/g, "-").slice(0, 40)}~${toHash([...folders, stem].join("/"))}`;
}

/**
 * Keys of files that would share one: a copy or the start of another is that session (the longest stays); of different
 * contents the one that began first keeps the plain key and the others get their folder into it.
 */
function distinct(plain: string, group: readonly Found[]): [key: string, found: Found][] {
  const files = group.length === 1 ? group : withoutCopies(group).sort(byBeginning);
  return files.map((found, index) => [index === 0 ? plain : `${plain}~${toHash(found.folders.join("/"))}`, found]);
}

function addTo(groups: Map<string, Found[]>, key: string, found: Found): void {
  const group = groups.get(key);
  if (group) group.push(found);
  else groups.set(key, [found]);
}

function byBeginning(a: Found, b: Found): number {
  const [x, y] = [firstTime(a), firstTime(b)];
  return x < y ? -1 : x > y ? 1 : a.path < b.path ? -1 : 1;
}

function firstTime(found: Found): string {
  return /"timestamp":\s*"?([^",}]{10,40})/.exec(bytesAt(found.path, 0, HEAD).toString("utf8"))?.[1] ?? "~";
}

function realFolder(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

function isWithin(path: string, folder: string): boolean {
  const [inner, outer] = [realFolder(path) ?? path, realFolder(folder) ?? folder];
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

function toHash(text: string): string {
  return createHash("sha1").update(text).digest("hex").slice(0, 10);
}
