/**
 * Signatures: which groups of three and of five letters stand side by side in the words of a chunk, hashed into two bit sets. A chunk
 * whose signature lacks one group of a sought word cannot hold it; all others are inflated and looked at, so answers are exact.
 *
 * Five letters tell words apart where three do not: on coding logs nearly every chunk has most groups of three. Groups across blanks
 * and signs are left out: they are many, and the words around them say enough.
 */

/** Bits for the fives of a full chunk, as a power of two; the threes get a quarter of it. 64 KB of text have about 10,000 fives. */
const FULL_LOG2 = 15;
const SMALL_LOG2 = 8;
/** Past this share of set bits the signature would pass nearly everything, and is made four times as wide. */
const DENSE = 0.6;

let table: Uint16Array | undefined;

/**
 * Folds a UTF-16 code unit of a word so that units that are equal under simple case folding (the `i` and `u` flags of a RegExp) become
 * equal; 0 for what is no part of a word. More units may become equal than that (never fewer): signatures only rule out. Astral letters
 * have case too, so all surrogates fold into one. Made on first use, in about 10 ms.
 */
function foldTable(): Uint16Array {
  table ??= makeFold();
  return table;
}

function makeFold(): Uint16Array {
  const fold = new Uint16Array(65_536);
  const word = /[\p{L}\p{N}\p{M}_]/u;
  for (let unit = 0; unit < fold.length; unit++) {
    const ideograph = (unit >= 0x3400 && unit <= 0x9fff) || (unit >= 0xac00 && unit <= 0xd7a3);
    if (ideograph || word.test(String.fromCharCode(unit))) fold[unit] = unit;
  }
  const cased: [number, number][] = [
    [0x41, 0x2fff],
    [0xa640, 0xabff],
    [0xff21, 0xff5a],
  ];
  for (const [first, last] of cased) {
    for (let unit = first; unit <= last; unit++) {
      const char = String.fromCharCode(unit);
      const upper = char.toUpperCase();
      const lower = (upper.length === 1 ? upper : char).toLowerCase();
      if (lower.length === 1) fold[unit] = fold[lower.charCodeAt(0)] as number;
    }
  }
  return fold.fill(0xd800, 0xd800, 0xe000);
}

const MIX = 0x9e3779b1;
const MIX_FIVE = 0x85ebca6b;

/**
 * Signature of a text given in parts; no word is found across two of them. Cost: one pass, about 4 ns a character. Layout: the fives' bits
 * (a power of two of bytes), then the threes' (a quarter of that).
 */
export function signatureOf(parts: readonly string[]): Uint8Array {
  let size = 0;
  for (const part of parts) size += part.length;
  let log2 = SMALL_LOG2;
  while (log2 < FULL_LOG2 && 1 << log2 < size * 0.5) log2++;
  const bits = fill(parts, log2);
  if (log2 < FULL_LOG2 || share(bits) <= DENSE) return bits;
  return fill(parts, log2 + 2);
}

function fill(parts: readonly string[], log2: number): Uint8Array {
  const fives = 1 << (log2 - 3);
  const bits = new Uint8Array(fives + fives / 4);
  for (const part of parts) if (part.length > 2) mark(bits, part, log2, fives);
  return bits;
}

function mark(bits: Uint8Array, text: string, log2: number, fives: number): void {
  const fold = foldTable();
  const shift = 32 - log2;
  let run = 0;
  let [a, b] = [0, 0];
  // Keys of the threes that ended one and two letters ago.
  let [one, two] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    const c = fold[text.charCodeAt(i)] as number;
    if (c === 0) {
      run = 0;
      continue;
    }
    const key = (a << 14) ^ (b << 7) ^ c;
    if (++run >= 3) {
      const three = Math.imul(key, MIX) >>> (shift + 2);
      const at = fives + (three >>> 3);
      bits[at] = (bits[at] as number) | (1 << (three & 7));
      if (run >= 5) {
        const five = Math.imul(Math.imul(two, MIX_FIVE) ^ key, MIX) >>> shift;
        bits[five >>> 3] = (bits[five >>> 3] as number) | (1 << (five & 7));
      }
    }
    a = b;
    b = c;
    two = one;
    one = key;
  }
}

function share(bits: Uint8Array): number {
  let set = 0;
  for (const word of new Uint32Array(bits.buffer)) {
    let x = word - ((word >>> 1) & 0x55555555);
    x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
    set += Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return set / (bits.length * 8);
}

/** Hashes of the groups in sought words, before they are cut to a signature's width. */
export interface Grams {
  threes: number[];
  fives: number[];
}

/** Groups of all `words`; none where no three letters stand side by side, and so nothing is ruled out. */
export function gramsOf(words: readonly string[]): Grams {
  const fold = foldTable();
  const threes = new Set<number>();
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
      if (run >= 3) threes.add(Math.imul(key, MIX) >>> 0);
      if (run >= 5) fives.add(Math.imul(Math.imul(keys[i - 2] as number, MIX_FIVE) ^ key, MIX) >>> 0);
      if (c === 0) continue;
      a = b;
      b = c;
    }
  }
  return { threes: [...threes], fives: [...fives] };
}

/** False when the chunk behind this signature cannot hold all of `grams`. Some 10 ns. */
export function mayHold(sidecars: Uint8Array, start: number, length: number, grams: Grams): boolean {
  const fives = (length / 5) * 4;
  const shift = 32 - (31 - Math.clz32(fives * 8));
  for (const hash of grams.fives) {
    const bit = hash >>> shift;
    if (!((sidecars[start + (bit >>> 3)] as number) & (1 << (bit & 7)))) return false;
  }
  for (const hash of grams.threes) {
    const bit = hash >>> (shift + 2);
    if (!((sidecars[start + fives + (bit >>> 3)] as number) & (1 << (bit & 7)))) return false;
  }
  return true;
}
