/** Rebuilds the answers of projects after imports, in the background, and only where a hook offers them. */
import type { Kernel } from "sessarc";
import { buildAnswer, DAY_MS } from "./build.ts";
import { createOutcomes } from "./outcomes.ts";
import type { OfferStore } from "./store.ts";

/** Sessions are imported one after another: their project is built once. */
const SETTLE_MS = 2_000;
/** Projects without a session in this time have no answer. */
const RECENT_DAYS = 60;

export function createBuilder(kernel: Kernel, store: OfferStore) {
  const outcomes = createOutcomes(kernel);
  const sessions = new Set<string>();
  let all = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  const failed = (error: unknown) => kernel.notify("listener:failed", error, { hook: "recall" });

  function soon(): void {
    if (timer !== undefined || running || kernel.closing.aborted) return;
    timer = setTimeout(() => {
      timer = undefined;
      running = build()
        .catch(failed)
        .finally(() => {
          running = undefined;
          if (sessions.size > 0 || all) soon();
        });
    }, SETTLE_MS);
    timer.unref();
  }

  async function build(): Promise<void> {
    const ids = [...sessions];
    const wantsAll = all;
    sessions.clear();
    all = false;
    if (!(await kernel.inject("guard").isOffering())) return;
    for (const project of wantsAll ? await behind() : await projectsOf(ids)) {
      if (kernel.closing.aborted) return;
      const now = Date.now();
      await store.save(project, await buildAnswer(kernel, project, outcomes, now), now);
    }
  }

  async function projectsOf(ids: readonly string[]): Promise<string[]> {
    const rows = await kernel.storage.db.all<{ id: string }>(
      "select distinct project_id as id from session where id in (select value from json_each(?)) and sort_at >= ?",
      [JSON.stringify(ids), Date.now() - RECENT_DAYS * DAY_MS],
    );
    return rows.map(({ id }) => id);
  }

  /** Projects that have sessions which were imported after their answer was built. */
  async function behind(): Promise<string[]> {
    const rows = await kernel.storage.db.all<{ id: string; at: string }>(
      "select project_id as id, max(imported_at) as at from session where sort_at >= ? group by project_id",
      [Date.now() - RECENT_DAYS * DAY_MS],
    );
    const built = await store.built();
    return rows.flatMap(({ id, at }) => (Date.parse(at) >= (built.get(id) ?? 0) ? [id] : []));
  }

  return {
    add(session: string) {
      sessions.add(session);
      soon();
    },
    refresh() {
      all = true;
      soon();
    },
    async close() {
      clearTimeout(timer);
      await running;
    },
  };
}
