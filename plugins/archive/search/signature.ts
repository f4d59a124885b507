/**
 * Signatures: which groups of three and of five letters stand side by side in the words of a chunk. A chunk whose signature lacks one
 * group of a sought word cannot hold it; all others are inflated and searched, so answers are exact.
 *
 * Five letters tell words apart where three do not: on coding logs nearly every chunk has most groups of three. Groups across blanks
 * and signs are left out: they are many, and the words around them say enough.
 *
 * Layout: version, widths of the three sets as powers of two, whether there is a table of letters; then the sets one after another.
 * | set | holds |
 * |---|---|
 * | fives | all groups of five, one bit each |
 * | threes | groups of three, two bits each; without those that the two sets below hold |
 * | wide | groups of three with a letter outside of ASCII, two bits each: texts that have few of them lose nothing to the many others |
 * | letters | groups of three from a to z, one bit for each there is: a short word is ruled out wherever it is not |
 *
 * Groups are those of one field: none reaches from a message into the next. No signature at all says nothing, so its chunk may hold all.
 */
import type { Bounds } from "sessarc/storage";
import { plainPieces, toLetters } from "./canonical.ts";
import { foldTable } from "./fold.ts";

const VERSION = 1;
const HEAD = 5;
/** Bits for the fives of a full chunk, as a power of two. 64 KB of text have about 10,000 fives. */
const FULL_LOG2 = 15;
const SMALL_LOG2 = 8;
/** Past this share of set bits the fives would pass nearly everything, and are made four times as wide. */
const DENSE = 0.6;
/** Characters from which on a table of all groups of a to z is smaller than a set that tells them apart. */
const LETTERS_FROM = 8_192;
const LETTERS_BYTES = Math.ceil(26 ** 3 / 8);
/** Bits for each byte that UTF-8 has more than there are characters: 4 an accented letter, 8 an ideograph; 16 KB at most. */
const WIDE_BITS = 4;
const WIDE_LOG2 = 17;

const A = 97;
const BACKSLASH = 92;
const SURROGATE = 0xd800;
const MIX = 0x9e3779b1;
const MIX_TWO = 0x27d4eb2f;
const MIX_FIVE = 0x85ebca6b;

/** Where the sets of a signature start, in bytes, and how far a hash is cut. */
interface Sets {
  fives: number;
  cutFives: number;
  threes: number;
  cutThrees: number;
  /** −1: there is none. */
  wide: number;
  cutWide: number;
  letters: number;
}

function toSets(bytes: Uint8Array, start: number): Sets {
  const fivesLog2 = bytes[start + 1] as number;
  const threesLog2 = bytes[start + 2] as number;
  const wideLog2 = bytes[start + 3] as number;
  const fives = start + HEAD;
  const threes = fives + (1 << (fivesLog2 - 3));
  const wide = threes + (1 << (threesLog2 - 3));
  const letters = wideLog2 === 0 ? wide : wide + (1 << (wideLog2 - 3));
  return {
    fives,
    cutFives: 32 - fivesLog2,
    threes,
    cutThrees: 32 - threesLog2,
    wide: wideLog2 === 0 ? -1 : wide,
    cutWide: 32 - wideLog2,
    letters: bytes[start + 4] === 1 ? letters : -1,
  };
}

/**
 * Signature of the texts and tool inputs at `bounds` of JSON, which have `units` UTF-16 units. Taken from the bytes that are stored, so that
 * an import keeps no string until a chunk is full. An escape ends a word, as the character it stands for does. Cost: some 4 ns a byte.
 */
export function toSignature(json: Uint8Array, units: number, bounds: Bounds): Uint8Array {
  const fivesLog2 = log2For(units / 2, SMALL_LOG2, FULL_LOG2);
  const signature = fill(json, fivesLog2, units, bounds);
  if (fivesLog2 < FULL_LOG2 || share(signature.subarray(HEAD, HEAD + (1 << (fivesLog2 - 3)))) <= DENSE)
    return signature;
  return fill(json, fivesLog2 + 2, units, bounds);
}

function log2For(bits: number, least: number, most: number): number {
  let log2 = least;
  while (log2 < most && 1 << log2 < bits) log2++;
  return log2;
}

/** Number of a group of three from a to z; −1 for any other. */
function toGroup(a: number, b: number, c: number): number {
  const [x, y, z] = [a - A, b - A, c - A];
  return x >= 0 && x < 26 && y >= 0 && y < 26 && z >= 0 && z < 26 ? x * 676 + y * 26 + z : -1;
}

