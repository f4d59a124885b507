/**
 * OpenCode's older store: one JSON file per session, message and part below `storage/`. Links are never followed.
 * The files are small and many: they are read synchronously, a message (or a batch of stats) between two turns of the event loop,
 * which is ten times as fast as a promise for each.
 */

import { type Dirent, lstatSync, readdirSync, type Stats } from "node:fs";
import { basename, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  BoundedMap,
  type JsonRecord,
  parseRecord,
  type SessionRef,
  type SessionSummary,
  toNumber,
  toRecord,
  toText,
} from "sessarc";
import type { NewEvent } from "sessarc/adapter";
import { isGone, readRegularSync } from "sessarc/files";
import { createOutputs } from "./outputs.ts";
import { createParser } from "./parse.ts";
import type { Row, SessionRow } from "./types.ts";

/** Stats between two turns of the event loop: about a millisecond. */
const BATCH = 256;
/** Parsed session files kept for the next scan. */
const KEEP = 20_000;

export interface JsonStore {
  scan(root: string): AsyncGenerator<Omit<SessionRef, "tool">>;
  version(root: string, ref: SessionRef): Promise<string | undefined>;
  read(
    root: string,
    ref: SessionRef,
    onBytes?: (bytes: number) => void,
  ): AsyncGenerator<NewEvent, SessionSummary | undefined>;
}

/** Remembers the session files it parsed, so that an unchanged one costs a stat. */
export function createJsonStore(): JsonStore {
  const seen = new BoundedMap<string, { stamp: string; session: SessionRow }>(KEEP);

  function makeSession(path: string, stats: Stats): SessionRow {
    const stamp = toStamp(stats);
    const known = seen.get(path);
    if (known?.stamp === stamp) return known.session;
    const session = toSession(stem(path), readFields(path).fields ?? {});
    seen.set(path, { stamp, session });
    return session;
  }

  return {
    async *scan(root) {
      for (const project of list(join(root, "session"), "folder")) {
        for (const name of list(join(root, "session", project), "json")) {
          const path = join(root, "session", project, name);
          const stats = findStat(path);
          if (!stats) continue;
          const session = makeSession(path, stats);
          const state = await readState(root, session.id, stats);
          yield {
            key: session.id,
            path,
            title: session.title,
            cwd: session.directory,
            parent: session.parent,
            mtime: state.mtime,
            version: state.version,
            exclusive: false,
          };
        }
      }
    },
    async version(root, ref) {
      const stats = findStat(ref.path);
      return stats && (await readState(root, ref.key, stats)).version;
    },
    async *read(root, ref, onBytes = () => {}) {
      const source = readFields(ref.path);
      if (!source.exists) return undefined;
      onBytes(source.bytes);
      const session = toSession(ref.key, source.fields ?? {});
      const parser = createParser(session, createOutputs([root]));
      if (!source.fields) parser.bad();
      const messages: Row[] = [];
      for (const name of list(join(root, "message", ref.key), "json")) {
        const { fields, bytes } = readFields(join(root, "message", ref.key, name));
        onBytes(bytes);
        messages.push({
          id: stem(name),
          createdAt: toNumber(toRecord(fields?.time).created),
          data: fields && withoutDiffs(fields),
        });
      }
      messages.sort((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
      for (const [index, message] of messages.entries()) {
        await nextTurn();
        const parts: Row[] = [];
        for (const name of list(join(root, "part", message.id), "json")) {
          const { fields, bytes } = readFields(join(root, "part", message.id, name));
          onBytes(bytes);
          parts.push({ id: stem(name), data: fields });
        }
        yield* parser.message(message, parts, index === messages.length - 1);
      }
      return parser.finish();
    },
  };
}

/**
 * Change token from stats alone: the session's file, every message's file and every part folder; of the newest message, which may
 * be growing, the part files too.
 */
async function readState(root: string, id: string, session: Stats): Promise<{ version: string; mtime: number }> {
  const folder = join(root, "message", id);
  const names = list(folder, "json");
  const paths = [folder];
  for (const name of names) paths.push(join(folder, name), join(root, "part", stem(name)));
  const newest = names.at(-1);
  if (newest) {
    const parts = join(root, "part", stem(newest));
    for (const name of list(parts, "json")) paths.push(join(parts, name));
  }
  let [mtime, sum, size] = [session.mtimeMs, session.mtimeMs, session.size];
  for (let start = 0; start < paths.length; start += BATCH) {
    await nextTurn();
    for (const path of paths.slice(start, start + BATCH)) {
      const stats = findStat(path);
      if (!stats) continue;
      mtime = Math.max(mtime, stats.mtimeMs);
      sum += stats.mtimeMs;
      if (stats.isFile()) size += stats.size;
    }
  }
  return { mtime, version: ["json", names.length, paths.length, size, mtime, sum].join("-") };
}

function toSession(id: string, fields: JsonRecord): SessionRow {
  const time = toRecord(fields.time);
  return {
    id,
    parent: toText(fields.parentID),
    title: toText(fields.title),
    directory: toText(fields.directory),
    version: toText(fields.version),
    createdAt: toNumber(time.created),
    updatedAt: toNumber(time.updated),
    revertedFrom: toText(toRecord(fields.revert).messageID),
  };
}

/** A prompt's `summary` holds whole files before and after; only the flag of a compaction summary is read. */
function withoutDiffs(fields: JsonRecord): JsonRecord {
  return fields.summary === true ? fields : { ...fields, summary: undefined };
}

const stem = (path: string) => basename(path, ".json");
const toStamp = (stats: Stats) => `${stats.size}.${stats.mtimeMs}.${stats.ino}`;

/** Names of real folders or `.json` files, sorted; OpenCode's ids ascend in time. A missing folder is empty. */
function list(path: string, what: "folder" | "json"): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
  const wanted = entries.filter((entry) =>
    what === "folder" ? entry.isDirectory() : entry.isFile() && entry.name.endsWith(".json"),
  );
  return wanted.map((entry) => entry.name).sort();
}

function findStat(path: string): Stats | undefined {
  try {
    const stats = lstatSync(path);
    return stats.isSymbolicLink() ? undefined : stats;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** A file that vanished while reading is not there; one that holds no object has no fields. */
function readFields(path: string): { exists: boolean; fields?: JsonRecord | undefined; bytes: number } {
  try {
    const text = readRegularSync(path);
    return {
      exists: true,
      fields: parseRecord(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text),
      bytes: text.length,
    };
  } catch (error) {
    if (isGone(error)) return { exists: false, bytes: 0 };
    throw error;
  }
}
