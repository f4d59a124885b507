/** What a fork or a sub-agent may have copied: the turns and rows of its parent's rollout, or of other rollouts that copied the same parent. */
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { BoundedMap, isRecord, type JsonRecord, toText } from "sessarc";
import { bytesAt, hash53, readFolder, readLines, readRows, rowsIn } from "sessarc/adapter";
import { userParts } from "./rows.ts";

export interface Origin {
  /** Ids of turns; empty in rollouts of early versions. */
  turns: ReadonlySet<string>;
  /** Hashes of the items and token counts, for rollouts without ids of turns. */
  rows: ReadonlySet<number>;
  /** The rollout itself has ids of turns. */
  hasTurns: boolean;
  /** It repeats turns or rows of the parent, although it may not name it as its origin. */
  repeats: boolean;
}

const HEAD = 64 * 1024;
/** Rollouts beside one whose parent is gone that are read. */
const SIBLINGS = 50;
/** ms between the head and what was copied. */
const PAUSE = 1_000;
/** Lines of a rollout in which a repeated turn begins. */
const FIRST = 60;

const cache = new BoundedMap<string, { stamp: string; rows: Rows }>(16);
interface Rows {
  turns: Set<string>;
  rows: Set<number>;
}

/** Undefined for a rollout without a parent, and where neither the parent's rollout nor another copy of it is there. Reads the head of each other rollout. */
export async function findOrigin(path: string): Promise<Origin | undefined> {
  const head = await readHead(path);
  const named = parentIn(head);
  const parent = named && findPath(path, named);
  const others = parent ? [parent] : named ? siblings(path, named) : await repeatedBy(path, head);
  if (others.length === 0) return undefined;
  const [turns, rows] = [new Set<string>(), new Set<number>()];
  for (const other of others) {
    const found = await loadRows(other);
    for (const turn of found.turns) turns.add(turn);
    for (const row of found.rows) rows.add(row);
  }
  return { turns, rows, ...(await repeatsIn(path, turns, rows)) };
}

/** The same of an item or a token count in every rollout that has it: times are outside of the payload. Undefined for what each thread writes for itself. */
export function rowHash(row: unknown): number | undefined {
  if (!isRecord(row) || !isRecord(row.payload)) return undefined;
  const { payload } = row;
  if (row.type !== "response_item" && payload.type !== "token_count") return undefined;
  if (payload.type === "message" && payload.role !== "assistant" && !isTyped(payload)) return undefined;
  return hash53(JSON.stringify(payload));
}

const isTyped = ({ role, content }: JsonRecord): boolean =>
  role === "user" && userParts(content, undefined).some(({ kind }) => kind === "user");

export const findTurn = (payload: unknown): string | undefined =>
  isRecord(payload) ? toText(payload.turn_id) : undefined;

async function readHead(path: string): Promise<string> {
  if (!path.endsWith(".zst")) return bytesAt(path, 0, HEAD).toString("latin1");
  const lines: string[] = [];
  try {
    for await (const line of readLines(path)) if (lines.push(line.slice(0, HEAD)) === 2) break;
  } catch {
    // Damaged: reading it counts the damage.
  }
  return lines.join("\n");
}

