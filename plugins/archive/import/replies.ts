/** Replies packed into numbers, so that thousands cross a thread and fit a catalogue row. */
import type { SessionUsage, UsageEntry } from "sessarc";

/** Replies of one session that may be claimed by another one. All arrays go by reply. */
export interface PackedReplies {
  /** 53-bit hash of tool and reply key. */
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
    hashes[i] = hash53(`${tool}\0${reply.key}`);
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

/** One reply to move; `output` where the session counted another output than `replies` says. */
export interface Move {
  index: number;
  output?: number;
}

/** Moves replies from `own` (and its slots) to `inherited`. */
export function moveReplies(
  replies: PackedReplies,
  moves: readonly Move[],
  own: SessionUsage,
  inherited: SessionUsage,
  slots: Record<string, { u?: SessionUsage }>,
): void {
  for (const { index, output } of moves) {
    const v = replies.values.slice(index * WIDTH, index * WIDTH + WIDTH);
    if (output !== undefined) v[3] = output;
    const model = replies.models[v[1] as number] ?? "unknown";
    add(own, model, v, -1);
    add(inherited, model, v, 1);
    const quarter = v[0] as number;
    const slot = quarter < 0 ? undefined : slots[new Date(quarter * QUARTER_MS).toISOString().slice(0, 16)];
    if (slot?.u) {
      add(slot.u, model, v, -1);
      if (Object.keys(slot.u).length === 0) delete slot.u;
    }
  }
}

function add(usage: SessionUsage, model: string, v: Float64Array, sign: 1 | -1): void {
  const sum = Object.hasOwn(usage, model)
    ? (usage[model] as SessionUsage[string])
    : { input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 };
  usage[model] = sum;
  sum.input = Math.max(0, sum.input + sign * (v[2] as number));
  sum.output = Math.max(0, sum.output + sign * (v[3] as number));
  sum.cacheWrite5m = Math.max(0, sum.cacheWrite5m + sign * (v[4] as number));
  sum.cacheWrite1h = Math.max(0, sum.cacheWrite1h + sign * (v[5] as number));
  sum.cacheRead = Math.max(0, sum.cacheRead + sign * (v[6] as number));
  if (sum.input + sum.output + sum.cacheWrite5m + sum.cacheWrite1h + sum.cacheRead === 0) delete usage[model];
}

/** cyrb53: at a million replies the chance that any two meet is about 1 in 18,000. */
export function hash53(text: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}
