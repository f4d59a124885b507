/** The token figures of a session, and single replies put into and taken out of them. */

import type { SessionUsage, TokenUsage, UsageEvidence } from "sessarc";
import { addUsage } from "sessarc/adapter";
import type { SlotFacts } from "../catalogue/types.ts";
import type { Entry } from "./book.ts";
import { computeWeight, type Reply, slotName } from "./replies.ts";

interface Figures {
  /** What counts here. */
  usage: SessionUsage;
  /** What another session counts. */
  inherited: SessionUsage;
  evidence: UsageEvidence | undefined;
  /** `u` of each: `usage` by quarter-hour. */
  slots: Record<string, SlotFacts>;
}

/**
 * Brings figures that were added up from a log to what counts: without replies that other sessions own, with those of earlier
 * versions. `inLog`: what the sums hold of a reply where that is not what the book says.
 */
export function applyBook(book: Iterable<Entry>, inLog: ReadonlyMap<number, Reply>, figures: Figures): void {
  for (const entry of book) {
    const counted = inLog.get(entry.hash) ?? entry;
    if (entry.earlier) {
      if (entry.lost) exclude(figures, entry);
      else give(figures, entry, 1);
    } else if (entry.lost) moveAway(figures, counted);
    else if (computeWeight(counted.tokens) < computeWeight(entry.tokens)) {
      take(figures, counted, 0);
      give(figures, entry, 0);
    }
  }
}

/** A reply that is attributed to another session from now on. */
export function moveAway(figures: Figures, reply: Reply): void {
  take(figures, reply, 1);
  exclude(figures, reply);
}

function exclude({ inherited, evidence }: Figures, { model, tokens }: Reply): void {
  addUsage(inherited, model, tokens);
  if (evidence) evidence.inheritedExcluded++;
}

function give({ usage, slots, evidence }: Figures, { quarter, model, tokens }: Reply, requests: number): void {
  if (evidence) evidence.requests += requests;
  addUsage(usage, model, tokens);
  if (quarter < 0) return;
  const name = slotName(quarter);
  slots[name] ??= { m: 0, a: 0, e: 0 };
  slots[name].u ??= {};
  addUsage(slots[name].u, model, tokens);
}

function take({ usage, slots, evidence }: Figures, { quarter, model, tokens }: Reply, requests: number): void {
  if (evidence) evidence.requests -= requests;
  subtract(usage, model, tokens);
  const name = slotName(quarter);
  const slot = quarter < 0 ? undefined : slots[name];
  if (!slot?.u) return;
  subtract(slot.u, model, tokens);
  if (Object.keys(slot.u).length > 0) return;
  delete slot.u;
  if (slot.m + slot.a + slot.e === 0) delete slots[name];
}

function subtract(from: SessionUsage, model: string, tokens: TokenUsage): void {
  const sum = Object.hasOwn(from, model) ? from[model] : undefined;
  if (!sum) return;
  let left = 0;
  for (const field of Object.keys(sum) as (keyof TokenUsage)[]) {
    sum[field] = Math.max(0, sum[field] - tokens[field]);
    left += sum[field];
  }
  if (left === 0) delete from[model];
}
