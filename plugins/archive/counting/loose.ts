/** Tokens that a log sums up without saying of which reply: nothing tells two such sums apart, so of two texts the larger one counts. */

import type { SessionUsage, TokenUsage } from "sessarc";
import { addUsage, emptyUsage } from "sessarc/adapter";
import type { SlotFacts } from "../catalogue/types.ts";
import { type Reply, slotName } from "./replies.ts";

/** By quarter-hour; "" for those without a time. */
export type Loose = Record<string, SessionUsage>;

interface Sums {
  usage: SessionUsage;
  slots: Readonly<Record<string, SlotFacts>>;
}

/** What is in `sums` beside `replies`; undefined when that is nothing. Linear in both. */
export function findLoose({ usage, slots }: Sums, replies: Iterable<Reply>): Loose | undefined {
  const byQuarter = new Map<number, SessionUsage>();
  for (const { quarter, model, tokens } of replies) {
    const sum = byQuarter.get(quarter) ?? {};
    byQuarter.set(quarter, sum);
    addUsage(sum, model, tokens);
  }
  const keyed: Loose = {};
  for (const [quarter, sum] of byQuarter) keyed[quarter < 0 ? "" : slotName(quarter)] = sum;
  const all: Loose = { "": structuredClone(usage) };
  for (const [name, { u }] of Object.entries(slots)) {
    if (!u) continue;
    all[name] = u;
    all[""] = minus(all[""] ?? {}, u);
  }
  const loose = surplus(all, keyed);
  return Object.keys(loose).length > 0 ? loose : undefined;
}

/** What `a` has more of than `b`. */
export function surplus(a: Loose, b: Loose): Loose {
  const more: Loose = {};
  for (const [name, usage] of Object.entries(a)) {
    const rest = minus(usage, b[name] ?? {});
    if (Object.keys(rest).length > 0) more[name] = rest;
  }
  return more;
}

/** The larger of both, figure by figure. */
export function larger(a: Loose = {}, b: Loose = {}): Loose {
  const out = structuredClone(a);
  for (const [name, usage] of Object.entries(surplus(b, a))) {
    out[name] ??= {};
    for (const [model, tokens] of Object.entries(usage)) addUsage(out[name], model, tokens);
  }
  return out;
}

export function addLoose(
  { usage, slots }: { usage: SessionUsage; slots: Record<string, SlotFacts> },
  more: Loose,
): void {
  for (const [name, models] of Object.entries(more)) {
    for (const [model, tokens] of Object.entries(models)) {
      addUsage(usage, model, tokens);
      if (name === "") continue;
      slots[name] ??= { m: 0, a: 0, e: 0 };
      slots[name].u ??= {};
      addUsage(slots[name].u, model, tokens);
    }
  }
}

function minus(a: SessionUsage, b: SessionUsage): SessionUsage {
  const out: SessionUsage = {};
  for (const [model, tokens] of Object.entries(a)) {
    const less = Object.hasOwn(b, model) ? b[model] : undefined;
    const rest = emptyUsage();
    let sum = 0;
    for (const field of Object.keys(rest) as (keyof TokenUsage)[]) {
      rest[field] = Math.max(0, tokens[field] - (less?.[field] ?? 0));
      sum += rest[field];
    }
    if (sum > 0) addUsage(out, model, rest);
  }
  return out;
}
