/** What stands out in a range, each with the figures behind it. */
import type { Database, TokenUsage } from "sessarc";
import { type Asked, type Calls, findLabels, heaviest, type WorkRow } from "./questions.ts";
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
/** Active time from which a session is long. */
const LONG_MS = 2 * 3_600_000;
/** Sessions that are named with a trait. */
const TOP = 5;

/** What traits are made of, read by the overview. */
interface TraitFacts {
  /** Of each session and day. */
  work: readonly WorkRow[];
  hours: readonly { hour: number; messages: number }[];
  calls: readonly Calls[];
  tokens: TokenUsage;
  heavy: Awaited<ReturnType<typeof heaviest>>;
}

export const heavyIn = (db: Database, asked: Asked) => heaviest(db, asked, TOP);

/** Traits of the sessions in a range; those without any figure are left out. */
export async function readTraits(db: Database, facts: TraitFacts): Promise<Trait[]> {
  const traits: Trait[] = [];
  const add = (trait: Omit<Trait, "label" | "sessions"> & Partial<Trait>) =>
    traits.push({ label: null, sessions: [], ...trait });
  const long = longSessions(facts.work);
  const { top, requests } = facts.heavy;
  const labels = await findLabels(
    db,
    [...long.top, ...top].map(({ id }) => id),
  );
  const named = (list: readonly { id: string; value: number }[]) =>
    list.map(({ id, value }) => ({ id, label: labels.get(id) ?? null, value }));
  if (long.count > 0)
    add({ name: "longSessions", value: long.count, basis: { thresholdMs: LONG_MS }, sessions: named(long.top) });
  const [most] = top;
  if (most) add({ name: "highContext", value: most.value, basis: { requests }, sessions: named(top) });
  const { cacheRead: read, cacheWrite5m, cacheWrite1h, input } = facts.tokens;
  const written = cacheWrite5m + cacheWrite1h;
  const prompt = read + written + input;
  if (prompt > 0) add({ name: "cacheEfficiency", value: read / prompt, basis: { read, written, input } });
  const [worst] = facts.calls
    .filter(({ calls, errors }) => calls >= ENOUGH_CALLS && errors > 0)
    .sort((a, b) => b.errors / b.calls - a.errors / a.calls || (a.name < b.name ? -1 : 1));
  if (worst) {
    const { name: label, calls, errors } = worst;
    add({ name: "errorRate", value: errors / calls, basis: { calls, errors }, label });
  }
  const [busiest] = facts.hours.toSorted((a, b) => b.messages - a.messages || a.hour - b.hour);
  if (busiest && busiest.messages > 0) {
    const { hour, messages: value } = busiest;
    const messages = facts.hours.reduce((sum, one) => sum + one.messages, 0);
    add({ name: "busiestHour", value, basis: { weekday: Math.floor(hour / 24), hour: hour % 24, messages } });
  }
  return traits;
}

function longSessions(work: readonly WorkRow[]): { count: number; top: { id: string; value: number }[] } {
  const active = new Map<string, { id: string; value: number }>();
  for (const { session, activeMs } of work) at(active, session, () => ({ id: session, value: 0 })).value += activeMs;
  const long = [...active.values()].filter(({ value }) => value >= LONG_MS);
  const top = long.sort((a, b) => b.value - a.value || (a.id < b.id ? -1 : 1)).slice(0, TOP);
  return { count: long.length, top };
}
