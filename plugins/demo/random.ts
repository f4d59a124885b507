/** Numbers and ids that only look random: the same seed gives the same logs. */
export interface Random {
  /** Integer in [low, high]. */
  between(low: number, high: number): number;
  hex(length: number): string;
  /** Letters and digits. */
  text(length: number): string;
  uuid(): string;
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

export function createRandom(seed: string): Random {
  let state = hash(seed);
  // mulberry32: small, fast, good enough to look at.
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  const from = (alphabet: string, length: number) =>
    Array.from({ length }, () => alphabet[between(0, alphabet.length - 1)]).join("");
  const hex = (length: number) => from("0123456789abcdef", length);
  return {
    between,
    hex,
    text: (length) => from(LETTERS, length),
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-${from("89ab", 1)}${hex(3)}-${hex(12)}`,
  };
}

function hash(text: string): number {
  let h = 2166136261;
  for (const char of text) h = Math.imul(h ^ (char.codePointAt(0) ?? 0), 16777619);
  return h;
}
