/** When each hook last asked. */
import type { Database, Statement } from "sessarc";

/** Shortest time between two writes for a hook. */
const FIRED_MS = 10_000;

export function createFired(db: Database) {
  const fired = new Map<string, { id: string; at: string; written: number }>();
  return {
    /** The statement that stores it; undefined shortly after another. */
    record(tool: string, id: string, at: Date): Statement | undefined {
      const iso = at.toISOString();
      const known = fired.get(tool);
      // The wall clock may be set back.
      const now = performance.now();
      const due = known?.id !== id || now - known.written > FIRED_MS;
      fired.set(tool, { id, at: iso, written: due ? now : (known?.written ?? now) });
      return due
        ? [
            "insert into guard_fired (tool, hook, at) values (?, ?, ?) on conflict (tool) do update set hook = excluded.hook, at = excluded.at",
            [tool, id, iso],
          ]
        : undefined;
    },
    async last(tool: string, id: string): Promise<string | null> {
      const known = fired.get(tool);
      if (known?.id === id) return known.at;
      const row = await db.get<{ at: string }>("select at from guard_fired where tool = ? and hook = ?", [tool, id]);
      return row?.at ?? null;
    },
  };
}