/** The thread that a rollout goes on from or was started by; undefined for a rollout that copies nothing. */
function parentIn(head: string): string | undefined {
  const first = head.slice(0, head.indexOf("\n") >>> 0);
  const named = /"forked_from_id":\s*"([\w-]+)"/.exec(first) ?? /"parent_thread_id":\s*"([\w-]+)"/.exec(first);
  if (named) return named[1];
  const second = head.slice(first.length + 1);
  return /^\{[^{}]*"type":\s*"session_meta"[^{}]*\{[^{}]*?"id":\s*"([\w-]+)"/.exec(second)?.[1];
}

const indexes = new BoundedMap<string, { at: number; paths: Map<string, string> }>(4);
/** A rollout that is not in the index may be new. */
const STALE_MS = 2_000;

const findPath = (child: string, id: string): string | undefined => pathsFor(child, id).get(id);

/** All rollouts beside `child` by their ids; read again when `id` is not among them. */
function pathsFor(child: string, id: string): ReadonlyMap<string, string> {
  const [root] = /^.*(?=[\\/](?:archived_)?sessions[\\/])/s.exec(child) ?? [dirname(child)];
  const known = indexes.get(root);
  if (known && (known.paths.has(id) || performance.now() - known.at < STALE_MS)) return known.paths;
  const paths = new Map<string, string>();
  const walk = (dir: string, depth: number): void => {
    for (const entry of readFolder(dir)) {
      const path = join(dir, entry.name);
      if (entry.isDirectory() && depth > 0) walk(path, depth - 1);
      const name = entry.isFile() ? idIn(entry.name) : undefined;
      if (name !== undefined && !(path.endsWith(".zst") && paths.has(name))) paths.set(name, path);
    }
  };
  const places = [join(root, "sessions"), join(root, "archived_sessions")];
  for (const place of places) walk(place, 4);
  if (paths.size === 0) walk(root, 4);
  indexes.set(root, { at: performance.now(), paths });
  return paths;
}

/** Rollouts, begun before a sub-agent that names no parent, whose first turn or count the sub-agent has as well. */
async function repeatedBy(path: string, head: string): Promise<string[]> {
  if (!/^[^\n]*"source":\s*\{\s*"subagent"/.test(head) || !(await beginsAtOnce(path))) return [];
  const name = basename(path);
  const earlier = [...pathsFor(path, idIn(name) ?? "").values()].filter((other) => basename(other) < name);
  const found: string[] = [];
  for (const other of earlier.sort((a, b) => (basename(a) < basename(b) ? 1 : -1)).slice(0, SIBLINGS)) {
    const { turns, rows } = await loadRows(other);
    if ((await repeatsIn(path, turns, rows)).repeats) found.push(other);
  }
  return found;
}

/** Whether the first reply has the time of the head: what is copied is written in one go, and others need not be compared. */
async function beginsAtOnce(path: string): Promise<boolean> {
  let since: number | undefined;
  let count = 0;
  for await (const line of readLines(path)) {
    for (const row of rowsIn(line)) {
      if (!isRecord(row) || !isRecord(row.payload)) continue;
      const time = Date.parse(toText(row.timestamp) ?? "");
      since ??= time;
      const { type, role } = row.payload;
      if (type === "token_count" || role === "assistant") return !(time - since > PAUSE);
    }
    if (++count > FIRST) return false;
  }
  return false;
}

export const idIn = (name: string): string | undefined =>
  /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl(?:\.zst)?$/i.exec(name)?.[1]?.toLowerCase();

/** Rollouts of the same day that have the same parent. */
function siblings(path: string, parent: string): string[] {
  const dir = dirname(path);
  const names = readdirSync(dir).filter((name) => name.endsWith(".jsonl") && name !== basename(path));
  return names
    .sort()
    .slice(-SIBLINGS)
    .map((name) => join(dir, name))
    .filter((other) => parentIn(bytesAt(other, 0, HEAD).toString("latin1")) === parent);
}

async function loadRows(path: string): Promise<Rows> {
  const stat = statSync(path, { throwIfNoEntry: false });
  const stamp = `${stat?.size}:${stat?.mtimeMs}`;
  const known = cache.get(path);
  if (known?.stamp === stamp) return known.rows;
  const rows: Rows = { turns: new Set(), rows: new Set() };
  try {
    await readRows(path, (row) => {
      const turn = findTurn(isRecord(row) ? row.payload : undefined);
      if (turn !== undefined) rows.turns.add(turn);
      const hash = rowHash(row);
      if (hash !== undefined) rows.rows.add(hash);
    });
  } catch {
    return rows; // gone or closed since it was listed: as far as it was read
  }
  cache.set(path, { stamp, rows });
  return rows;
}

async function repeatsIn(
  path: string,
  turns: ReadonlySet<string>,
  rows: ReadonlySet<number>,
): Promise<Pick<Origin, "hasTurns" | "repeats">> {
  let count = 0;
  for await (const line of readLines(path)) {
    for (const row of rowsIn(line)) {
      const payload = isRecord(row) && isRecord(row.payload) ? row.payload : {};
      const turn = findTurn(payload);
      if (turn !== undefined) return { hasTurns: true, repeats: turns.has(turn) };
      if (payload.type === "token_count") return { hasTurns: false, repeats: rows.has(rowHash(row) ?? Number.NaN) };
    }
    if (++count > FIRST) break;
  }
  return { hasTurns: false, repeats: false };
}
