/** What stands out in a range, each with the figures behind it. */
import type { TokenUsage } from "sessarc";
import { eachIn } from "./add.ts";
import type { DayRange, Zone } from "./buckets.ts";
import { hourOf, weekdayOf } from "./buckets.ts";
import type { Figures } from "./cube.ts";
import { type CallSums, sharesOf } from "./shares.ts";
import { LONG_MS, StandingOut, standingOut } from "./standing-out.ts";
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

/** Calls below which a tool's error rate says nothing. */
const ENOUGH_CALLS = 20;

/** What of the days of a range makes traits: filled by whoever reads them. */
export class DayTraits {
  readonly hours = new Map<number, number>();
  readonly cache = { read: 0, written: 0, input: 0 };
  messages = 0;

  addSlot(day: number, localQuarter: number, messages: number): void {
    this.messages += messages;
    const key = weekdayOf(day) * 24 + hourOf(localQuarter);
    this.hours.set(key, (this.hours.get(key) ?? 0) + messages);
  }
  addTokens({ cacheRead, cacheWrite5m, cacheWrite1h, input }: TokenUsage): void {
    this.cache.read += cacheRead;
    this.cache.written += cacheWrite5m + cacheWrite1h;
    this.cache.input += input;
  }
}

/** Traits of the sessions in the range, of which `days` are; those without any figure are left out. */
export async function traitsOf(
  { rollup, blocks }: Pick<Figures, "rollup" | "blocks">,
  zone: Zone,
  range: DayRange,
  { hours, cache, messages }: DayTraits,
): Promise<Trait[]> {
  const all = range.from === null && range.to === null;
  // Copied: the sums go on while the sessions are looked at.
  const tools = new Map([...(all ? rollup.calls : [])].map(([name, sums]) => [name, { ...sums }]));
  const out = new StandingOut();
  const addCalls = (name: string, { calls, errors }: CallSums) => {
    const tool = at(tools, name, () => ({ calls: 0, errors: 0 }));
    tool.calls += calls;
    tool.errors += errors;
  };
  await eachIn(
    blocks,
    zone,
    range,
    (session, { block, i, whole }) => {
      out.put(session, block, i, whole ? undefined : session.activeIn(zone, range));
      if (!all) session.eachTool((name, calls, errors) => addCalls(name, { calls, errors }));
    },
    {
      useRun(run) {
        const own = standingOut(blocks, run);
        const shares = all ? [] : sharesOf(blocks, run)?.values();
        if (!own || !shares) return false;
        out.add(own);
        for (const { calls } of shares) for (const [name, sums] of calls) addCalls(name, sums);
        return true;
      },
    },
  );
  const { long, heavy, requests } = out;
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
