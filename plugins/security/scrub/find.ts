/** Finds secrets of which only the sums are known: a rolling hash in one pass for each length of window, then the sum. */
import { toFingerprint } from "../secrets/leaks/fingerprint.ts";
import { FACTOR, type FormKind, halfOf, leadingOf, type MaskKey, rollOf } from "./keys.ts";

export interface Hit {
  start: number;
  end: number;
  kind: FormKind;
  phase: number;
}

export interface Finder {
  /** Every occurrence. Linear in the text. */
  find(text: string): Hit[];
  /** Characters of the longest key. */
  readonly longest: number;
}

/** A short value inside a longer word is another word. */
const WHOLE_WORD_BELOW = 12;
const BITS = 16;
const SHIFT = 32 - BITS;
const SPREAD = 0x9e3779b1;

export function createFinder(keys: readonly MaskKey[]): Finder {
  const factor = FACTOR;
  const groups = [...new Set(keys.map(({ window }) => window))].map((window) => {
    const table = new Map<number, MaskKey[]>();
    const bloom = new Uint8Array(1 << BITS);
    for (const key of keys) {
      if (key.window !== window) continue;
      bloom[Math.imul(key.roll, SPREAD) >>> SHIFT] = 1;
      const list = table.get(key.roll);
      if (list) list.push(key);
      else table.set(key.roll, [key]);
    }
    return { window, leading: leadingOf(window), table, bloom };
  });

  function find(text: string): Hit[] {
    const hits: Hit[] = [];
    for (const { window, leading, table, bloom } of groups) {
      if (text.length < window) continue;
      let hash = rollOf(text, window);
      for (let start = 0; ; start++) {
        if (bloom[Math.imul(hash, SPREAD) >>> SHIFT] !== 0)
          for (const key of table.get(hash) ?? []) {
            const end = endOf(text, start, key);
            if (end > start) hits.push({ start, end, kind: key.kind, phase: key.phase });
          }
        const next = start + window;
        if (next >= text.length) break;
        const rest = (hash - Math.imul(text.charCodeAt(start), leading)) | 0;
        hash = (Math.imul(rest, factor) + text.charCodeAt(next)) | 0;
      }
    }
    return hits;
  }

  return { find, longest: Math.max(0, ...keys.map(({ length }) => length)) };
}

/** Where the secret that may begin here ends; 0: none does. */
function endOf(text: string, start: number, { length, sum, half, kind }: MaskKey): number {
  const end = start + length;
  const isWord = (at: number) => /[\p{L}\p{N}]/u.test(text.charAt(at));
  if (end <= text.length && toFingerprint(text.slice(start, end)) === sum)
    return kind === "text" && length < WHOLE_WORD_BELOW && isInWord(text, start, end, isWord) ? 0 : end;
  const middle = start + halfOf(length);
  if (kind !== "text" || length < 2 * WHOLE_WORD_BELOW || toFingerprint(text.slice(start, middle)) !== half) return 0;
  // A text that was cut: what is left of the secret.
  let cut = middle;
  while (cut < Math.min(end, text.length) && /[^\s"'`\\<>,;]/.test(text.charAt(cut))) cut++;
  return cut;
}

/** The `n` of an escaped newline before it is no letter. */
const isInWord = (text: string, start: number, end: number, isWord: (at: number) => boolean) =>
  (isWord(start - 1) && !/\\[nrt]$/.test(text.slice(Math.max(0, start - 2), start))) || isWord(end);
