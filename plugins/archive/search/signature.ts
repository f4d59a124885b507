/**
 * Signatures: a bit set of the hashed trigrams of a chunk's text, folded for case. A chunk whose signature lacks one trigram of a
 * word cannot hold the word; all others are inflated and looked at, so answers are exact.
 */

/** Bits of a full chunk's signature, as a power of two. Measured on coding logs: 64 KB of text sets about a sixth of 32,768 bits. */
const FULL_LOG2 = 15;
const SMALL_LOG2 = 10;
/** Past this share of set bits the signature would pass nearly everything, and is made four times as wide. */
const DENSE = 0.5;

let table: Uint16Array | undefined;

/**
 * Folds a UTF-16 code unit so that units that are equal under simple case folding (the `i` and `u` flags of a RegExp) become equal.
 * It may make more units equal than that (never fewer): signatures only rule out. Astral letters have case too, so all surrogates fold
 * into one. Made on first use, in about 5 ms.
 */
export function foldTable(): Uint16Array {
  table ??= makeFold();
  return table;
}

function makeFold(): Uint16Array {
  const table = new Uint16Array(65_536);
  for (let unit = 0; unit < table.length; unit++) table[unit] = unit;
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
      if (lower.length === 1) table[unit] = lower.charCodeAt(0);
    }
  }
  table.fill(0xd800, 0xd800, 0xe000);
  return table;
}

/** Of three folded units; ASCII trigrams stay distinct up to the multiplication. */
const hash = (a: number, b: number, c: number) => Math.imul((a << 14) ^ (b << 7) ^ c, 0x9e3779b1) >>> 0;

/**
 * Signature of a text given in parts; no word is found across two of them. Cost: one pass, about 2 ns a character. Its length in bytes
 * is a power of two that says how it was made.
 */
export function signatureOf(parts: readonly string[]): Uint8Array {
  let size = 0;
  for (const part of parts) size += part.length;
  let log2 = SMALL_LOG2;
  while (log2 < FULL_LOG2 && 1 << log2 < size * 0.7) log2++;
  const bits = fill(parts, log2);
  if (log2 < FULL_LOG2 || share(bits) <= DENSE) return bits;
  return fill(parts, log2 + 2);
}

function fill(parts: readonly string[], log2: number): Uint8Array {
  const bits = new Uint8Array(1 << (log2 - 3));
  for (const part of parts) if (part.length > 2) mark(bits, part, 32 - log2);
  return bits;
}

function mark(bits: Uint8Array, text: string, shift: number): void {
  const FOLD = foldTable();
  const length = text.length;
  let a = FOLD[text.charCodeAt(0)] as number;
  let b = FOLD[text.charCodeAt(1)] as number;
  for (let i = 2; i < length; i++) {
    const c = FOLD[text.charCodeAt(i)] as number;
    const h = Math.imul((a << 14) ^ (b << 7) ^ c, 0x9e3779b1) >>> shift;
    bits[h >>> 3] = (bits[h >>> 3] as number) | (1 << (h & 7));
    a = b;
    b = c;
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

/** Hashes of all trigrams of `word`; empty when it has fewer than three characters and so rules nothing out. */
export function trigramsOf(word: string): Uint32Array {
  const FOLD = foldTable();
  const hashes = new Set<number>();
  for (let i = 2; i < word.length; i++) {
    const [a, b, c] = [word.charCodeAt(i - 2), word.charCodeAt(i - 1), word.charCodeAt(i)];
    hashes.add(hash(FOLD[a] as number, FOLD[b] as number, FOLD[c] as number));
  }
  return Uint32Array.from(hashes);
}

/** False when the chunk behind this signature cannot hold all of `hashes`. Some 10 ns. */
export function mayHold(sidecars: Uint8Array, start: number, length: number, hashes: Uint32Array): boolean {
  const shift = 32 - (31 - Math.clz32(length * 8));
  for (const h of hashes) {
    const bit = h >>> shift;
    if (!((sidecars[start + (bit >>> 3)] as number) & (1 << (bit & 7)))) return false;
  }
  return true;
}
