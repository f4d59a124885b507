/** What there is to import: every adapter's roots, listed from directory entries and stat. */
import { access } from "node:fs/promises";
import { type Database, isSessarcError, type Registry, type SessionRef, toMessage } from "sessarc";
import { type Adapter, type AdapterEnv, takeClosed } from "sessarc/adapter";
import { isGone, isInside } from "sessarc/files";
import { listLogs } from "./listing.ts";
import { type FoundLog, Logs } from "./logs.ts";

export type { FoundLog } from "./logs.ts";

interface ScannedRoot {
  path: string;
  exists: boolean;
  /** Logs found here that count; copies of such elsewhere are not among them. */
  sessions: number;
  /** In a folder that the user added. */
  added: boolean;
}

export interface ToolScan {
  tool: string;
  label: string;
  roots: ScannedRoot[];
  sessions: number;
  problems: { path: string; reason: string }[];
  /** A folder could not be listed: what is missing here may be there. */
  unlisted: boolean;
}

export interface Scan {
  tools: ToolScan[];
  found: Logs;
  roots: Roots;
}

/** Places of each assistant's logs, as its adapter named them; absent where it failed. */
export type Roots = Map<string, readonly string[]>;

/**
 * Scans all adapters of `registry`. A missing root is no error; a root that cannot be read is a problem of its tool, the others go on.
 * Of a session that several roots hold, the longest log counts, in stores without sizes the newest; of equal ones the first root's,
 * which is the tool's own. Told as a problem: one row for each pair of roots.
 * `db`: the archive, whose sessions keep their ids. `roots`: places that are known; without them each adapter is asked for its own. `away`:
 * tools with a folder that must not be read now, so that what is missing may be there.
 */
export async function scanLogs(
  registry: Pick<Registry, "adapters" | "folders">,
  env: AdapterEnv,
  db: Database,
  roots: Roots = new Map(),
  away: (tool: string) => boolean = () => false,
): Promise<Scan> {
  const found = new Logs();
  const tools = await Promise.all(
    [...registry.adapters.values()].map(async (adapter) => {
      const scan = await scanTool(adapter, registry.folders.get(adapter.name)?.dirs ?? [], env, db, found, roots);
      return away(adapter.name) ? { ...scan, unlisted: true } : scan;
    }),
  );
  return { tools, found, roots };
}

async function scanTool(
  adapter: Adapter,
  dirs: readonly string[],
  env: AdapterEnv,
  db: Database,
  found: Logs,
  known: Roots,
): Promise<ToolScan> {
  const scan: ToolScan = {
    tool: adapter.name,
    label: adapter.label,
    roots: [],
    sessions: 0,
    problems: [],
    unlisted: false,
  };
  const copies = createCopies();
  let roots = known.get(adapter.name) ?? [];
  try {
    if (!known.has(adapter.name)) roots = adapter.roots(env);
    known.set(adapter.name, roots);
  } catch (error) {
    scan.problems.push({ path: adapter.label, reason: toReason(error) });
  }
  for (const path of roots) {
    const exists = await access(path).then(
      () => true,
      (error: unknown) => {
        if (isGone(error)) return false;
        // Behind a folder that is closed to us: there may be logs.
        scan.unlisted = true;
        scan.problems.push({ path, reason: toReason(error) });
        return false;
      },
    );
    takeClosed(path);
    const added = dirs.some((dir) => isInside(dir, path));
    // Which of its tool's places an added folder has is found out by looking: those it has not are no news.
    const here: ScannedRoot = { path, exists, sessions: 0, added };
    if (exists || !added) scan.roots.push(here);
    if (!exists) continue;
    try {
      for await (const ref of listLogs(adapter, path, env, db)) {
        const id = `${ref.tool}:${ref.key}`;
        const other = found.get(id);
        const one: FoundLog = { id, ref, adapter, root: path, stored: "not" };
        if (other && !isBetterCopy(ref, other.ref)) {
          if (other.ref.path !== ref.path) copies.add(one, other);
          continue;
        }
        if (other) copies.add(other, one);
        const before = other && scan.roots.find((root) => root.path === other.root);
        if (before) before.sessions--;
        else scan.sessions++;
        here.sessions++;
        found.set(one);
      }
    } catch (error) {
      scan.unlisted = true;
      scan.problems.push({ path, reason: toReason(error) });
    }
    for (const folder of takeClosed(path)) {
      scan.unlisted = true;
      scan.problems.push({ path: folder, reason: "may not be read: what is in it is left out" });
    }
  }
  scan.problems.push(...copies.problems());
  return scan;
}

/** Whether of two logs of one session `ref` is to be taken instead of `other`. */
export function isBetterCopy(ref: SessionRef, other: SessionRef): boolean {
  if (ref.size !== undefined && other.size !== undefined) return ref.size > other.size;
  return (ref.mtime ?? 0) > (other.mtime ?? 0);
}

/** Sessions that are in two places: a backup would add a row for each of thousands, so they are counted by pair of roots. */
function createCopies() {
  const pairs = new Map<string, { left: FoundLog; taken: FoundLog; count: number }>();
  return {
    add(left: FoundLog, taken: FoundLog) {
      const key = `${left.root}\0${taken.root}`;
      const pair = pairs.get(key);
      if (pair) pair.count++;
      else pairs.set(key, { left, taken, count: 1 });
    },
    problems: () =>
      [...pairs.values()].map(({ left, taken, count }) =>
        count === 1
          ? { path: left.ref.path, reason: `the same session as ${taken.ref.path}` }
          : { path: left.root, reason: `${count} sessions are in ${taken.root} too; those count` },
      ),
  };
}

function toReason(error: unknown): string {
  if (isSessarcError(error)) return error.fix ? `${error.message}. ${error.fix}` : error.message;
  const code = (error as NodeJS.ErrnoException | null)?.code;
  if (code === "EACCES" || code === "EPERM") return "may not be read";
  return toMessage(error);
}

/** Equal means nothing to import. A title comes from outside the log (an index of names), so it is part of the version. */
export const toVersion = ({ version, size = 0, mtime = 0, title }: SessionRef): string =>
  version ?? `${size}:${mtime}${title === undefined ? "" : `:${title}`}`;
