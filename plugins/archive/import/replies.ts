/** Replies packed into numbers, so that thousands cross a thread and fit a catalogue row. */
import {
  addUsage,
  hash53,
  mergeUsage,
  type SessionUsage,
  type TokenUsage,
  type UsageEntry,
  type UsageEvidence,
} from "sessarc";
import type { SessionFacts } from "../catalogue/types.ts";

/** Replies of one session that may be claimed by another one. All arrays go by reply. */
export interface PackedReplies {
  /** 53-bit hash of tool, reply key and model. */
  hashes: Float64Array;
  /** Seven numbers a reply: UTC quarter-hour since the epoch (−1: none), index of the model, then the five token counts. */
  values: Float64Array;
  models: string[];
}

const WIDTH = 7;
const QUARTER_MS = 900_000;

/** Takes the replies that have a key and are the session's own. */
export function packReplies(tool: string, replies: readonly UsageEntry[]): PackedReplies | null {
  const keyed = replies.filter((reply) => reply.key !== undefined && !reply.inherited);
  if (keyed.length === 0) return null;
  const hashes = new Float64Array(keyed.length);
  const values = new Float64Array(keyed.length * WIDTH);
  const models: string[] = [];
  keyed.forEach((reply, i) => {
    // With the model: what another model answered is no copy, whatever its ids say.
    hashes[i] = hash53(`${tool}\0${reply.key}\0${reply.model}`);
    const at = reply.at === undefined ? Number.NaN : Date.parse(reply.at);
    let model = models.indexOf(reply.model);
    if (model < 0) model = models.push(reply.model) - 1;
    const { input, output, cacheWrite5m, cacheWrite1h, cacheRead } = reply.usage;
    values.set(
      [
        Number.isNaN(at) ? -1 : Math.floor(at / QUARTER_MS),
        model,
        input,
        output,
        cacheWrite5m,
        cacheWrite1h,
        cacheRead,
      ],
      i * WIDTH,
    );
  });
  return { hashes, values, models };
}

/** Output tokens of one reply. */
export const outputOf = (replies: PackedReplies, index: number): number => replies.values[index * WIDTH + 3] as number;

/** Pairs of hash and output tokens, as the catalogue keeps them. */
export function toPairs(replies: PackedReplies): Float64Array {
  const pairs = new Float64Array(replies.hashes.length * 2);
  replies.hashes.forEach((hash, i) => {
    pairs[i * 2] = hash;
    pairs[i * 2 + 1] = outputOf(replies, i);
  });
  return pairs;
}

/** The replies whose hash is in none of `pairs`. */
export function withoutKnown(replies: PackedReplies, pairs: Float64Array): PackedReplies {
  const known = new Set<number>();
  for (let i = 0; i < pairs.length; i += 2) known.add(pairs[i] as number);
  const fresh = [...replies.hashes.keys()].filter((i) => !known.has(replies.hashes[i] as number));
  const values = new Float64Array(fresh.length * WIDTH);
  fresh.forEach((from, to) => {
    values.set(replies.values.subarray(from * WIDTH, from * WIDTH + WIDTH), to * WIDTH);
  });
  return { hashes: Float64Array.from(fresh, (i) => replies.hashes[i] as number), values, models: replies.models };
}

/** One reply to move; `output` where the session counted another output than `replies` says. */
export interface Move {
  index: number;
  output?: number;
}

/** The figures of a session that a move changes. */
export interface Figures {
  usage: SessionUsage;
  inherited: SessionUsage;
  evidence: UsageEvidence | undefined;
  facts: Pick<SessionFacts, "slots" | "moved">;
}

/** Moves replies from the session's own figures to the inherited ones, and remembers what was moved. */
export function moveReplies(replies: PackedReplies, moves: readonly Move[], figures: Figures): void {
  if (moves.length === 0) return;
  const { facts } = figures;
  facts.moved ??= { usage: {}, slots: {}, count: 0 };
  const fresh: NonNullable<SessionFacts["moved"]> = { usage: {}, slots: {}, count: moves.length };
  for (const { index, output } of moves) {
    const v = replies.values.subarray(index * WIDTH, index * WIDTH + WIDTH);
    const model = replies.models[v[1] as number] ?? "unknown";
    const tokens = {
      input: v[2] as number,
      output: output ?? (v[3] as number),
      cacheWrite5m: v[4] as number,
      cacheWrite1h: v[5] as number,
      cacheRead: v[6] as number,
    };
    addUsage(fresh.usage, model, tokens);
    const quarter = v[0] as number;
    if (quarter < 0) continue;
    const slot = new Date(quarter * QUARTER_MS).toISOString().slice(0, 16);
    fresh.slots[slot] ??= {};
    addUsage(fresh.slots[slot], model, tokens);
  }
  applyMoved(fresh, figures);
  mergeUsage(facts.moved.usage, fresh.usage);
  for (const [slot, usage] of Object.entries(fresh.slots)) {
    facts.moved.slots[slot] ??= {};
    mergeUsage(facts.moved.slots[slot], usage);
  }
  facts.moved.count += fresh.count;
}

/** Takes what was moved before out of figures that were counted anew from the log. */
export function applyMoved(
  moved: NonNullable<SessionFacts["moved"]>,
  { usage, inherited, evidence, facts }: Figures,
): void {
  subtract(usage, moved.usage);
  mergeUsage(inherited, moved.usage);
  for (const [name, tokens] of Object.entries(moved.slots)) {
    const slot = facts.slots[name];
    if (!slot?.u) continue;
    subtract(slot.u, tokens);
    if (Object.keys(slot.u).length === 0) delete slot.u;
  }
  if (!evidence) return;
  evidence.requests -= moved.count;
  evidence.inheritedExcluded += moved.count;
}

function subtract(from: SessionUsage, usage: SessionUsage): void {
  for (const [model, tokens] of Object.entries(usage)) {
    const sum = Object.hasOwn(from, model) ? from[model] : undefined;
    if (!sum) continue;
    let left = 0;
    for (const field of Object.keys(sum) as (keyof TokenUsage)[]) {
      sum[field] = Math.max(0, sum[field] - tokens[field]);
      left += sum[field];
    }
    if (left === 0) delete from[model];
  }
}
