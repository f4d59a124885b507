/**
 * One session of the database, or of several: a channel's copy is a database of its own. A session that more than one place holds is
 * read from all of them (`copies.ts`), unless one of them holds all there is.
 */

import { parseRecord, type SessionSummary, type TokenUsage, toList, toNumber, toRecord, toText } from "sessarc";
import {
  contentText,
  createLedger,
  earliest,
  type LooseUsage,
  latest,
  type NewEvent,
  presentColumns,
  type SqliteFile,
  toTokens,
} from "sessarc/adapter";
import { mergeCopies, type Said } from "./copies.ts";
import { sessionRows, type Tables, toColumns, toSession, toTables, VERSION_2 } from "./database.ts";
import type { Member } from "./family.ts";
import { createMessageParser, type MessageRow, makeTokens, rest } from "./messages.ts";
import type { Outputs } from "./outputs.ts";
import { createParser, toUsage } from "./parse.ts";
import { findRequests } from "./requests.ts";
import type { Row, SessionRow } from "./types.ts";

type Raw = Record<string, unknown>;
type Events = Generator<NewEvent, SessionSummary | undefined>;

/** A message, and its events as its copy's parser makes them. `last`: no message follows, so that it may still grow. */
interface Message extends Said {
  emit(last: boolean): Iterable<NewEvent>;
}

interface Reader {
  messages(onBytes: (bytes: number) => void): Generator<Message>;
  /** `row`: the session's, whose tokens count what no message holds. */
  finish(row: Raw): SessionSummary;
}

/** One place that holds a session. */
interface Copy {
  db: SqliteFile;
  tables: Tables;
  /** Its row of the session; empty where only its messages are there. */
  row: Raw;
  session: SessionRow;
}

/** A message's row without its content: enough to see that another copy has it, too. */
interface Mark {
  created: number;
  updated: number;
  size: string;
}

/** Events of one session in order. `onBytes` takes the size of the text read. */
export function* readSession(
  dbs: readonly SqliteFile[],
  id: string,
  onBytes: (bytes: number) => void,
  member: Pick<Member, "isEarly" | "isGross">,
  outputs: Outputs,
): Events {
  const copies = dbs.flatMap((db) => copiesIn(db, id, member));
  if (copies.length === 0) return undefined;
  const whole = copies.length === 1 ? copies[0] : wholeCopy(copies);
  if (!whole) return yield* readMerged(copies, onBytes, outputs);
  const reader = createReader(whole, outputs);
  for (const [message, last] of withLast(reader.messages(onBytes))) yield* message.emit(last);
  return reader.finish(whole.row);
}

/** One row ahead, to know which message is the last. */
function* withLast<T>(rows: Iterable<T>): Generator<[row: T, last: boolean]> {
  let waiting: T | undefined;
  for (const row of rows) {
    if (waiting !== undefined) yield [waiting, false];
    waiting = row;
  }
  if (waiting !== undefined) yield [waiting, true];
}

function copiesIn(db: SqliteFile, id: string, { isEarly, isGross }: Pick<Member, "isEarly" | "isGross">): Copy[] {
  const found = toTables(db).flatMap((tables): { tables: Tables; row: Raw | undefined }[] => {
    const [row] = sessionRows(db, tables, id);
    return row || hasMessages(db, tables, id) ? [{ tables, row }] : [];
  });
  const any = found.find(({ row }) => row !== undefined)?.row;
  if (!any) return [];
  return found.map(({ tables, row = {} }) => {
    const session = toSession(row.id === undefined ? any : row, id);
    session.worktree = findWorktree(db, row.id === undefined ? any : row);
    session.isEarly = isEarly;
    session.isGross = isGross;
    if (tables !== VERSION_2) session.forkedFrom = forkOrigin(db, session, row);
    return { db, tables, row, session };
  });
}

/**
 * The copy that holds every message of the others, as new as theirs; undefined where none does. No content is read: only copies of one
 * version can be compared so.
 */
function wholeCopy(copies: readonly Copy[]): Copy | undefined {
  if (new Set(copies.map(({ tables }) => tables)).size > 1) return undefined;
  const all = copies.map(toMarks);
  const at = all.findIndex((marks) =>
    all.every((others) => [...others].every(([id, mark]) => covers(marks.get(id), mark))),
  );
  return copies[at];
}

const covers = (one: Mark | undefined, other: Mark): boolean =>
  one !== undefined &&
  one.created === other.created &&
  (one.updated > other.updated || (one.updated === other.updated && one.size === other.size));

/** Each message's, by its id: what changes when it or its parts do. */
function toMarks({ db, tables, session }: Copy): Map<string, Mark> {
  const marks = new Map<string, Mark>();
  for (const table of tables.rows) {
    const columns = toColumns(db, table);
    const id = table === "part" ? "message_id" : "id";
    if (!columns.has("session_id") || !columns.has(id) || !columns.has("data")) continue;
    const time = (name: string) => (columns.has(name) ? `max(${name})` : "0");
    const sql =
      `select ${id} as id, ${time("time_created")} as created, ${time("time_updated")} as updated, ` +
      `count(*) || '.' || total(octet_length(data)) as size from ${table} where session_id = ? group by ${id}`;
    for (const row of db.all<Raw>(sql, [session.id])) {
      const key = String(row.id);
      const known = marks.get(key);
      marks.set(key, {
        created: known?.created ?? toNumber(row.created) ?? 0,
        updated: Math.max(known?.updated ?? 0, toNumber(row.updated) ?? 0),
        size: `${known?.size ?? ""} ${row.size}`,
      });
    }
  }
  return marks;
}

