/** Bookmarks, tags and notes on sessions and messages. Service "notes". */
import { type Kernel, SessarcError, type SessionEvent, type SqlValue, type Statement } from "sessarc";
import { oneLine, printable } from "sessarc/terminal";
import "./errors.ts";
import { toFingerprint } from "./fingerprint.ts";

/** What is said of a session, or of one of its messages. */
export interface Mark {
  session: string;
  /** Number of the message; null for the session itself, and for a message that its log no longer has. */
  seq: number | null;
  /** What it is about. */
  of: "session" | "message";
  bookmarked: boolean;
  tags: string[];
  note: string;
  /** The beginning of the message; empty for a session. */
  excerpt: string;
  updatedAt: string;
}
interface MarkedSession {
  /** Null while the session is not in the archive. */
  label: string | null;
  projectId: string | null;
}
export type ListedMark = Mark & MarkedSession;

/** What is left out is unchanged. */
export interface MarkChange {
  /** A message; default the session itself. */
  seq?: number | undefined;
  bookmarked?: boolean | undefined;
  note?: string | undefined;
  tags?: readonly string[] | undefined;
}
export interface MarkFilter {
  session?: string | undefined;
  tag?: string | undefined;
  bookmarked?: boolean | undefined;
  /** Part of the note, the tag or the excerpt. */
  q?: string | undefined;
}

/** Which sessions a search is about. Of lists in `tags` each must hold, with any of its tags. */
export interface MarkChoice {
  tags: readonly (readonly string[])[];
  notTags: readonly string[];
  bookmarked: boolean | null;
}

export interface Notes {
  /** Newest first. */
  list(filter: MarkFilter): Promise<ListedMark[]>;
  /** Throws SESSION_NOT_FOUND, NOTE_MESSAGE_NOT_FOUND. A mark without anything in it is removed; the answer is null then. */
  set(session: string, change: MarkChange): Promise<Mark | null>;
  tags(): Promise<{ tag: string; count: number }[]>;
  /** Ids of the sessions that have the marks themselves or on a message. */
  choose(choice: MarkChoice): Promise<ReadonlySet<string>>;
  /** What a document of the session says of them, a line each: those of the session first, then by message. */
  lines(session: string): Promise<string[]>;
  /** Finds the messages of a session again whose numbers may be others. */
  settle(session: string): Promise<void>;
}

const EXCERPT = 200;

interface Row {
  session: string;
  message: string;
  seq: number | null;
  bookmarked: number;
  note: string;
  excerpt: string;
  updated_at: string;
}

const toTag = (text: string): string => text.trim().replace(/\s+/g, "-").toLowerCase();

