/** Removes sessions from every table, and counts again the replies that others share with them. */
import { type Kernel, marks, pages, SessarcError, type Statement, toMessage } from "sessarc";
import { toTexts } from "../../portable/read.ts";
import type { Job, Jobs } from "./jobs.ts";
import type { ImportKernel, ImportParts } from "./kernel.ts";
import type { PushedManifest } from "./manifest-schema.ts";
import { type Push, type ReadStored, type StoredSession, toFacts } from "./sessions.ts";
import { findText, type ReadBeside } from "./text.ts";
import { isLarge, type Weigh } from "./weigh.ts";

/** Sessions that are counted at once. */
const TOGETHER = 24;

export type Erase = ReturnType<typeof createErase>;

export function createErase(
  { database, tenant, log }: Pick<ImportParts, "database" | "tenant" | "log">,
  {
    importing,
    jobs,
    stored,
    weigh,
    readBeside,
  }: { importing: ImportKernel; jobs: Jobs; stored: ReadStored; weigh: Weigh; readBeside: ReadBeside },
) {
  const { owner } = database;
  const { current, kernelFor, locked } = importing;

  /**
   * Sessions, and the sub-agents that go with them, out of every table. Sessions that share replies with them count those from now on.
   * `before` is called with each of `ids` and the sessions that are about to be removed with it.
   */
  async function erase(
    used: Kernel,
    ids: readonly string[],
    before: (id: string, erased: readonly StoredSession[]) => Promise<void>,
  ): Promise<void> {
    const gone: string[] = [];
    let now = "";
    const off = used.hooks.hook("session:erase", async ({ ids: all, write }) => {
      gone.push(...all);
      await before(now, [...(await stored(all)).values()]);
      write.push(...(await toRecount(used, all)));
    });
    try {
      for (const id of ids) {
        if (gone.includes(id)) continue;
        now = id;
        const answer = await used.fetch(`/api/sessions/${encodeURIComponent(id)}`, { method: "DELETE" });
        if (answer.status !== 200 && answer.status !== 404)
          throw new SessarcError("TEAM_PUSH_FAILED", { id, reason: `removing it answered ${answer.status}` });
      }
    } finally {
      off();
    }
    await recount();
  }

  /** Marks the sessions that have replies of `ids`, in the transaction in which `ids` lose them: a kill before `recount` loses nothing. */
  async function toRecount(used: Kernel, ids: readonly string[]): Promise<Statement[]> {
    const rows = await used.storage.db.all<{ session_id: string }>(
      `select distinct s.session_id from session_replies mine
       join reply r on r.book = mine.n join reply o on o.hash = r.hash and o.book <> r.book
       join session_replies s on s.n = o.book
       where mine.session_id in (${marks(ids)})`,
      ids,
    );
    const sharers = rows.flatMap(({ session_id }) => (ids.includes(session_id) ? [] : session_id));
    return sharers.map((session) => [
      "update team_session set recount = 1 where tenant = ? and session = ?",
      [tenant, session],
    ]);
  }

  /** Counts the replies of marked sessions again. */
  async function recount(): Promise<void> {
    const marked = await owner.all<{ session: string }>(
      "select session from team_session where tenant = ? and recount = 1 and manifest <> ''",
      [tenant],
    );
    for (const some of pages(marked, TOGETHER)) await recountSome(some.map(({ session }) => session));
  }

  async function recountSome(ids: readonly string[]): Promise<void> {
    const rows = [...(await stored(ids)).values()];
    const pushes: { id: string; push: Push & Pick<StoredSession, "reader"> }[] = [];
    for (const { session, ...row } of rows) {
      const push = { ...row, manifest: JSON.parse(row.manifest) as PushedManifest };
      const weight = await weigh(push);
      if (isLarge(weight)) jobs.add(recountJob(session, push, weight.bytes));
      else pushes.push({ id: session, push });
    }
    if (pushes.length === 0) return;
    const used = await kernelFor(pushes.map(toFacts));
    await used.storage.db.batch(
      pushes.map(({ id }): Statement => ["update session set format = 0 where id = ?", [id]]),
    );
    for (const { id, push } of pushes) current.set(id, { ...push, text: toTexts(push.manifest).length - 1 });
    try {
      await used.inject("importer").runFound(
        pushes.flatMap(({ id, push }) => findText(used, id, push, toTexts(push.manifest).length - 1)),
        new Set(),
      );
    } finally {
      for (const { id } of pushes) current.delete(id);
    }
  }

  /** Of a large session. Its mark stays until it is counted. */
  function recountJob(id: string, push: Push & Pick<StoredSession, "reader">, bytes: number): Job {
    const fail = (error: unknown) => log(`The replies of ${id} are counted later: ${toMessage(error)}`);
    const run = async () => {
      await locked(({ db }) => db.batch([["update session set format = 0 where id = ?", [id]]]));
      const last = toTexts(push.manifest).length - 1;
      const problem = await readBeside({ id, push, reader: push.reader }, last);
      if (problem !== undefined) throw problem;
    };
    return { person: push.person, fail, run: async () => {}, beside: { bytes, run } };
  }

  return { erase, toRecount, recount };
}
