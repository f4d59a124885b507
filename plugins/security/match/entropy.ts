const counts = new Uint32Array(65_536);

/** Shannon entropy of a string in bits per character, over UTF-16 units. 0 for the empty string. */
export function entropyOf(text: string): number {
  const { length } = text;
  let bits = 0;
  for (let i = 0; i < length; i++) (counts[text.charCodeAt(i)] as number)++;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    const count = counts[code] as number;
    if (count === 0) continue;
    bits -= (count / length) * Math.log2(count / length);
    // Counted once, and clean for the next text.
    counts[code] = 0;
  }
  return bits;
}
