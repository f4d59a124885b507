/** Counts of several texts of one session, or of a text less what it copied, put together. */
import type { SessionFacts } from "../catalogue/types.ts";

/** Adds messages, calls, failures and files of `more`, which are in no other text. Time is no sum: see `keepTime`. */
export function addFacts(facts: SessionFacts, more: SessionFacts): void {
  for (const [kind, count] of Object.entries(more.kinds)) facts.kinds[kind] = (facts.kinds[kind] ?? 0) + count;
  addPairs(facts.tools, more.tools);
  addPairs(facts.files, more.files);
  for (const [name, { m, e }] of Object.entries(more.slots)) {
    const slot = facts.slots[name] ?? { m: 0, a: 0, e: 0 };
    facts.slots[name] = slot;
    slot.m += m;
    slot.e += e;
  }
}

function addPairs(into: Record<string, [number, number]>, from: Record<string, [number, number]>): void {
  for (const [name, [one, two]] of Object.entries(from)) {
    // Names come from logs: `__proto__` must become a plain key.
    const [a, b] = Object.hasOwn(into, name) ? (into[name] ?? [0, 0]) : [0, 0];
    const value = [a + one, b + two];
    Object.defineProperty(into, name, { value, enumerable: true, writable: true, configurable: true });
  }
}

/** Two texts of one session went on in the same time: of each quarter-hour the longer one counts. Answers the ms gained. */
export function keepTime(facts: SessionFacts, before: SessionFacts): number {
  let gained = 0;
  for (const [name, { a }] of Object.entries(before.slots)) {
    const slot = facts.slots[name] ?? { m: 0, a: 0, e: 0 };
    if (a <= slot.a) continue;
    facts.slots[name] = slot;
    gained += a - slot.a;
    slot.a = a;
  }
  return gained;
}