const hasMessages = (db: SqliteFile, { rows: [table = "message"] }: Tables, id: string): boolean =>
  toColumns(db, table).has("session_id") &&
  db.all<Raw>(`select 1 from ${table} where session_id = ? limit 1`, [id]).length > 0;

function* readMerged(copies: readonly Copy[], onBytes: (bytes: number) => void, outputs: Outputs): Events {
  const readers = copies.map((copy) => createReader(copy, outputs));
  const merged = mergeCopies(readers.map((reader) => [...reader.messages(onBytes)]));
  for (const [message, last] of withLast(merged)) yield* message.emit(last);
  // The copy that changed last has the title and the folder of now.
  const order = copies.map((copy, at) => ({ copy, reader: readers[at] }));
  order.sort((a, b) => (b.copy.session.updatedAt ?? 0) - (a.copy.session.updatedAt ?? 0));
  return joined(
    order.flatMap(({ reader }) => reader?.finish({}) ?? []),
    order.flatMap(({ copy }) => tokenColumns(copy.row) ?? []),
  );
}

/** What is known of a session whose messages are those of several copies; the first copy's facts win. */
function joined(summaries: readonly SessionSummary[], columns: readonly TokenUsage[]): SessionSummary | undefined {
  const [first] = summaries;
  if (!first) return undefined;
  const ledger = createLedger();
  for (const reply of summaries.flatMap(({ replies = [] }) => replies)) ledger.add(reply);
  const counted = ledger.summary();
  const pickFirst = (name: "title" | "assistantVersion" | "cwd" | "parent" | "forkedFrom") =>
    summaries.map((one) => one[name]).find((value) => value !== undefined);
  const unknown: Record<string, number> = {};
  for (const [name, count] of summaries.flatMap(({ skipped }) => Object.entries(skipped?.unknown ?? {})))
    unknown[name] = (unknown[name] ?? 0) + count;
  // Each copy's own row counts what that copy spent beyond its messages.
  const paid = total(Object.values(counted.usage));
  const [left] = columns
    .flatMap((one) => rest(one, paid) ?? [])
    .sort((a, b) => b.input + b.output - a.input - a.output);
  return {
    ...counted,
    title: pickFirst("title"),
    assistantVersion: pickFirst("assistantVersion"),
    cwd: pickFirst("cwd"),
    parent: pickFirst("parent"),
    forkedFrom: pickFirst("forkedFrom"),
    startedAt: earliest(summaries.map(({ startedAt }) => startedAt)),
    endedAt: latest(summaries.map(({ endedAt }) => endedAt)),
    skipped: { lines: summaries.reduce((sum, { skipped }) => sum + (skipped?.lines ?? 0), 0), unknown },
    ...(left && { unlogged: left }),
  };
}

function total(usages: readonly TokenUsage[]): TokenUsage {
  const sum: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };
  for (const usage of usages) for (const name of USAGE) sum[name] += usage[name];
  return sum;
}
const USAGE = ["input", "output", "cacheRead", "cacheWrite5m", "cacheWrite1h"] as const;

const createReader = (copy: Copy, outputs: Outputs): Reader =>
  copy.tables === VERSION_2 ? readerOf2(copy, outputs) : readerOf1(copy, outputs);

function readerOf2({ db, session }: Copy, outputs: Outputs): Reader {
  const parser = createMessageParser(session, outputs);
  const columns = presentColumns(db, "session_message", ["id", "type", "data", "time_created"]).join(", ");
  return {
    *messages(onBytes) {
      const order = db.columns("session_message").includes("seq") ? "seq" : "id";
      const sql = `select ${columns} from session_message where session_id = ? order by ${order}`;
      for (const raw of db.iterate<Raw>(sql, [session.id])) {
        if (typeof raw.data === "string") onBytes(raw.data.length);
        const [id, type] = [toText(raw.id), toText(raw.type)];
        if (id === undefined || type === undefined) {
          parser.bad();
          continue;
        }
        const row: MessageRow = { id, type, createdAt: toNumber(raw.time_created), data: parseRecord(raw.data) };
        yield { ...saidIn2(row), emit: (last) => parser.message(row, last) };
      }
    },
    finish: (row) => parser.finish(tokenColumns(row)),
  };
}

/** Rows without a number come last. */
const numbered = (columns: ReadonlySet<string>) => (columns.has("sequence") ? "sequence is null, sequence, " : "");

