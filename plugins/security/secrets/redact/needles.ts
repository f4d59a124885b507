/** Finds many literal strings in one pass: a rolling hash over the first characters, then a comparison. */
export interface Needles<T> {
  /** Every occurrence, also overlapping ones, by end of the window. Linear in the text. */
  find(text: string): { start: number; end: number; value: T }[];
  readonly size: number;
}

const BITS = 17;
const FACTOR = 0x01000193;

/** Needles of fewer than `window` characters are not looked for. */
export function createNeedles<T>(entries: readonly { text: string; value: T }[], window: number): Needles<T> {
  const table = new Map<number, { text: string; value: T }[]>();
  const bloom = new Uint8Array(1 << BITS);
  let size = 0;
  let leading = 1;
  for (let i = 1; i < window; i++) leading = Math.imul(leading, FACTOR);
  for (const entry of entries) {
    if (entry.text.length < window) continue;
    size++;
    let hash = 0;
    for (let i = 0; i < window; i++) hash = (Math.imul(hash, FACTOR) + entry.text.charCodeAt(i)) | 0;
    bloom[slot(hash)] = 1;
    const list = table.get(hash);
    if (list) list.push(entry);
    else table.set(hash, [entry]);
  }

  function find(text: string) {
    const found: { start: number; end: number; value: T }[] = [];
    if (size === 0) return found;
    let hash = 0;
    for (let i = 0; i < text.length; i++) {
      if (i >= window) hash = (hash - Math.imul(text.charCodeAt(i - window), leading)) | 0;
      hash = (Math.imul(hash, FACTOR) + text.charCodeAt(i)) | 0;
      if (i < window - 1 || bloom[slot(hash)] === 0) continue;
      const start = i - window + 1;
      for (const entry of table.get(hash) ?? []) {
        if (text.startsWith(entry.text, start))
          found.push({ start, end: start + entry.text.length, value: entry.value });
      }
    }
    return found;
  }

  return { find, size };
}

function slot(hash: number): number {
  return Math.imul(hash, 0x9e3779b1) >>> (32 - BITS);
}
