/** Replies of a session by an identity that is the same in every log that repeats them, packed into numbers. */

import type { TokenUsage, UsageEntry } from "sessarc";
import { classed, replyHash } from "sessarc/adapter";

/** As they cross a thread. All arrays go by reply. */
export interface PackedReplies {
  /** 53-bit hash of tool, reply key and model. */
  hashes: Float64Array;
  /** Seven numbers a reply: UTC quarter-hour since the epoch (−1: none), index of the model, then the five token counts. */
  values: Float64Array;
  models: string[];
}

export interface Reply {
  hash: number;
  /** UTC quarter-hour since the epoch; −1: none. */
  quarter: number;
  /** With its price class (`classed`). */
  model: string;
  tokens: TokenUsage;
}

const WIDTH = 7;
const QUARTER_MS = 900_000;

/** Takes the replies that have a key and are the session's own by its log's word. */
export function packReplies(tool: string, replies: readonly UsageEntry[]): PackedReplies | null {
  const keyed = replies.filter((reply) => reply.key !== undefined && !reply.inherited);
  if (keyed.length === 0) return null;
  const hashes = new Float64Array(keyed.length);
  const values = new Float64Array(keyed.length * WIDTH);
  const models: string[] = [];
  keyed.forEach((reply, i) => {
    hashes[i] = replyHash(tool, reply);
    const at = reply.at === undefined ? Number.NaN : Date.parse(reply.at);
    const name = classed(reply.model, reply.priceClass);
    let model = models.indexOf(name);
    if (model < 0) model = models.push(name) - 1;
    const { input, output, cacheWrite5m, cacheWrite1h, cacheRead } = reply.usage;
    let to = i * WIDTH;
    values[to++] = Number.isNaN(at) ? -1 : Math.floor(at / QUARTER_MS);
    values[to++] = model;
    values[to++] = input;
    values[to++] = output;
    values[to++] = cacheWrite5m;
    values[to++] = cacheWrite1h;
    values[to++] = cacheRead;
  });
  return { hashes, values, models };
}

/** The reply at an index. */
export function replyAt({ hashes, values, models }: PackedReplies, index: number): Reply {
  // By index: a view of each would be most of the work.
  const at = index * WIDTH;
  const value = (field: number) => values[at + field] as number;
  const tokens: TokenUsage = {
    input: value(2),
    output: value(3),
    cacheWrite5m: value(4),
    cacheWrite1h: value(5),
    cacheRead: value(6),
  };
  return { hash: hashes[index] as number, quarter: value(0), model: models[value(1)] ?? "unknown", tokens };
}

/** `2026-11-20T20:15`. */
export const slotName = (quarter: number): string => new Date(quarter * QUARTER_MS).toISOString().slice(0, 16);

/** More than any reply has beside its output. */
const SIZE = 2 ** 26;

/**
 * One number by which copies of a reply are compared: a copy made while the reply was being written holds less. The larger output
 * counts, of equal ones the larger sum.
 */
export function computeWeight({ input, output, cacheWrite5m, cacheWrite1h, cacheRead }: TokenUsage): number {
  return output * SIZE + Math.min(SIZE - 1, input + output + cacheWrite5m + cacheWrite1h + cacheRead);
}

export const outputOfWeight = (weight: number): number => Math.floor(weight / SIZE);
