/** Removes what people withdraw, and imports that never ended. */
import { marks, type Statement } from "sessarc";
import { idHere } from "./adapters.ts";
import type { Erase } from "./erase.ts";
import type { Jobs } from "./jobs.ts";
import type { ImportKernel, ImportParts } from "./kernel.ts";
import type { ReadStored } from "./sessions.ts";

export interface Removed {
  /** Id in the archive of the machine. */
  id: string;
  digest: string;
  at: string;
}

export function createWithdraw(
  { database, tenant, blobs, replaced }: Pick<ImportParts, "database" | "tenant" | "blobs" | "replaced">,
  {
    importing,
    jobs,
    stored,
    erase,
  }: { importing: ImportKernel; jobs: Jobs; stored: ReadStored; erase: Erase["erase"] },
) {
  const { owner } = database;
  const { kernelFor } = importing;

  /**
   * Removes sessions of a machine everywhere, with their sub-agents. Ids that were never there are in no receipt; of those that were
   * withdrawn already it has what the first withdrawal removed.
   */
  function withdraw(person: string, machine: string, ids: readonly string[]): Promise<Removed[]> {
    return new Promise((done, fail) =>
      jobs.add({
        person,
        fail,
        run: async () => {
          const wanted = ids.map((id) => idHere(machine, id));
          const before = await stored(wanted);
          // Committed before the rows go: what is removed half is finished by the next request, which answers the same receipt, and no
          // push brings it back until then.
          const at = Date.now();
          const note = (session: string, digest: string, root: string): Statement => [
            `insert into team_withdrawn (tenant, session, digest, at, root) values (?, ?, ?, ?, ?) on conflict (tenant, session) do nothing`,
            [tenant, session, digest, at, root],
          ];
          await owner.batch([...before].map(([session, { digest }]) => note(session, digest, session)));
          if (before.size > 0) {
            const used = await kernelFor([]);
            await importing.withdraw(() =>
              erase(used, [...before.keys()], (root, erased) =>
                owner.batch(erased.map(({ session, digest }) => note(session, digest, root))),
              ),
            );
          }
          const noted = await owner.all<{ session: string; digest: string; at: number }>(
            `select session, digest, at from team_withdrawn
             where tenant = ? and (session in (${marks(wanted)}) or root in (${marks(wanted)})) order by session`,
            [tenant, ...wanted, ...wanted],
          );
          const removed: Removed[] = [];
          for (const { session, digest, at } of noted) {
            // Rows that an interrupted push left have no session that would be erased.
            await importing.db.run("delete from team_session where tenant = ? and session = ?", [tenant, session]);
            await blobs.release(person, session);
            await replaced.withdraw(session);
            removed.push({ id: session.replace(`:${machine}~`, ":"), digest, at: new Date(at).toISOString() });
          }
          done(removed);
        },
      }),
    );
  }

  /** Does `work` while no import is under way on any node. */
  function alone(work: () => Promise<void>): Promise<void> {
    return new Promise((done, fail) => jobs.add({ person: "", fail, run: () => work().then(done) }));
  }

  /** Removes imports that began before `until` (ms) and never ended, and what names chunks for sessions that are gone. */
  function removeHalf(until: number): Promise<void> {
    return alone(async () => {
      const rows = await owner.all<{ session: string; person: string }>(
        "select session, person from team_session where tenant = ? and digest = '' and pushed_at < ?",
        [tenant, new Date(until).toISOString()],
      );
      // Of some of them an earlier text is there.
      if (rows.length > 0)
        await erase(
          await kernelFor([]),
          rows.map(({ session }) => session),
          async () => {},
        );
      for (const { session, person } of rows) {
        await importing.db.run("delete from team_session where tenant = ? and session = ?", [tenant, session]);
        await blobs.release(person, session);
      }
      await owner.run(
        `delete from team_session_blob u where u.tenant = ? and not exists (
           select 1 from team_session s where s.tenant = u.tenant and s.session = u.session)`,
        [tenant],
      );
    });
  }

  return { withdraw, alone, removeHalf };
}
