/** Titles that Codex keeps beside its logs: `session_index.jsonl`, append-only, the last row of an id wins. */
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRecord, toText } from "sessarc/adapter";
import { isUnreadable, readRegularSync } from "#internal/adapter";

/** A larger index is left alone; the first prompt is the title then. */
const LIMIT = 16 * 1024 * 1024;

export interface Titles {
  /** Title of the thread whose log is at `path`. Reads the index again when it changed. */
  of(path: string, id: string): string | undefined;
}

export function createTitles(): Titles {
  const cache = new Map<string, { stamp: string; titles: Map<string, string> }>();
  return {
    of(path, id) {
      const home = homeOf(path);
      if (!home) return undefined;
      const file = join(home, "session_index.jsonl");
      const stat = statSync(file, { throwIfNoEntry: false });
      if (!stat?.isFile() || stat.size > LIMIT) return undefined;
      const stamp = `${stat.size}:${stat.mtimeMs}`;
      const known = cache.get(file);
      const fresh = known?.stamp === stamp ? known : { stamp, titles: readIndex(file) };
      cache.set(file, fresh);
      return fresh.titles.get(id);
    },
  };
}

/** The folder that holds `sessions` or `archived_sessions`. */
function homeOf(path: string): string | undefined {
  for (let dir = dirname(path), depth = 0; depth < 6; depth++, dir = dirname(dir)) {
    if (/[\\/](archived_)?sessions$/.test(dir)) return dirname(dir);
  }
  return undefined;
}

function readIndex(file: string): Map<string, string> {
  const titles = new Map<string, string>();
  for (const line of textOf(file).split("\n")) {
    if (line === "") continue;
    try {
      const row: unknown = JSON.parse(line);
      const [id, name] = isRecord(row) ? [toText(row.id), toText(row.thread_name)] : [];
      if (id && name) titles.set(id, name);
    } catch {
      // a half-written last row
    }
  }
  return titles;
}

function textOf(file: string): string {
  try {
    return readRegularSync(file);
  } catch (error) {
    if (isUnreadable(error)) return "";
    throw error;
  }
}
