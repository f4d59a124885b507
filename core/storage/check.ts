/** SQLite's own check of the catalogue. It reads every page without a pause, so it runs on a second copy that no other query uses. */
import { isSessarcError } from "../errors/error.ts";
import { toMessage } from "../utils/async.ts";
import type { Database } from "./types.ts";

/**
 * Checks `copy`, what is stored opened for reading only, and closes it. Returns the first fault in SQLite's words, with the table's name
 * where it has one; undefined when there is none. Rejects with a signal's reason as soon as it aborts.
 */
export async function checkCatalogue(
  copy: Database,
  ...signals: (AbortSignal | undefined)[]
): Promise<string | undefined> {
  const signal = AbortSignal.any(signals.filter((one) => one !== undefined));
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
  });
  try {
    return await Promise.race([aborted, findFault(copy)]);
  } finally {
    signal.removeEventListener("abort", abort);
    await copy.close(0);
  }
}

async function findFault(db: Database): Promise<string | undefined> {
  const first = await faultIn(db);
  if (first === undefined) return undefined;
  // The check of everything includes the free list and unused pages, but does not name the table.
  for (const { name } of await db.all<{ name: string }>("select name from sqlite_master where type = 'table'")) {
    const fault = await faultIn(db, name);
    if (fault !== undefined) return `${name}: ${fault}`;
  }
  return first;
}

async function faultIn(db: Database, table?: string): Promise<string | undefined> {
  const what = table === undefined ? "1" : `'${table.replaceAll("'", "''")}'`;
  try {
    const row = await db.get<{ integrity_check: string }>(`pragma integrity_check(${what})`);
    const said = row?.integrity_check ?? "no answer";
    return said === "ok" ? undefined : said.replace(/^\*{3} in database \w+ \*{3}\n/, "");
  } catch (error) {
    // The check reads the rows, too, and SQLite reports a row it cannot read as an error.
    let reason = error;
    while (reason instanceof Error && reason.cause) reason = reason.cause;
    if (isSessarcError(reason)) throw reason;
    return toMessage(reason);
  }
}
