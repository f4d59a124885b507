/** The order in which sessions stand in blocks. Answers do not depend on it, what they cost does. */
import { Slices, sortInSlices } from "#internal";
import { pages } from "#internal/adapter";
import { TOGETHER } from "./blocks.ts";
import type { CubeSession } from "./cube-session.ts";

/** Quarter-hours: two days. */
const LONG = 192;

/**
 * By their end, so that a block's sessions are of some days; those that went on for long before all others: a single one would stretch its
 * block over the times of many. A list that is nearly in order stays as it is.
 */
export async function inOrder(sessions: readonly CubeSession[]): Promise<readonly CubeSession[]> {
  const ended = ({ endedAt }: CubeSession) => endedAt ?? 0;
  let descents = 0;
  sessions.forEach((session, i) => {
    const before = sessions[i - 1];
    if (before && ended(before) > ended(session)) descents++;
  });
  if (descents <= 1 + sessions.length / TOGETHER) return sessions;
  const slices = new Slices();
  const places: { session: CubeSession; isShort: number }[] = [];
  for (const some of pages(sessions)) {
    for (const session of some) places.push({ session, isShort: session.length < LONG ? 1 : 0 });
    if (slices.due) await slices.turn();
  }
  const sorted = await sortInSlices(places, (a, b) => a.isShort - b.isShort || ended(a.session) - ended(b.session));
  return sorted.map(({ session }) => session);
}
