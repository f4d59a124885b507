/** Transcripts that an import replaced: their files stay for a day, for readers on other nodes and for a backup under way. */
import type { Database, Storage } from "sessarc";

type Transcripts = Storage["transcripts"];

const KEPT_MS = 86_400_000;

export type Replaced = ReturnType<typeof createReplaced>;

export function createReplaced(db: Database, tenant: number, transcripts: Transcripts) {
  const note = async (keys: readonly string[]) => {
    const now = Date.now();
    await db.batch(
      keys.map((key) => [
        "insert into team_left (tenant, key, at) values (?, ?, ?) on conflict do nothing",
        [tenant, key, now],
      ]),
    );
  };

  return {
    /** The same transcripts, whose files are removed later; at once while `isWithdrawn` holds. */
    transcripts(isWithdrawn: () => boolean): Transcripts {
      return {
        ...transcripts,
        remove: (id, generations) =>
          isWithdrawn()
            ? transcripts.remove(id, generations)
            : note(generations.map((generation) => transcripts.keyOf(id, generation))),
        removeKey: (key) => (isWithdrawn() ? transcripts.removeKey(key) : note([key])),
      };
    },

    /** Removes what earlier imports left of a session, now that it is withdrawn. */
    async withdraw(id: string): Promise<void> {
      const row = await db.get<{ generation: number }>(
        "select generation from tombstone where tenant = ? and session_id = ?",
        [tenant, id],
      );
      const keys = Array.from({ length: row?.generation ?? 0 }, (_, i) => transcripts.keyOf(id, i + 1));
      await removeAll(keys);
    },

    /** Removes the files whose day is over. */
    async prune(now = Date.now()): Promise<void> {
      const rows = await db.all<{ key: string }>("select key from team_left where tenant = ? and at < ?", [
        tenant,
        now - KEPT_MS,
      ]);
      await removeAll(rows.map(({ key }) => key));
    },
  };

  async function removeAll(keys: readonly string[]): Promise<void> {
    for (const key of keys) await transcripts.removeKey(key);
    await db.batch(keys.map((key) => ["delete from team_left where tenant = ? and key = ?", [tenant, key]]));
  }
}
