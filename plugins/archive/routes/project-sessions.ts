/**
 * Removes all sessions of a project, or attributes them to another one, in batches that are committed separately, so that twenty thousand do not
 * block other requests. Repeating the request finishes what an error, a close or a kill left undone.
 */

import { isSessarcError, type Kernel, marks, SessarcError } from "sessarc";
import { formatCount } from "sessarc/terminal";
import { erasedWith } from "../import/write.ts";

/** Sessions in a batch: about 8 ms, and one fsync. */
const AT_ONCE = 40;

/** Ends of what is under way. */
const ends = new WeakMap<Kernel, Promise<void>>();

/**
 * Does `work` when all others that move or remove the sessions of projects are done: what moved to a project that went meanwhile, or whose
 * association did, would be led to by nothing any more.
 */
export function inTurn<T>(kernel: Kernel, work: () => Promise<T>): Promise<T> {
  const answer = (ends.get(kernel) ?? Promise.resolve()).then(work);
  const end = () => {};
  ends.set(kernel, answer.then(end, end));
  return answer;
}

/** Ids of a project's sessions. */
export async function readSessions({ storage: { db } }: Kernel, project: string): Promise<string[]> {
  const rows = await db.all<{ id: string }>("select id from session where project_id = ? order by id", [project]);
  return rows.map(({ id }) => id);
}

/** Removes the sessions of a project, between two runs. Yields each batch when it is gone. */
export async function* removeSessions(
  kernel: Kernel,
  project: string,
): AsyncGenerator<{ id: string; messages: number }[]> {
  const { storage, inject, closing } = kernel;
  const { db, transcripts } = storage;
  const { store, readers, changed } = inject("archive/open");
  const at = new Date().toISOString();
  let done = 0;
  for (;;) {
    stopWhen(closing);
    const rows = await db.all<{ id: string; messages: number }>(
      `select id, message_count as messages from session where project_id = ? limit ${AT_ONCE}`,
      [project],
    );
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    const parts: [id: string, generations: number[]][] = [];
    for (const id of ids) parts.push([id, await store.generations(id)]);
    await db.batch([...store.removal(ids, at), ...(await erasedWith(kernel, ids))]).catch(after(done));
    done += ids.length;
    changed(ids); // also where a file then cannot be removed
    yield rows;
    await readers.retire(async () => {
      await Promise.all(parts.map(([id, generations]) => transcripts.remove(id, generations)));
    });
  }
}

/** Has the sessions that began in a project count to `project`, or, without one, where they began. */
export async function moveSessions(
  { storage: { db }, inject, closing }: Kernel,
  origin: string,
  project: string | null,
): Promise<void> {
  const { changed } = inject("archive/open");
  let done = 0;
  for (let last = 0; ; ) {
    stopWhen(closing);
    const rows = await db.all<{ id: string; rowid: number }>(
      `select id, rowid from session where origin_id = ? and rowid > ? order by rowid limit ${AT_ONCE}`,
      [origin, last],
    );
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    const move = `update session set project_id = coalesce(?, origin_id) where id in (${marks(ids)})`;
    await db.run(move, [project, ...ids]).catch(after(done));
    changed(ids);
    done += ids.length;
    last = rows.at(-1)?.rowid ?? last;
  }
}

/** For `.catch`: a full disk says what of it is done. */
const after = (done: number) => (error: unknown) => {
  if (done === 0 || !isSessarcError(error) || error.code !== "STORAGE_FULL") throw error;
  throw new SessarcError("STORAGE_FULL", { done: `${formatCount(done)} sessions` }, { cause: error });
};

/** Twenty thousand take longer than a signal waits. */
function stopWhen(closing: AbortSignal): void {
  if (closing.aborted) throw new SessarcError("SHUTTING_DOWN", {});
}