function fill(json: Uint8Array, fivesLog2: number, units: number, bounds: Bounds): Uint8Array {
  const letters = units >= LETTERS_FROM;
  const threesLog2 = letters ? log2For(units / 4, SMALL_LOG2, 14) : log2For(units * 2, SMALL_LOG2, 14);
  let more = -units;
  for (let i = 0; i < bounds.length; i += 2) more += (bounds[i + 1] as number) - (bounds[i] as number);
  const wideLog2 = more === 0 ? 0 : log2For(more * WIDE_BITS, SMALL_LOG2, WIDE_LOG2);
  const bytes = (log2: number) => (log2 === 0 ? 0 : 1 << (log2 - 3));
  const bits = new Uint8Array(
    HEAD + bytes(fivesLog2) + bytes(threesLog2) + bytes(wideLog2) + (letters ? LETTERS_BYTES : 0),
  );
  bits.set([VERSION, fivesLog2, threesLog2, wideLog2, letters ? 1 : 0]);
  const sets = toSets(bits, 0);
  for (let i = 0; i < bounds.length; i += 2) mark(bits, json, bounds[i] as number, bounds[i + 1] as number, sets);
  return bits;
}

/** A field, word by word: nearly all are ASCII, and need no decoding. */
function mark(bits: Uint8Array, text: Uint8Array, from: number, end: number, sets: Sets): void {
  const { fives, cutFives, threes, cutThrees, letters } = sets;
  const fold = foldTable();
  for (let i = from; i < end; i++) {
    const first = i;
    let run = 0;
    let plain = 0;
    // One by one: made from lists, as often as there are words, they cost a fourteenth of all this.
    let a = 0;
    let b = 0;
    // Keys of the threes that ended one and two letters ago.
    let one = 0;
    let two = 0;
    for (; i < end; i++) {
      const byte = text[i] as number;
      if (byte > 127) {
        i = markWide(bits, text, first, end, sets);
        break;
      }
      const c = fold[byte] as number;
      if (c === 0) break;
      const key = (a << 14) ^ (b << 7) ^ c;
      // Among the characters of words, only digits and `_` precede `a`.
      plain = c >= A ? plain + 1 : 0;
      if (++run >= 3) {
        if (plain >= 3 && letters >= 0) set(bits, letters, (a * 26 + b) * 26 + c - A * 703);
        else {
          set(bits, threes, Math.imul(key, MIX) >>> cutThrees);
          set(bits, threes, Math.imul(key, MIX_TWO) >>> cutThrees);
        }
        if (run >= 5) set(bits, fives, Math.imul(Math.imul(two, MIX_FIVE) ^ key, MIX) >>> cutFives);
      }
      a = b;
      b = c;
      two = one;
      one = key;
    }
    if (text[i] === BACKSLASH) i++;
  }
}

/**
 * The same for a stretch of words and signs that begins at `start` and has letters or signs outside of ASCII; answers where it ends: at a
 * sign of ASCII, or with the field.
 */
function markWide(bits: Uint8Array, text: Uint8Array, start: number, end: number, sets: Sets): number {
  const { fives, cutFives, letters } = sets;
  const fold = foldTable();
  let run = 0;
  let a = 0;
  let b = 0;
  let one = 0;
  let two = 0;
  for (let i = start; i < end; ) {
    const byte = text[i] as number;
    const bytes = lengthOf(byte);
    const c = fold[bytes === 4 ? SURROGATE : unitAt(text, i, bytes)] as number;
    if (c === 0 && bytes === 1) return i;
    i += bytes;
    // An astral letter is two units.
    for (let units = bytes === 4 ? 2 : 1; units > 0; units--) {
      run = c === 0 ? 0 : run + 1;
      if (run === 0) continue;
      const key = (a << 14) ^ (b << 7) ^ c;
      if (run >= 3) {
        const letter = toGroup(a, b, c);
        const isWide = (a | b | c) > 127;
        if (letter >= 0 && letters >= 0) set(bits, letters, letter);
        else {
          const at = isWide ? sets.wide : sets.threes;
          const cut = isWide ? sets.cutWide : sets.cutThrees;
          set(bits, at, Math.imul(key, MIX) >>> cut);
          set(bits, at, Math.imul(key, MIX_TWO) >>> cut);
        }
        if (run >= 5) set(bits, fives, Math.imul(Math.imul(two, MIX_FIVE) ^ key, MIX) >>> cutFives);
      }
      a = b;
      b = c;
      two = one;
      one = key;
    }
  }
  return end;
}

/** Groups in sought words, hashed and not cut to a signature's width yet. */
export interface Grams {
  threes: Three[];
  fives: number[];
  /** Of letters that can be written in several ways: of each list all groups of one of its lists must be there. */
  either: Three[][][];
}
interface Three {
  one: number;
  two: number;
  letter: number;
  wide: boolean;
}

/** Groups of all `words`, in every spelling; none where no three letters stand side by side, and so nothing is ruled out. */
export function toGrams(words: readonly string[]): Grams {
  return { ...groupsIn(words.flatMap(plainPieces)), either: words.flatMap(eitherOf) };
}

