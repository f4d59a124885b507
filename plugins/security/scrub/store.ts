/** SQL of scrubs. */
import type { Database, Statement } from "sessarc";
import type { MaskKey } from "./keys.ts";

export interface ScrubFileRow {
  path: string;
  session: string;
  backup: string;
  /** SHA-256 of the log at first, which the copy has; and of what it is now. */
  before: string;
  after: string;
  /** SHA-256 of what it was before its last change, where an earlier scrub had changed it: a kill may leave it as that. */
  was: string | null;
  at: string;
}

export interface RevokedRow {
  id: string;
  rule_id: string;
  masked: string;
  /** Null: it is marked otherwise, or not at all. */
  state: string | null;
  /** JSON of MaskKey[]; null: nothing of it was removed yet. */
  keys: string | null;
}

const IN = "in (select value from json_each(?))";

export function createScrubStore(db: Database) {
  // Every import asks, for each of its sessions. One process has the archive, so that nothing changes elsewhere.
  const withFiles = remember(async () => {
    const rows = await db.all<{ session: string }>("select distinct session from security_scrub_file");
    return new Set(rows.map(({ session }) => session));
  });
  /** Whether anything was ever removed. */
  const scrubbed = remember(async () => {
    const row = await db.get<{ one: number }>("select 1 as one from security_scrub_session limit 1");
    return { any: row !== undefined };
  });

  return {
    /** Secrets that are marked as revoked or were removed before; with `ids` these, whatever their state. */
    secrets: (ids: readonly string[] | undefined) =>
      db.all<RevokedRow>(
        `select f.id, coalesce(s.rule_id, l.rule_id) as rule_id, coalesce(s.masked, l.masked) as masked, m.state, s.keys
         from (select distinct fingerprint as id from security_leak union select fingerprint from security_scrub) f
           left join (select fingerprint, min(rule_id) as rule_id, min(masked) as masked from security_leak group by fingerprint) l
             on l.fingerprint = f.id
           left join security_mark m on m.fingerprint = f.id
           left join security_scrub s on s.fingerprint = f.id
         where ${ids ? `f.id ${IN}` : "m.state = 'rotated'"} order by f.id`,
        ids ? [JSON.stringify(ids)] : [],
      ),
    /** Sessions that hold one of them, as far as the inbox knows, or did. */
    sessions: async (ids: readonly string[]) =>
      new Set(
        (
          await db.all<{ session: string }>(
            `select session from security_leak where fingerprint ${IN}
             union select session from security_scrub_session where fingerprint ${IN}`,
            [JSON.stringify(ids), JSON.stringify(ids)],
          )
        ).map(({ session }) => session),
      ),
    /** Sessions that may be written at this moment. A database is written for any of its sessions. */
    active: async (since: number) =>
      new Set(
        (
          await db.all<{ id: string }>(
            "select id from session where missing = 0 and (exclusive = 1 and source_mtime > ? or exclusive = 0 and sort_at > ?)",
            [since, since],
          )
        ).map(({ id }) => id),
      ),
    /** Written before anything is removed: whatever happens then, the logs of these sessions are read without the secrets. */
    async begin(
      secrets: readonly { id: string; rule_id: string; masked: string; keys: readonly MaskKey[] }[],
      sessions: ReadonlyMap<string, number>,
      at: string,
    ): Promise<Statement[]> {
      (await scrubbed()).any = true;
      return [
        ...secrets.map(
          ({ id, rule_id, masked, keys }): Statement => [
            `insert into security_scrub (fingerprint, rule_id, masked, keys, at) values (?, ?, ?, ?, ?)
           on conflict (fingerprint) do update set at = excluded.at`,
            [id, rule_id, masked, JSON.stringify(keys), at],
          ],
        ),
        ...[...sessions].flatMap(([session, count]) =>
          secrets.map(
            ({ id }): Statement => [
              `insert into security_scrub_session (session, fingerprint, count, at, original) values (?, ?, ?, ?, 0)
             on conflict (session, fingerprint) do update set at = excluded.at,
               count = security_scrub_session.count + excluded.count`,
              [session, id, count, at],
            ],
          ),
        ),
      ];
    },
    /** Keys of what was removed, by session. */
    async keysOf(sessions: readonly string[]): Promise<Map<string, MaskKey[]>> {
      if (!(await scrubbed()).any) return new Map();
      const rows = await db.all<{ session: string; keys: string }>(
        `select t.session, s.keys from security_scrub_session t join security_scrub s on s.fingerprint = t.fingerprint
         where t.session ${IN}`,
        [JSON.stringify(sessions)],
      );
      const found = new Map<string, MaskKey[]>();
      for (const { session, keys } of rows)
        found.set(session, [...(found.get(session) ?? []), ...(JSON.parse(keys) as MaskKey[])]);
      return found;
    },
    removed: (session: string) =>
      db.get<{ count: number; at: string | null; original: number }>(
        `select coalesce(max(count), 0) as count, max(at) as at, coalesce(min(original), 0) as original
         from security_scrub_session where session = ?`,
        [session],
      ),
    async counted() {
      const [secrets, sessions] = await Promise.all([
        db.all<{ fingerprint: string; rule_id: string; masked: string }>(
          "select fingerprint, rule_id, masked from security_scrub order by at desc, fingerprint",
        ),
        db.get<{ n: number }>("select count(distinct session) as n from security_scrub_session"),
      ]);
      return { secrets, sessions: sessions?.n ?? 0 };
    },
    files: async (session?: string): Promise<ScrubFileRow[]> =>
      session !== undefined && !(await withFiles()).has(session)
        ? []
        : db.all<ScrubFileRow>(
            `select * from security_scrub_file ${session === undefined ? "" : "where session = ?"} order by path`,
            session === undefined ? [] : [session],
          ),
    file: (path: string) => db.get<ScrubFileRow>("select * from security_scrub_file where path = ?", [path]),
    async putFile({ path, session, backup, before, after, was, at }: ScrubFileRow): Promise<void> {
      (await withFiles()).add(session);
      await db.run(
        `insert into security_scrub_file (path, session, backup, before, after, was, at) values (?, ?, ?, ?, ?, ?, ?)
         on conflict (path) do update set session = excluded.session, backup = excluded.backup, before = excluded.before,
           after = excluded.after, was = excluded.was, at = excluded.at`,
        [path, session, backup, before, after, was, at],
      );
    },
    forgetFile: (path: string) => db.run("delete from security_scrub_file where path = ?", [path]),
    /** Whether the log at the assistant is without them, too. */
    setOriginal: (session: string, original: boolean) =>
      db.run("update security_scrub_session set original = ? where session = ?", [original ? 1 : 0, session]),
  };
}

/** Reads once; a failure is forgotten. */
function remember<T>(read: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined;
  return () => {
    known ??= read();
    known.catch(() => {
      known = undefined;
    });
    return known;
  };
}

export type ScrubStore = ReturnType<typeof createScrubStore>;
