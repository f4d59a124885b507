/** A database that is open for its sessions, with those beside it that hold copies of them. */

import type { SessionRef } from "sessarc";
import { type OpenLog, openSqliteFile, type SqliteFile } from "sessarc/adapter";
import { listSession, withCopy } from "./database.ts";
import type { Member } from "./family.ts";
import { createOutputs } from "./outputs.ts";
import { readSession } from "./read.ts";

/** What a database holds, by key. */
export interface Held {
  path: string;
  refs: ReadonlyMap<string, Omit<SessionRef, "tool">>;
}

/** `held`: all databases in the order in which they win. Others are opened when one of their sessions is asked for. */
export async function openCopies(path: string, held: readonly Held[], member: Member): Promise<OpenLog> {
  const outputs = createOutputs([path, ...held.map((one) => one.path)]);
  const opened = new Map<string, SqliteFile>([[path, await openSqliteFile(path)]]);
  async function readCopies(key: string): Promise<SqliteFile[]> {
    const found: SqliteFile[] = [];
    for (const place of held.length > 0 ? held.filter(({ refs }) => refs.has(key)) : [{ path }]) {
      const db = opened.get(place.path) ?? (await openSqliteFile(place.path));
      opened.set(place.path, db);
      found.push(db);
    }
    return found;
  }
  return {
    async version({ key }) {
      const listed = (await readCopies(key)).flatMap((db) => listSession(db, key).filter((one) => one.key === key));
      const [first, ...others] = listed;
      return first && others.reduce(withCopy, first).version;
    },
    async *read({ key }, onBytes) {
      return yield* readSession(await readCopies(key), key, onBytes, member, outputs);
    },
    close() {
      for (const db of opened.values()) db.close();
    },
  };
}
