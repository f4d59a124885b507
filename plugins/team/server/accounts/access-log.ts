/** Who asked for what, when, and whether it was answered. Entries of requests that run at the same time are stored together. */
import type { Database, Statement } from "sessarc";
import { newId } from "./secrets.ts";

interface AccessEntry {
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

export function createAccessLog(db: Database, tenant: number) {
  let waiting: Statement[] = [];
  let writing: Promise<void> | undefined;

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await db.batch(batch);
    }
  }

  return {
    /** Resolves when the entry is stored: an answer leaves after its entry. */
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
