/**
 * In how many messages of a chunk the groups of three letters stand that most of them have: a total of such a group ("the") inflates
 * none of these chunks. They stand behind the sets of a signature: groups (2 bytes each), then their counts (2 each), of at most 48.
 */

import { set } from "./bits.ts";

/** Groups of three from a to z. */
export const GROUPS = 26 ** 3;
const KEPT = 48;
const ENTRY = 4;
/** At most. */
export const COUNTS_BYTES = KEPT * ENTRY;

/** Number of a group of three from a to z; −1 for any other. */
export function groupOf(a: number, b: number, c: number): number {
  const [x, y, z] = [a - 97, b - 97, c - 97];
  return x >= 0 && x < 26 && y >= 0 && y < 26 && z >= 0 && z < 26 ? x * 676 + y * 26 + z : -1;
}

/** The group that a word is, in any case; −1 for a word that is none. */
export function groupIn(word: string): number {
  const [a = 0, b = 0, c = 0] = Buffer.from(word.toLowerCase());
  return /^[a-z]{3}$/i.test(word) ? groupOf(a, b, c) : -1;
}

/**
 * What is known of a group, with one more place where it stands: the last message that has it (from 1) in the upper half, in the lower
 * half how many have it. Without a branch: whether a message has a group already is as good as tossed, and guessing wrong costs more.
 */
export function meet(known: number, message: number): number {
  const other = ((((known >>> 16) ^ message) + 0xffff) >>> 16) & 1;
  return (message << 16) | ((known & 0xffff) + other);
}

/** Of one chunk at a time. */
export class GroupCounter {
  /** By group, see `meet`. */
  readonly met = new Uint32Array(GROUPS);
  /** False: a letter folds into a to z here that a search tells apart. */
  exact = true;

  /**
   * Sets a bit from `letters` on for each group that was met, and writes what is kept of them to `bytes` from `start`; answers how long
   * that is. The next chunk's begin at nothing.
   */
  take(bytes: Uint8Array, letters: number, start: number): number {
    const { met } = this;
    const having: number[] = [];
    for (let group = 0; group < GROUPS; group++) {
      const known = met[group] as number;
      if (known === 0) continue;
      set(bytes, letters, group);
      const count = known & 0xffff;
      having[count] = (having[count] ?? 0) + 1;
    }
    const kept = this.exact ? this.#most(having) : [];
    const put = (at: number, value: number) => {
      bytes[at] = value & 0xff;
      bytes[at + 1] = value >>> 8;
    };
    for (const [i, group] of kept.entries()) {
      put(start + i * 2, group);
      put(start + (kept.length + i) * 2, (met[group] as number) & 0xffff);
    }
    met.fill(0);
    this.exact = true;
    return kept.length * ENTRY;
  }

  /** Those that most messages have, in order. `having`: by number of messages, how many groups have as many. */
  #most(having: readonly number[]): number[] {
    let least = having.length;
    let room = KEPT;
    while (least > 1 && room > 0) room -= having[--least] ?? 0;
    // Of those that `least` messages have as many as there is room for.
    let last = (having[least] ?? 0) + Math.min(room, 0);
    const most: number[] = [];
    for (let group = 0; group < GROUPS; group++) {
      const count = (this.met[group] as number) & 0xffff;
      if (count > least || (count === least && last-- > 0)) most.push(group);
    }
    return most;
  }
}

/** Messages that have the group, by what stands in `bytes` from `start` to `end`; undefined where it says nothing of it. */
export function countOf(bytes: Uint8Array, start: number, end: number, group: number): number | undefined {
  const entries = Math.floor((end - start) / ENTRY);
  const at = (i: number) => (bytes[start + i * 2] as number) | ((bytes[start + i * 2 + 1] as number) << 8);
  for (let i = 0; i < entries; i++) if (at(i) === group) return at(entries + i);
  return undefined;
}