/** For each letter of a word that can be written in several ways: the groups that it makes with its neighbours, by spelling. */
function eitherOf(word: string): Three[][][] {
  const letters = toLetters(word);
  return letters.flatMap(({ forms }, i) => {
    if (forms.length === 1) return [];
    let spelled = [""];
    for (const near of letters.slice(Math.max(0, i - 1), i + 2))
      spelled = spelled.flatMap((text) => near.forms.map((form) => text + form));
    const groups = spelled.map((text) => groupsIn([text]).threes);
    return groups.some((list) => list.length === 0) ? [] : [groups];
  });
}

function groupsIn(words: readonly string[]): Pick<Grams, "threes" | "fives"> {
  const fold = foldTable();
  const threes = new Map<number, Three>();
  const fives = new Set<number>();
  for (const word of words) {
    const keys: number[] = [];
    let run = 0;
    let [a, b] = [0, 0];
    for (let i = 0; i < word.length; i++) {
      const c = fold[word.charCodeAt(i)] as number;
      run = c === 0 ? 0 : run + 1;
      const key = (a << 14) ^ (b << 7) ^ c;
      keys.push(key);
      if (run >= 3)
        threes.set(a * 2 ** 32 + b * 2 ** 16 + c, {
          one: Math.imul(key, MIX) >>> 0,
          two: Math.imul(key, MIX_TWO) >>> 0,
          letter: toGroup(a, b, c),
          wide: (a | b | c) > 127,
        });
      if (run >= 5) fives.add(Math.imul(Math.imul(keys[i - 2] as number, MIX_FIVE) ^ key, MIX) >>> 0);
      if (c === 0) continue;
      a = b;
      b = c;
    }
  }
  return { threes: [...threes.values()], fives: [...fives] };
}

/** False when the chunk behind this signature cannot hold all of `grams`. Some 10 ns. */
export function mayHold(bytes: Uint8Array, start: number, length: number, grams: Grams): boolean {
  if (length === 0) return true;
  const sets = toSets(bytes, start);
  const has = (at: number, bit: number) => ((bytes[at + (bit >>> 3)] as number) & (1 << (bit & 7))) !== 0;
  for (const hash of grams.fives) if (!has(sets.fives, hash >>> sets.cutFives)) return false;
  const hasThree = ({ one, two, letter, wide }: Three) => {
    if (letter >= 0 && sets.letters >= 0) return has(sets.letters, letter);
    const at = wide ? sets.wide : sets.threes;
    const cut = wide ? sets.cutWide : sets.cutThrees;
    return at >= 0 && has(at, one >>> cut) && has(at, two >>> cut);
  };
  for (const three of grams.threes) if (!hasThree(three)) return false;
  for (const spellings of grams.either) if (!spellings.some((threes) => threes.every(hasThree))) return false;
  return true;
}

/** Calls back with each hash of a group of five that the chunk may have, cut to `log2` bits. A signature of nothing may have all. */
export function toFives(bytes: Uint8Array, log2: number, use: (hash: number) => void): void {
  if (bytes.length === 0) {
    for (let hash = 0; hash < 1 << log2; hash++) use(hash);
    return;
  }
  const own = bytes[1] as number;
  for (let i = 0; i < 1 << (own - 3); i++) {
    for (let rest = bytes[HEAD + i] as number; rest !== 0; rest &= rest - 1) {
      const hash = i * 8 + 31 - Math.clz32(rest & -rest);
      if (own >= log2) use(hash >>> (own - log2));
      else for (let n = 0; n < 1 << (log2 - own); n++) use((hash << (log2 - own)) + n);
    }
  }
}

/** Bytes of the character that begins with `byte`. */
const lengthOf = (byte: number) => (byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4);

/** The UTF-16 unit of a character of up to three bytes. */
function unitAt(text: Uint8Array, i: number, bytes: number): number {
  const first = text[i] as number;
  if (bytes === 1) return first;
  const second = (text[i + 1] as number) & 0x3f;
  if (bytes === 2) return ((first & 0x1f) << 6) | second;
  return ((first & 0x0f) << 12) | (second << 6) | ((text[i + 2] as number) & 0x3f);
}

function set(bits: Uint8Array, start: number, bit: number): void {
  const at = start + (bit >>> 3);
  bits[at] = (bits[at] as number) | (1 << (bit & 7));
}

/** How many of them are set, of one. */
function share(bits: Uint8Array): number {
  let ones = 0;
  for (const byte of bits) {
    let x = byte - ((byte >>> 1) & 0x55);
    x = (x & 0x33) + ((x >>> 2) & 0x33);
    ones += (x + (x >>> 4)) & 0x0f;
  }
  return ones / (bits.length * 8);
}
