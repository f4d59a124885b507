/**
 * Who asked for what, when, and whether it was answered. Entries of requests that run at the same time are stored together. While the database has
 * no room the newest entries wait in memory, so that reading goes on; they are stored once there is room again.
 */
import { type Database, isSessarcError, type Statement } from "sessarc";
import { newId } from "./secrets.ts";

export interface AccessEntry {
  at: number;
  person: string | null;
  device: string | null;
  remote: string;
  method: string;
  /** Without the query, which may hold the text of a search. */
  path: string;
  status: number;
  /** Of the error, where the request was refused. */
  code: string | null;
}

export type AccessLog = ReturnType<typeof createAccessLog>;

const LONGEST_PATH = 500;
/** Entries of one transaction. */
const TOGETHER = 200;
/** Entries that wait for room; the oldest are dropped first. */
const MOST_WAITING = 10_000;

export function createAccessLog(db: Database, tenant: number, log: (line: string) => void) {
  const waiting: Statement[] = [];
  let writing: Promise<void> | undefined;
  let isFull = false;
  let dropped = 0;

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, TOGETHER);
      try {
        await db.batch(batch);
      } catch (error) {
        if (!isSessarcError(error) || error.code !== "STORAGE_FULL") {
          // Their requests are answered with the error.
          waiting.splice(0, batch.length);
          throw error;
        }
        if (!isFull) log("The database has no room for the access log: entries wait in memory until it has.");
        isFull = true;
        dropped += waiting.splice(0, waiting.length - MOST_WAITING).length;
        return;
      }
      waiting.splice(0, batch.length);
    }
    if (isFull) log(`The access log is stored again${dropped > 0 ? `; ${dropped} entries were lost` : ""}.`);
    isFull = false;
    dropped = 0;
  }

  return {
    /** Resolves when the entry is stored, or waits because the database is full: an answer leaves after its entry. */
    add(entry: AccessEntry): Promise<void> {
      const { at, person, device, remote, method, path, status, code } = entry;
      waiting.push([
        `insert into team_access (tenant, at, id, person, device, remote, method, path, status, code)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [tenant, at, newId(4), person, device, remote, method, path.slice(0, LONGEST_PATH), status, code],
      ]);
      writing ??= flush().finally(() => {
        writing = undefined;
      });
      return writing;
    },

    /** Entries that are not stored yet. */
    get waiting(): number {
      return waiting.length;
    },

    /** Newest first. `person`: of one person alone. */
    async list(
      person: string | null,
      before: number,
      limit: number,
    ): Promise<(Omit<AccessEntry, "at"> & { at: string })[]> {
      const rows = await db.all<AccessEntry>(
        `select at, person, device, remote, method, path, status, code from team_access
         where tenant = ? and at < ? and (cast(? as text) is null or person = ?) order by at desc, id limit ?`,
        [tenant, before, person, person, limit],
      );
      return rows.map((row) => ({ ...row, at: new Date(row.at).toISOString() }));
    },

    async prune(days: number): Promise<void> {
      await db.run("delete from team_access where tenant = ? and at < ?", [tenant, Date.now() - days * 86_400_000]);
    },
  };
}
