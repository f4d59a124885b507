/** What stands out in a range, each with the figures behind it. */
import type { Prices } from "../prices/pricing.ts";
import { eachIn } from "./add.ts";
import type { DayRange, Zone } from "./buckets.ts";
import { hourOf, weekdayOf } from "./buckets.ts";
import type { Figures } from "./cube.ts";
import type { CubeSession } from "./cube-session.ts";
import { readDays } from "./days.ts";
import { at } from "./tally.ts";

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
  { rollup, blocks }: Figures,
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
  const long = new Top();
  const heavy = new Top();
  let requests = 0;
  await eachIn(blocks, zone, range, (session, { block, i, whole }) => {
    const active = whole ? (block.work[i * 3 + 1] as number) : session.activeIn(zone, range);
    if (active >= LONG_MS) long.add(session, active);
    const own = block.requests(i);
    if (own > 0) {
      requests += own;
      heavy.add(session, Math.round(block.prompt(i) / own));
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
  if (long.count > 0)
    add({ name: "longSessions", value: long.count, basis: { thresholdMs: LONG_MS }, sessions: long.sessions });
  if (heavy.count > 0) {
    const [most] = heavy.sessions;
    add({ name: "highContext", value: most?.value ?? 0, basis: { requests }, sessions: heavy.sessions });
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

/** Sessions counted, and those with the largest values. */
class Top {
  count = 0;
  readonly #best: { session: CubeSession; value: number }[] = [];

  add(session: CubeSession, value: number): void {
    this.count++;
    const best = this.#best;
    if (best.length === TOP && value < (best[TOP - 1]?.value ?? 0)) return;
    best.push({ session, value });
    best.sort((a, b) => b.value - a.value || (a.session.id < b.session.id ? -1 : 1)).splice(TOP);
  }
  get sessions(): Trait["sessions"] {
    return this.#best.map(({ session, value }) => ({ id: session.id, label: session.label, value }));
  }
}
