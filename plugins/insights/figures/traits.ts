/** What stands out in a range, each with the figures behind it. */
import type { DayRange, Zone } from "./buckets.ts";
import { hourOf, weekdayOf } from "./buckets.ts";
import type { Figures } from "./cube.ts";
import type { CubeSession } from "./cube-session.ts";
import { readDays, sessionsNear } from "./days.ts";
import { at, inSlices, type Prices } from "./tally.ts";

export interface Trait {
  name: "longSessions" | "highContext" | "cacheEfficiency" | "errorRate" | "busiestHour";
  /** Sessions for `longSessions`, tokens a reply for `highContext`, messages for `busiestHour`, else a share of 1. */
  value: number;
  /** What the value was worked out from. */
  basis: Record<string, number>;
  /** A tool's name for `errorRate`. */
  label: string | null;
  /** Sessions that show it most, at most five. */
  sessions: { id: string; label: string | null; value: number }[];
}

/** Active time from which a session is long. */
export const LONG_MS = 2 * 3_600_000;
/** Calls below which a tool's error rate says nothing. */
const ENOUGH_CALLS = 20;
/** Sessions that are named with a trait. */
const TOP = 5;

/** Traits of the sessions in the range; those without any figure are left out. */
export async function traitsOf(
  { rollup, sessions }: Figures,
  zone: Zone,
  range: DayRange,
  prices: Prices,
): Promise<Trait[]> {
  const hours = new Map<number, number>();
  const cache = { read: 0, written: 0, input: 0 };
  let messages = 0;
  readDays(rollup, zone, range, prices, {
    onSlot(day, _, count, _activeMs, _errors, quarter) {
      messages += count;
      const key = weekdayOf(day) * 24 + hourOf(zone.local(quarter));
      hours.set(key, (hours.get(key) ?? 0) + count);
    },
    onTokens(_, _tool, { tokens }) {
      cache.read += tokens.cacheRead;
      cache.written += tokens.cacheWrite5m + tokens.cacheWrite1h;
      cache.input += tokens.input;
    },
  });
  const all = range.from === null && range.to === null;
  const tools = all ? new Map(rollup.calls) : new Map<string, { calls: number; errors: number }>();
  const long: { session: CubeSession; value: number }[] = [];
  const heavy: { session: CubeSession; value: number }[] = [];
  let requests = 0;
  await inSlices(all ? sessions : sessionsNear(rollup, range), (session) => {
    if (!session.isIn(zone, range)) return;
    const active = all ? session.active : session.activeIn(zone, range);
    if (active >= LONG_MS) long.push({ session, value: active });
    const own = session.requests;
    if (own > 0) {
      requests += own;
      heavy.push({ session, value: Math.round(session.prompt / own) });
    }
    if (all) return;
    session.eachTool((name, calls, errors) => {
      const tool = at(tools, name, () => ({ calls: 0, errors: 0 }));
      tool.calls += calls;
      tool.errors += errors;
    });
  });
  const traits: Trait[] = [];
  const add = (trait: Omit<Trait, "label" | "sessions"> & Partial<Trait>) =>
    traits.push({ label: null, sessions: [], ...trait });
  if (long.length > 0)
    add({ name: "longSessions", value: long.length, basis: { thresholdMs: LONG_MS }, sessions: top(long) });
  if (heavy.length > 0) {
    const [most] = top(heavy);
    add({ name: "highContext", value: most?.value ?? 0, basis: { requests }, sessions: top(heavy) });
  }
  const prompt = cache.read + cache.written + cache.input;
  if (prompt > 0) add({ name: "cacheEfficiency", value: cache.read / prompt, basis: cache });
  const [worst] = [...tools]
    .filter(([, { calls, errors }]) => calls >= ENOUGH_CALLS && errors > 0)
    .sort(([x, a], [y, b]) => b.errors / b.calls - a.errors / a.calls || (x < y ? -1 : 1));
  if (worst) {
    const [label, { calls, errors }] = worst;
    add({ name: "errorRate", value: errors / calls, basis: { calls, errors }, label });
  }
  const [busiest] = [...hours].sort(([x, a], [y, b]) => b - a || x - y);
  if (busiest && busiest[1] > 0) {
    const [key, value] = busiest;
    add({ name: "busiestHour", value, basis: { weekday: Math.floor(key / 24), hour: key % 24, messages } });
  }
  return traits;
}

function top(list: readonly { session: CubeSession; value: number }[]): Trait["sessions"] {
  const best: { session: CubeSession; value: number }[] = [];
  for (const one of list) {
    if (best.length === TOP && one.value < (best[TOP - 1]?.value ?? 0)) continue;
    best.push(one);
    best.sort((a, b) => b.value - a.value || (a.session.id < b.session.id ? -1 : 1)).splice(TOP);
  }
  return best.map(({ session, value }) => ({ id: session.id, label: session.label, value }));
}
