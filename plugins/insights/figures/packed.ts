/**
 * What can be counted of a session, in bytes: most numbers are small, and a hundred thousand sessions of them stay in some 20 MB.
 *
 * Five lengths, then as many parts: quarter-hours (messages, active ms, failed calls), tokens (model, and one number for each of `FIELDS`), kinds
 * (messages), tools (calls, failures), evidence. A number is written seven bits a byte, low ones first, the last byte without the
 * eighth bit; a quarter-hour as its distance to the one before, which may be negative.
 */
import type { TokenUsage, UsageEvidence } from "sessarc";
import { numberOf } from "./names.ts";

/** One model's tokens of one quarter-hour. */
export interface TokenSlot {
  quarter: number;
  model: string;
  tokens: TokenUsage;
}

/** What happened in one quarter-hour: messages, active ms, failed calls. */
export interface Slot {
  quarter: number;
  m: number;
  a: number;
  e: number;
}

/** Of a session as a whole. */
export interface Counts {
  /** Messages by kind. */
  kinds: Record<string, number>;
  /** Calls and failures by tool name. */
  tools: Record<string, [calls: number, errors: number]>;
}

export const FIELDS = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const;

/** Made by `packed`, from `at` on. Many sessions may share the bytes. */
export interface Packed {
  readonly bytes: Uint8Array;
  readonly at: number;
  /** What the numbers for names in it are called in this process; undefined: the same. */
  readonly numbers?: readonly number[] | undefined;
}

export const PARTS = { slots: 0, tokens: 1, kinds: 2, tools: 3, evidence: 4 } as const;
const COUNT = 5;

/** Whole numbers from 0 on; slots in the order of time. */
export function packed(
  slots: readonly Slot[],
  usage: readonly TokenSlot[],
  evidence: UsageEvidence | null,
  { kinds, tools }: Counts,
): Packed {
  const parts = Array.from({ length: COUNT }, () => new Writer());
  const [slotPart, tokenPart, kindPart, toolPart, evidencePart] = parts as [Writer, Writer, Writer, Writer, Writer];
  let before = 0;
  for (const { quarter, m, a, e } of slots) {
    slotPart
      .signed(quarter - before)
      .put(m)
      .put(a)
      .put(e);
    before = quarter;
  }
  before = 0;
  for (const { quarter, model, tokens } of usage) {
    tokenPart.signed(quarter - before).put(numberOf(model));
    for (const field of FIELDS) tokenPart.put(tokens[field]);
    before = quarter;
  }
  for (const kind in kinds) kindPart.put(numberOf(kind)).put(kinds[kind] as number);
  for (const name in tools) {
    const [calls, errors] = tools[name] as [number, number];
    toolPart.put(numberOf(name)).put(calls).put(errors);
  }
  if (evidence) {
    const { records, requests, duplicatesFolded, inheritedExcluded } = evidence;
    evidencePart.put(records).put(requests).put(duplicatesFolded).put(inheritedExcluded);
  }
  return { bytes: joined(parts), at: 0 };
}

/** The bytes of one part; `numberOfPart` is of `PARTS`. */
export function part({ bytes, at }: Packed, numberOfPart: number): Reader {
  const reader = new Reader(bytes, at, bytes.length);
  let before = 0;
  let length = 0;
  for (let i = 0; i < COUNT; i++) {
    const own = reader.next();
    if (i < numberOfPart) before += own;
    else if (i === numberOfPart) length = own;
  }
  return new Reader(bytes, reader.at + before, reader.at + before + length);
}

/** Where they end. */
export const endOf = (one: Packed): number => part(one, PARTS.evidence).end;

/** How many numbers stand together in each part, and which of them is one for a name. */
const SHAPES = [
  [4, -1],
  [2 + FIELDS.length, 1],
  [2, 0],
  [3, 0],
  [4, -1],
] as const;

/** A session's bytes by themselves, with the numbers of this process. */
export function bytesOf(one: Packed): Uint8Array {
  const { bytes, at, numbers } = one;
  if (numbers === undefined) return bytes.subarray(at, endOf(one));
  const parts = SHAPES.map(([width, name], i) => {
    const writer = new Writer();
    const reader = part(one, i);
    for (let column = 0; reader.more; column = (column + 1) % width) {
      const value = reader.next();
      writer.put(column === name ? (numbers[value] as number) : value);
    }
    return writer;
  });
  return joined(parts);
}

function joined(parts: readonly Writer[]): Uint8Array {
  const head = new Writer();
  for (const { bytes } of parts) head.put(bytes.length);
  const all = [head, ...parts];
  const joint = new Uint8Array(all.reduce((sum, { bytes }) => sum + bytes.length, 0));
  let at = 0;
  for (const { bytes } of all) {
    joint.set(bytes, at);
    at += bytes.length;
  }
  return joint;
}

class Writer {
  readonly bytes: number[] = [];

  put(value: number): this {
    // What is no whole number would be read as others.
    let rest = value > 0 ? Math.trunc(value) : 0;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.bytes.push((rest % 128) | 128);
    this.bytes.push(rest);
    return this;
  }
  signed(value: number): this {
    return this.put(value < 0 ? -2 * value - 1 : 2 * value);
  }
}

export class Reader {
  at: number;
  readonly end: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, at: number, end: number) {
    this.#bytes = bytes;
    this.at = at;
    this.end = end;
  }

  get more(): boolean {
    return this.at < this.end;
  }
  next(): number {
    const first = this.#bytes[this.at++] as number;
    if (first < 128) return first;
    let value = first - 128;
    for (let scale = 128; ; scale *= 128) {
      const byte = this.#bytes[this.at++] as number;
      if (byte < 128) return value + byte * scale;
      value += (byte - 128) * scale;
    }
  }
  signed(): number {
    const value = this.next();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}
