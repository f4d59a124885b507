/** Sums of one row: sessions, messages, time and tokens. */
import { emptyUsage, type SessionUsage, type TokenUsage } from "sessarc";
import { type DayRange, inRange, type Zone } from "./buckets.ts";
import { type CubeSession, type TokenSlot, turn } from "./cube.ts";

export class Tally {
  /** Sub-agents count with the session that started them. */
  readonly roots = new Set<string>();
  messages = 0;
  activeMs = 0;
  errors = 0;
  readonly usage: SessionUsage = {};

  addSlot(session: CubeSession, i: number): void {
    this.roots.add(session.root);
    this.messages += session.m[i] as number;
    this.activeMs += session.a[i] as number;
    this.errors += session.e[i] as number;
  }

  addTokens(session: CubeSession, { model, tokens }: TokenSlot): void {
    this.roots.add(session.root);
    // Models are named by logs: `__proto__` was renamed when the tokens were counted.
    let sum = Object.hasOwn(this.usage, model) ? this.usage[model] : undefined;
    if (!sum) this.usage[model] = sum = emptyUsage();
    sum.input += tokens.input;
    sum.output += tokens.output;
    sum.cacheWrite5m += tokens.cacheWrite5m;
    sum.cacheWrite1h += tokens.cacheWrite1h;
    sum.cacheRead += tokens.cacheRead;
  }

  get sessions(): number {
    return this.roots.size;
  }
  /** All models in one. */
  get tokens(): TokenUsage {
    return sumOf(this.usage);
  }
}

export function sumOf(usage: SessionUsage): TokenUsage {
  const sum = emptyUsage();
  for (const tokens of Object.values(usage)) {
    sum.input += tokens.input;
    sum.output += tokens.output;
    sum.cacheWrite5m += tokens.cacheWrite5m;
    sum.cacheWrite1h += tokens.cacheWrite1h;
    sum.cacheRead += tokens.cacheRead;
  }
  return sum;
}

export const totalOf = (t: TokenUsage): number => t.input + t.output + t.cacheWrite5m + t.cacheWrite1h + t.cacheRead;

/** Sessions between two turns of the event loop: some milliseconds. */
const SLICE = 500;

/** Calls back for each session, letting other requests in from time to time. */
export async function inSlices(sessions: Iterable<CubeSession>, use: (session: CubeSession) => void): Promise<void> {
  let count = 0;
  for (const session of sessions) {
    use(session);
    if (++count % SLICE === 0) await turn();
  }
}

/** Calls back for everything of a session that lies on days in the range; false when there was nothing. */
export function visit(
  session: CubeSession,
  zone: Zone,
  range: DayRange,
  onSlot: (index: number, day: number) => void,
  onTokens: (slot: TokenSlot, day: number) => void,
): boolean {
  let touched = false;
  for (let i = 0; i < session.quarters.length; i++) {
    const day = zone.day(session.quarters[i] as number);
    if (!inRange(day, range)) continue;
    touched = true;
    onSlot(i, day);
  }
  for (const slot of session.usage) {
    const day = zone.day(slot.quarter);
    if (!inRange(day, range)) continue;
    touched = true;
    onTokens(slot, day);
  }
  return touched;
}

/** The value under `key`, made when it is not there. */
export function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
