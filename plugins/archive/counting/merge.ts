/** Counts of several texts of one session, or of a text less what it copied, put together. */
import type { SessionFacts } from "../catalogue/types.ts";

/** Adds messages, calls, failures and files of `more`, which are in no other text. Time is no sum: see `keepTime`. */
export function addFacts(facts: SessionFacts, more: SessionFacts): void {
  for (const [kind, count] of Object.entries(more.kinds)) facts.kinds[kind] = (facts.kinds[kind] ?? 0) + count;
  addPairs(facts.tools, more.tools);
  addPairs(facts.files, more.files);
  for (const [name, [calls, failures, last]] of Object.entries(more.skills ?? {})) {
    const before = toSkill(facts, name);
    const at = last === null ? before[2] : Math.max(last, before[2] ?? last);
    setSkill(facts, name, [before[0] + calls, before[1] + failures, at]);
  }
  for (const [name, { m, e }] of Object.entries(more.slots)) {
    const slot = facts.slots[name] ?? { m: 0, a: 0, e: 0 };
    facts.slots[name] = slot;
    slot.m += m;
    slot.e += e;
  }
}

/** Takes away what `less` counts, which is a part of it. Answers the ms that went. */
export function takeFacts(facts: SessionFacts, less: SessionFacts): number {
  let active = 0;
  for (const [kind, count] of Object.entries(less.kinds)) {
    const left = (facts.kinds[kind] ?? 0) - count;
    if (left > 0) facts.kinds[kind] = left;
    else delete facts.kinds[kind];
  }
  takePairs(facts.tools, less.tools);
  takePairs(facts.files, less.files);
  for (const [name, [calls, failures]] of Object.entries(less.skills ?? {})) {
    const before = toSkill(facts, name);
    if (before[0] > calls) setSkill(facts, name, [before[0] - calls, Math.max(0, before[1] - failures), before[2]]);
    else delete facts.skills?.[name];
  }
  for (const [name, { m, a, e }] of Object.entries(less.slots)) {
    const slot = facts.slots[name];
    if (!slot) continue;
    active += Math.min(a, slot.a);
    slot.m = Math.max(0, slot.m - m);
    slot.a = Math.max(0, slot.a - a);
    slot.e = Math.max(0, slot.e - e);
    if (slot.m + slot.a + slot.e === 0 && !slot.u) delete facts.slots[name];
  }
  return active;
}

/** Undoes `takeFacts`. */
export function giveFacts(facts: SessionFacts, back: SessionFacts): void {
  addFacts(facts, back);
  for (const [name, { a }] of Object.entries(back.slots)) {
    const slot = facts.slots[name];
    if (slot) slot.a += a;
  }
}

type Uses = [calls: number, failures: number, last: number | null];

const toSkill = ({ skills }: SessionFacts, name: string): Uses =>
  skills && Object.hasOwn(skills, name) ? (skills[name] ?? [0, 0, null]) : [0, 0, null];

function setSkill(facts: SessionFacts, name: string, value: Uses): void {
  facts.skills ??= {};
  Object.defineProperty(facts.skills, name, { value, enumerable: true, writable: true, configurable: true });
}

function takePairs(from: Record<string, [number, number]>, less: Record<string, [number, number]>): void {
  for (const [name, [one, two]] of Object.entries(less)) {
    const pair = Object.hasOwn(from, name) ? from[name] : undefined;
    if (!pair) continue;
    pair[0] = Math.max(0, pair[0] - one);
    pair[1] = Math.max(0, pair[1] - two);
    if (pair[0] + pair[1] === 0) delete from[name];
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

/** Two texts of one session went on in the same time: of each quarter-hour the longer one counts, and what comes next goes on from the later end. Answers the ms gained. */
export function keepTime(facts: SessionFacts, before: SessionFacts): number {
  let gained = 0;
  for (const [name, { a }] of Object.entries(before.slots)) {
    const slot = facts.slots[name] ?? { m: 0, a: 0, e: 0 };
    if (a <= slot.a) continue;
    facts.slots[name] = slot;
    gained += a - slot.a;
    slot.a = a;
  }
  if (before.last !== null) facts.last = Math.max(facts.last ?? before.last, before.last);
  return gained;
}