export function createNotes(kernel: Kernel): Notes {
  const { db } = kernel.storage;
  const archive = kernel.inject("archive");

  async function readTags(rows: readonly Row[]): Promise<Map<string, string[]>> {
    const found = new Map<string, string[]>();
    for (const session of new Set(rows.map((row) => row.session))) {
      const tags = await db.all<{ message: string; tag: string }>(
        "select message, tag from note_tag where session = ? order by tag",
        [session],
      );
      for (const { message, tag } of tags) {
        const key = `${session}\0${message}`;
        found.set(key, [...(found.get(key) ?? []), tag]);
      }
    }
    return found;
  }

  const toMark = (row: Row, tags: readonly string[]): Mark => ({
    session: row.session,
    seq: row.seq,
    of: row.message === "" ? "session" : "message",
    bookmarked: row.bookmarked === 1,
    tags: [...tags],
    note: row.note,
    excerpt: row.excerpt,
    updatedAt: row.updated_at,
  });

  async function messageAt(session: string, seq: number): Promise<SessionEvent> {
    const row = await archive.get(session);
    for await (const events of archive.events(row, seq)) {
      const event = events.find((one) => one.seq === seq);
      if (event) return event;
      if (events.some((one) => one.seq > seq)) break;
    }
    throw new SessarcError("NOTE_MESSAGE_NOT_FOUND", { id: session, seq });
  }

  const service: Notes = {
    async list({ session, tag, bookmarked, q }) {
      const conditions: string[] = ["true"];
      const params: SqlValue[] = [];
      const add = (sql: string, ...values: SqlValue[]) => {
        conditions.push(sql);
        params.push(...values);
      };
      const tagged = "exists (select 1 from note_tag t where t.session = m.session and t.message = m.message and";
      if (session !== undefined) add("m.session = ?", session);
      if (tag !== undefined) add(`${tagged} t.tag = ?)`, toTag(tag));
      if (bookmarked !== undefined) add("m.bookmarked = ?", bookmarked ? 1 : 0);
      if (q !== undefined && q !== "") {
        const like = `%${q.replace(/[\\%_]/g, "\\$&")}%`;
        add(
          `(m.note like ? escape '\\' or m.excerpt like ? escape '\\' or ${tagged} t.tag like ? escape '\\'))`,
          like,
          like,
          like,
        );
      }
      const rows = await db.all<Row & { label: string | null; project: string | null }>(
        `select m.*, substr(coalesce(s.name, s.title, s.first_prompt, s.id), 1, 160) as label, s.project_id as project
         from note_mark m left join session s on s.id = m.session
         where ${conditions.join(" and ")} order by m.updated_at desc, m.session, m.seq`,
        params,
      );
      const tags = await readTags(rows);
      return rows.map((row) => ({
        ...toMark(row, tags.get(`${row.session}\0${row.message}`) ?? []),
        label: row.label,
        projectId: row.project,
      }));
    },

    async set(session, { seq, bookmarked, note, tags }) {
      const { id } = await archive.session(session);
      const event = seq === undefined ? undefined : await messageAt(id, seq);
      const message = event ? toFingerprint(event) : "";
      const known = await db.get<Row>("select * from note_mark where session = ? and message = ?", [id, message]);
      const before = await db.all<{ tag: string }>("select tag from note_tag where session = ? and message = ?", [
        id,
        message,
      ]);
      const row: Row = {
        session: id,
        message,
        seq: seq ?? null,
        bookmarked: (bookmarked ?? known?.bookmarked === 1) ? 1 : 0,
        note: note?.trim() ?? known?.note ?? "",
        excerpt: event ? oneLine(printable(event.text)).slice(0, EXCERPT) : "",
        updated_at: new Date().toISOString(),
      };
      const next = tags
        ? [...new Set(tags.map(toTag))].filter((tag) => tag !== "").sort()
        : before.map(({ tag }) => tag);
      const isEmpty = row.bookmarked === 0 && row.note === "" && next.length === 0;
      const write: Statement[] = [
        ["delete from note_mark where session = ? and message = ?", [id, message]],
        ["delete from note_tag where session = ? and message = ?", [id, message]],
      ];
      if (!isEmpty) {
        const { bookmarked, note, excerpt, updated_at } = row;
        write.push([
          "insert into note_mark values (?, ?, ?, ?, ?, ?, ?)",
          [id, message, row.seq, bookmarked, note, excerpt, updated_at],
        ]);
        for (const tag of next) write.push(["insert into note_tag values (?, ?, ?)", [id, message, tag]]);
      }
      await db.batch(write);
      return isEmpty ? null : toMark(row, next);
    },

    tags: () => db.all("select tag, count(*) as count from note_tag group by tag order by 2 desc, 1"),

    async choose({ tags, notTags, bookmarked }) {
      const having = (list: readonly string[]) =>
        `select session from note_tag where tag in (${list.map(() => "?").join(", ")})`;
      const conditions: string[] = ["true"];
      const params: SqlValue[] = [];
      for (const list of tags) {
        conditions.push(`id in (${having(list)})`);
        params.push(...list.map(toTag));
      }
      if (notTags.length > 0) {
        conditions.push(`id not in (${having(notTags)})`);
        params.push(...notTags.map(toTag));
      }
      if (bookmarked !== null)
        conditions.push(`id ${bookmarked ? "" : "not "}in (select session from note_mark where bookmarked = 1)`);
      const rows = await db.all<{ id: string }>(`select id from session where ${conditions.join(" and ")}`, params);
      return new Set(rows.map(({ id }) => id));
    },

    async lines(session) {
      const marks = await service.list({ session });
      const place = ({ of, seq }: Mark) => (of === "session" ? -1 : (seq ?? Number.MAX_SAFE_INTEGER));
      return marks
        .sort((a, b) => place(a) - place(b))
        .map(({ of, seq, bookmarked, tags, note }) => {
          const about = of === "session" ? "" : seq === null ? "A message that is gone: " : `Message ${seq}: `;
          return about + [bookmarked ? "★" : "", ...tags.map((tag) => `#${tag}`), note].filter(Boolean).join(" ");
        });
    },

    async settle(session) {
      const marks = await db.all<Row>("select * from note_mark where session = ? and message <> ''", [session]);
      if (marks.length === 0) return;
      const row = await archive.find(session);
      const places = new Map<string, number[]>();
      if (row)
        for await (const events of archive.events(row))
          for (const event of events) {
            const message = toFingerprint(event);
            if (marks.some((one) => one.message === message))
              places.set(message, [...(places.get(message) ?? []), event.seq]);
          }
      const write = marks.flatMap(({ message, seq }): Statement[] => {
        // Of equal messages the one that is nearest to where it was.
        const near = (one: number) => Math.abs(one - (seq ?? 0));
        const now = places.get(message)?.sort((a, b) => near(a) - near(b))[0] ?? null;
        return now === seq
          ? []
          : [["update note_mark set seq = ? where session = ? and message = ?", [now, session, message]]];
      });
      if (write.length > 0) await db.batch(write);
    },
  };
  return service;
}
