/** Whether the figures of a summary can be true: an adapter of another author may compute them wrongly. */
import { msToIso } from "../utils/time.ts";
import type { SessionSummary, SessionUsage, TokenUsage } from "./session.ts";

/** A log's machine may be ahead of this one, and its times may have another zone. */
const AHEAD_MS = 86_400_000;

type Figures = Pick<
  SessionSummary,
  "usage" | "inheritedUsage" | "unlogged" | "costUSD" | "slots" | "classes" | "replies"
>;

/**
 * The summary itself when all its figures are possible; else a copy without figures, with the reason in `refused`. A count must be an integer of 0
 * or more, a cost a number of 0 or more, and no reply may be later than a day after `now` (ms). One comparison per number.
 */
export function withPossibleFigures(summary: SessionSummary, now: number): SessionSummary {
  const refused = findFault(summary, now);
  if (refused === undefined) return summary;
  const { inheritedUsage, unlogged, costUSD, slots, classes, replies, evidence, ...rest } = summary;
  return { ...rest, usage: {}, refused };
}

/** Describes the first impossible figure; undefined: all are possible. */
export function findFault(figures: Figures, now: number): string | undefined {
  const { usage, inheritedUsage, unlogged, costUSD, slots, classes, replies } = figures;
  const latest = msToIso(now + AHEAD_MS) ?? "9999";
  const inUsage = faultOfUsage(usage) ?? faultOfUsage(inheritedUsage ?? {});
  if (inUsage !== undefined) return inUsage;
  if (unlogged) {
    const fault = faultOf(unlogged);
    if (fault !== undefined) return `unlogged ${fault}`;
  }
  if (costUSD !== undefined && !(Number.isFinite(costUSD) && costUSD >= 0)) return `a cost of ${costUSD} dollars`;
  for (const [slot, part] of [...Object.entries(slots ?? {}), ...Object.entries(classes ?? {})]) {
    if (slot > latest) return `tokens at ${slot}, which is later than now`;
    const fault = faultOfUsage(part);
    if (fault !== undefined) return fault;
  }
  for (const { at, model, usage: tokens } of replies ?? []) {
    if (at !== undefined && at > latest && Date.parse(at) > now + AHEAD_MS)
      return `a reply at ${at}, which is later than now`;
    const fault = faultOf(tokens);
    if (fault !== undefined) return `${fault} of ${model}`;
  }
  return undefined;
}

function faultOfUsage(usage: SessionUsage): string | undefined {
  for (const [model, tokens] of Object.entries(usage)) {
    const fault = faultOf(tokens);
    if (fault !== undefined) return `${fault} of ${model}`;
  }
  return undefined;
}

const FIELDS = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const;

function faultOf(tokens: TokenUsage): string | undefined {
  const field = FIELDS.find((name) => !(Number.isSafeInteger(tokens[name]) && tokens[name] >= 0));
  return field && `${field} tokens ${tokens[field]}`;
}
