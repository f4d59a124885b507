/**
 * The names that users gave threads, which Codex stores beside its logs: `threads.name` in `state_<n>.sqlite`, and for threads of
 * older versions the append-only `session_index.jsonl`, where the last row of an id counts.
 */
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isRecord, toText } from "sessarc";
import { isUnreadable, listFolder, openSqliteFile, rowsIn, sqliteVersion } from "sessarc/adapter";
import { readRegular } from "sessarc/files";

/** A larger index is not read; the first prompt is the title then. */
const LIMIT = 16 * 1024 * 1024;
const STATE = /^state_(\d+)\.sqlite$/;

type Names = ReadonlyMap<string, string>;
const NONE: Names = new Map();

interface Titles {
  /** Names by thread id, for the logs below `root` (`sessions` or `archived_sessions`). Reads both sources again when they changed. */
  below(root: string): Promise<Names>;
}

export function createTitles(): Titles {
  const cache = new Map<string, { stamp: string; names: Names }>();
  const cached = async (file: string, stamp: string, read: () => Promise<Names>): Promise<Names> => {
    const known = cache.get(file);
    if (known?.stamp === stamp) return known.names;
    const names = await read();
    cache.set(file, { stamp, names });
    return names;
  };
  return {
    async below(root) {
      if (!/^(archived_)?sessions$/.test(basename(root))) return NONE;
      const home = dirname(root);
      const index = join(home, "session_index.jsonl");
      const info = await stat(index).catch(() => undefined);
      const old =
        info?.isFile() && info.size <= LIMIT
          ? await cached(index, `${info.size}:${info.mtimeMs}`, () => readIndex(index))
          : NONE;
      const state = await stateIn(home);
      if (state === undefined) return old;
      try {
        const names = await cached(state, await sqliteVersion(state), () => readThreads(state));
        return new Map([...old, ...names]);
      } catch {
        // A database that cannot be read now is read by a later scan; the logs themselves do not depend on it.
        return old;
      }
    },
  };
}

/** The database with the highest version. */
export async function stateIn(home: string): Promise<string | undefined> {
  let newest: { version: number; path: string } | undefined;
  for (const entry of await listFolder(home)) {
    const version = Number(STATE.exec(entry.name)?.[1] ?? -1);
    if (entry.isFile() && version > (newest?.version ?? -1)) newest = { version, path: join(home, entry.name) };
  }
  return newest?.path;
}

async function readThreads(path: string): Promise<Names> {
  const db = await openSqliteFile(path);
  try {
    if (!db.columns("threads").includes("name")) return NONE;
    const rows = db.all<{ id: string; name: string }>("select id, name from threads where name <> ''");
    return new Map(rows.map(({ id, name }) => [id, name]));
  } finally {
    db.close();
  }
}

/** The threads of a home that the user pinned. Throws where the database cannot be read. */
export async function readPinned(home: string): Promise<string[]> {
  const state = await stateIn(home);
  if (state === undefined) return [];
  const db = await openSqliteFile(state);
  try {
    if (!db.columns("threads").includes("is_pinned")) return [];
    return db.all<{ id: string }>("select id from threads where is_pinned <> 0").map(({ id }) => id);
  } finally {
    db.close();
  }
}

async function readIndex(file: string): Promise<Names> {
  const titles = new Map<string, string>();
  for (const line of (await readText(file)).split("\n")) {
    if (line === "") continue;
    for (const row of rowsIn(line)) {
      const [id, name] = isRecord(row) ? [toText(row.id), toText(row.thread_name)] : [];
      if (id && name) titles.set(id, name);
    }
  }
  return titles;
}

async function readText(file: string): Promise<string> {
  try {
    return await readRegular(file);
  } catch (error) {
    if (isUnreadable(error)) return "";
    throw error;
  }
}
