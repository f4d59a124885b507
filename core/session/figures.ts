/** Whether the figures of a summary can be true: a log's clock may be wrong, and an adapter of another author may compute them wrongly. */
import { latest as lastOf, msToIso } from "../utils/time.ts";
import type { LeftOut, SessionSummary, SessionUsage, TokenUsage } from "./session.ts";
import { toSlot } from "./usage.ts";

/** A log's machine may be ahead of this one, and its times may have another zone. */
const AHEAD_MS = 86_400_000;

/** Times after it (ms) are not possible. A machine whose clock is wrong has logs that are later than its time: they are no reason to refuse figures. */
export const latestTime = ({ mtime = 0 }: { mtime?: number | undefined }): number =>
  Math.max(Date.now(), mtime) + AHEAD_MS;

type Figures = Pick<
  SessionSummary,
  "usage" | "inheritedUsage" | "unlogged" | "costUSD" | "slots" | "classes" | "replies"
>;

/**
 * The summary with possible figures alone. Replies later than `latest` (ms) are left out, and the times of the session that are later; `leftOut` names
 * them and the records whose counts no reply can have. If another figure is impossible, the copy has no figures and the reason is in `refused`: a count
 * must be an integer of 0 or more, a cost a number of 0 or more. One comparison per number.
 */
export function withPossibleFigures(summary: SessionSummary, latest: number): SessionSummary {
  const possible = withoutLate(summary, latest);
  const refused = findFault(possible);
  if (refused === undefined) return possible;
  const { inheritedUsage, unlogged, costUSD, slots, classes, replies, evidence, leftOut, ...rest } = possible;
  return { ...rest, usage: {}, refused };
}

/** Whether the figures are what `withPossibleFigures` would answer. */
export const arePossible = (figures: Figures & Pick<SessionSummary, "evidence">, latest: number): boolean =>
  figures.evidence?.impossible === undefined &&
  !(figures.replies ?? []).some(({ at }) => isLate(at, latest)) &&
  findFault(figures) === undefined;

const isLate = (at: string | undefined, latest: number): at is string => at !== undefined && Date.parse(at) > latest;

function withoutLate(summary: SessionSummary, latest: number): SessionSummary {
  const limit = msToIso(latest) ?? "9999";
  const { slots = {}, replies = [], evidence, startedAt, endedAt } = summary;
  const isOver = (at: string | undefined) => at !== undefined && at > limit && isLate(at, latest);
  const slotsOver = Object.keys(slots).filter((slot) => slot > limit);
  const over = replies.filter(({ at, inherited }) => !inherited && isOver(at));
  const impossible = evidence?.impossible;
  if (slotsOver.length + over.length === 0 && impossible === undefined && !isOver(startedAt) && !isOver(endedAt))
    return summary;
  const next: SessionSummary = { ...summary, usage: structuredClone(summary.usage) };
  if (isOver(startedAt)) delete next.startedAt;
  if (isOver(endedAt)) next.endedAt = lastOf(replies.filter(({ at }) => !isOver(at)).map(({ at }) => at));
  const leftOut: LeftOut = { ...(impossible !== undefined && { impossible }) };
  if (slotsOver.length + over.length > 0) {
    next.slots = summary.slots && { ...slots };
    next.classes = summary.classes && structuredClone(summary.classes);
    next.replies = summary.replies && replies.filter((reply) => !over.includes(reply));
    for (const slot of slotsOver) {
      for (const [model, tokens] of Object.entries(slots[slot] ?? {})) subtract(next.usage, model, tokens);
      for (const [key, tokens] of Object.entries(next.classes?.[slot] ?? {}))
        subtract(next.classes?.[""] ?? {}, key, tokens);
      delete next.slots?.[slot];
      delete next.classes?.[slot];
    }
    // The sums of some adapters have no quarter-hours.
    for (const { at = "", model, usage } of over)
      if (!Object.hasOwn(slots, toSlot(at))) subtract(next.usage, model, usage);
    const times = [
      ...over.flatMap(({ at }) => at ?? []),
      ...(over.length > 0 ? [] : slotsOver.map((slot) => `${slot}:00.000Z`)),
    ].sort();
    const count = Math.max(over.length, 1);
    leftOut.late = { replies: count, first: times[0] ?? limit, last: times.at(-1) ?? limit };
    if (evidence) next.evidence = { ...evidence, requests: Math.max(0, evidence.requests - count) };
  }
  if (Object.keys(leftOut).length > 0) next.leftOut = leftOut;
  return next;
}

/** When the next of what was left out counts, in ms; undefined: never, or nothing was left out for its time. */
export const countsAt = ({ late }: LeftOut): number | undefined =>
  late === undefined ? undefined : Date.parse(late.first) - AHEAD_MS;

/** What was left out, as a sentence. */
export function describeLeftOut({ late, impossible }: LeftOut): string {
  const parts: string[] = [];
  if (late) {
    const times = late.first === late.last ? `dated ${late.first}` : `dated ${late.first} to ${late.last}`;
    parts.push(
      `${late.replies === 1 ? "1 reply is" : `${late.replies} replies are`} ${times}, later than now: not counted until then`,
    );
  }
  if (impossible !== undefined)
    parts.push(
      `${impossible === 1 ? "1 record has" : `${impossible} records have`} impossible token counts, which count 0`,
    );
  return parts.join("; ");
}

/** Describes the first impossible figure; undefined: all are possible. */
function findFault({ usage, inheritedUsage, unlogged, costUSD, slots, classes, replies }: Figures): string | undefined {
  const inUsage = faultOfUsage(usage) ?? faultOfUsage(inheritedUsage ?? {});
  if (inUsage !== undefined) return inUsage;
  if (unlogged) {
    const fault = toFault(unlogged);
    if (fault !== undefined) return `unlogged ${fault}`;
  }
  if (costUSD !== undefined && !(Number.isFinite(costUSD) && costUSD >= 0)) return `a cost of ${costUSD} dollars`;
  for (const part of [...Object.values(slots ?? {}), ...Object.values(classes ?? {})]) {
    const fault = faultOfUsage(part);
    if (fault !== undefined) return fault;
  }
  for (const { model, usage: tokens } of replies ?? []) {
    const fault = toFault(tokens);
    if (fault !== undefined) return `${fault} of ${model}`;
  }
  return undefined;
}

function faultOfUsage(usage: SessionUsage): string | undefined {
  for (const [model, tokens] of Object.entries(usage)) {
    const fault = toFault(tokens);
    if (fault !== undefined) return `${fault} of ${model}`;
  }
  return undefined;
}

const FIELDS = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const;

function toFault(tokens: TokenUsage): string | undefined {
  const field = FIELDS.find((name) => !(Number.isSafeInteger(tokens[name]) && tokens[name] >= 0));
  return field && `${field} tokens ${tokens[field]}`;
}

function subtract(usage: SessionUsage, model: string, tokens: TokenUsage): void {
  const sum = Object.hasOwn(usage, model) ? usage[model] : undefined;
  if (!sum) return;
  for (const field of FIELDS) sum[field] = Math.max(0, sum[field] - tokens[field]);
  if (FIELDS.every((field) => sum[field] === 0)) delete usage[model];
}