/** One message's parts in memory at a time. */
function readerOf1({ db, tables, session }: Copy, outputs: Outputs): Reader {
  const columns = toColumns(db, "message");
  session.isNumbered = columns.has("sequence");
  const requests = tables.rows.includes("model_usage") ? findRequests(db, session.id) : undefined;
  const parser = createParser(session, outputs, requests);
  const order = `${numbered(columns)}${columns.has("time_created") ? "time_created, id" : "id"}`;
  const partColumns = toColumns(db, "part");
  const partSql = `select id, data${partColumns.has("time_created") ? ", time_created" : ""} from part where message_id = ? order by ${numbered(partColumns)}id`;

  return {
    *messages(onBytes) {
      const toRow = (raw: Raw): Row | undefined => {
        const rowId = toText(raw.id);
        if (rowId === undefined) {
          parser.bad();
          return undefined;
        }
        if (typeof raw.data === "string") onBytes(raw.data.length);
        return { id: rowId, createdAt: toNumber(raw.time_created), data: parseRecord(raw.data) };
      };
      const toParts = (message: Row): Row[] =>
        partColumns.has("message_id") ? db.all<Raw>(partSql, [message.id]).flatMap((raw) => toRow(raw) ?? []) : [];
      for (const raw of db.iterate<Raw>(`${messageSql(columns)} order by ${order}`, [session.id])) {
        const row = toRow(raw);
        if (!row) continue;
        const parts = toParts(row);
        yield { ...saidIn1(row, parts), emit: (last) => parser.message(row, parts, last) };
      }
    },
    finish: () => parser.finish(),
  };
}

function saidIn1({ id, createdAt, data }: Row, parts: readonly Row[]): Said {
  const all = parts.map((part) => part.data ?? {});
  const texts = all.filter(({ type }) => type === "text");
  const text = texts
    .map((part) => toText(part.text) ?? "")
    .join("\n")
    .trim();
  const held = all.map((part) => makeText(part.text).length + makeText(toRecord(part.state).output).length);
  const isMade = texts.length > 0 && texts.every(({ synthetic }) => synthetic === true);
  const role = data?.summary === true ? "compaction" : isMade ? "note" : (toText(data?.role) ?? "");
  const at = toNumber(toRecord(data?.time).created) ?? createdAt;
  return { id, role, at, text, weight: weigh(held, toUsage(toRecord(data?.tokens))) };
}

function saidIn2({ id, type, createdAt, data = {} }: MessageRow): Said {
  const parts = toList(data.content).map(toRecord);
  const own = type === "assistant" ? parts.filter((part) => part.type === "text") : [data];
  const text = own
    .map((part) => toText(part.text) ?? toText(part.summary) ?? "")
    .join("\n")
    .trim();
  const held = parts.map((part) => makeText(part.text).length + contentText(toRecord(part.state).content).length);
  const role = /^(user|assistant|compaction)$/.test(type) ? type : "note";
  const at = toNumber(toRecord(data.time).created) ?? createdAt;
  const more = type === "assistant" ? 0 : text.length;
  return { id, role, at, text, weight: weigh([...held, more], makeTokens(toRecord(data.tokens))) };
}

const makeText = (value: unknown): string => (typeof value === "string" ? value : "");

const weigh = (lengths: readonly number[], usage: LooseUsage): number =>
  [...lengths, ...Object.values(toTokens(usage))].reduce((sum, length) => sum + length, 0);

/** A session's tokens by its own columns; undefined where they are missing. */
function tokenColumns(row: Raw): TokenUsage | undefined {
  if (row.tokens_input === undefined) return undefined;
  return toTokens(
    makeTokens({
      input: row.tokens_input,
      output: row.tokens_output,
      reasoning: row.tokens_reasoning,
      cache: { read: row.tokens_cache_read, write: row.tokens_cache_write },
    }),
  );
}

const messageSql = (columns: ReadonlySet<string>) =>
  `select id, data${columns.has("time_created") ? ", time_created" : ""} from message where session_id = ?`;

function findWorktree(db: SqliteFile, row: Raw): string | undefined {
  const project = toText(row.project_id);
  if (!project || !toColumns(db, "project").has("worktree")) return undefined;
  return toText(db.all<Raw>("select worktree from project where id = ?", [project])[0]?.worktree);
}

/**
 * A fork has no pointer to its origin, only copies of its messages, older than itself. The origin is the session of the same
 * project in which the last of those copies was written at that very time and for the first time.
 */
function forkOrigin(db: SqliteFile, session: SessionRow, row: Raw): string | undefined {
  const project = toText(row.project_id);
  const columns = toColumns(db, "message");
  if (!project || session.createdAt === undefined || !columns.has("time_created")) return undefined;
  const [copy] = db.all<Raw>("select max(time_created) as at from message where session_id = ? and time_created < ?", [
    session.id,
    session.createdAt,
  ]);
  const at = toNumber(copy?.at);
  if (at === undefined) return undefined;
  const [origin] = db.all<Raw>(
    "select s.id as id from session s where s.project_id = ? and s.id <> ? and s.time_created <= ? " +
      "and exists (select 1 from message m where m.session_id = s.id and m.time_created = ?) order by s.time_created limit 1",
    [project, session.id, at, at],
  );
  return toText(origin?.id);
}
