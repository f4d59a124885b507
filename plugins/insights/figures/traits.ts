/** What stands out in a range, each with the figures behind it. */
import type { DayRange, Zone } from "./buckets.ts";
import { hourOf, weekdayOf } from "./buckets.ts";
import type { CubeSession } from "./cube-session.ts";
import { at, inSlices, totalOf, visit } from "./tally.ts";

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

/** Traits of the sessions in the range; those without any figure are left out. */
export async function traitsOf(sessions: readonly CubeSession[], zone: Zone, range: DayRange): Promise<Trait[]> {
  const long: { session: CubeSession; value: number }[] = [];
  const heavy: { session: CubeSession; value: number }[] = [];
  const tools = new Map<string, { calls: number; errors: number }>();
  const hours = new Map<number, number>();
  const cache = { read: 0, written: 0, input: 0 };
  let requests = 0;
  let messages = 0;
  await inSlices(sessions, (session) => {
    let active = 0;
    const found = visit(
      session,
      zone,
      range,
      (i, day) => {
        active += session.activeMs(i);
        messages += session.messages(i);
        const key = weekdayOf(day) * 24 + hourOf(zone.local(session.quarter(i)));
        hours.set(key, (hours.get(key) ?? 0) + session.messages(i));
      },
      ({ tokens }) => {
        cache.read += tokens.cacheRead;
        cache.written += tokens.cacheWrite5m + tokens.cacheWrite1h;
        cache.input += tokens.input;
      },
    );
    if (!found) return;
    if (active >= LONG_MS) long.push({ session, value: active });
    const { evidence } = session;
    if (evidence && evidence.requests > 0) {
      let prompt = 0;
      for (let i = 0; i < session.tokenSlots; i++) {
        const { tokens } = session.tokens(i);
        prompt += totalOf(tokens) - tokens.output;
      }
      requests += evidence.requests;
      heavy.push({ session, value: Math.round(prompt / evidence.requests) });
    }
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
    .sort(([, a], [, b]) => b.errors / b.calls - a.errors / a.calls);
  if (worst) {
    const [label, { calls, errors }] = worst;
    add({ name: "errorRate", value: errors / calls, basis: { calls, errors }, label });
  }
  const [busiest] = [...hours].sort(([, a], [, b]) => b - a);
  if (busiest && busiest[1] > 0) {
    const [key, value] = busiest;
    add({ name: "busiestHour", value, basis: { weekday: Math.floor(key / 24), hour: key % 24, messages } });
  }
  return traits;
}

function top(list: { session: CubeSession; value: number }[]): Trait["sessions"] {
  return [...list]
    .sort((a, b) => b.value - a.value)
    .slice(0, 5)
    .map(({ session, value }) => ({ id: session.id, label: session.label, value }));
}
