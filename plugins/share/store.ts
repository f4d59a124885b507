/** SQL of shares, one function per question. */

import { type Database, marks } from "sessarc";

export interface ShareRow {
  id: string;
  token_hash: string;
  session_id: string;
  title: string;
  file_name: string;
  /** JSON. */
  redactions: string;
  created_at: number;
  expires_at: number;
  revoked_at: number | null;
  /** 1 while the frozen copy is on disk. */
  has_body: number;
  views: number;
  /** SHA-256 of the page. */
  checksum: string;
}

const COLUMNS = [
  "id",
  "token_hash",
  "session_id",
  "title",
  "file_name",
  "redactions",
  "created_at",
  "expires_at",
  "revoked_at",
  "has_body",
  "views",
  "checksum",
] as const satisfies readonly (keyof ShareRow)[];

export function createShareStore(db: Database) {
  return {
    all: () => db.all<ShareRow>("select * from share order by created_at desc, id"),
    byId: (id: string) => db.get<ShareRow>("select * from share where id = ?", [id]),
    byHash: (hash: string) => db.get<ShareRow>("select * from share where token_hash = ?", [hash]),
    due: (now: number) =>
      db.all<{ id: string }>(
        "select id from share where has_body = 1 and (expires_at <= ? or revoked_at is not null)",
        [now],
      ),
    insert: (row: ShareRow) =>
      db.run(
        `insert into share (${COLUMNS.join(", ")}) values (${marks(COLUMNS)})`,
        COLUMNS.map((name) => row[name]),
      ),
    revoke: (id: string, at: number) => db.run("update share set revoked_at = ? where id = ?", [at, id]),
    restore: (id: string) => db.run("update share set revoked_at = null where id = ?", [id]),
    /** Ids of shares whose frozen copy should be there. */
    withBody: async () => (await db.all<{ id: string }>("select id from share where has_body = 1")).map(({ id }) => id),
    bodyGone: (id: string) => db.run("update share set has_body = 0 where id = ?", [id]),
    forgetEnded: (now: number) =>
      db.run("delete from share where has_body = 0 and (expires_at <= ? or revoked_at is not null)", [now]),
    viewed: (id: string) => db.run("update share set views = views + 1 where id = ?", [id]),
  };
}
