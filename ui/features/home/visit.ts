import { readStored, writeStored } from "../../state/settings.ts";

const KEY = "sessarc:visit";
/** A visit ends after this long without the page. */
const PAUSE = 30 * 60_000;
interface Visit {
  since: string | null;
  at: number;
}

/** When the visit before this one ended; null on the first. */
export const lastVisit: string | null = (() => {
  const before = readStored<Visit | null>(KEY, null);
  const now = Date.now();
  const since = !before ? null : now - before.at > PAUSE ? new Date(before.at).toISOString() : before.since;
  const keep = () => writeStored(KEY, { since, at: Date.now() } satisfies Visit);
  keep();
  addEventListener("pagehide", keep);
  return since;
})();
