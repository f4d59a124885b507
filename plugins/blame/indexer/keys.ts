/** Lines as numbers: equal where nothing but blanks, the kind of quotes, or a comma or semicolon at the end differs. */

/** A line without blanks. */
export const bare = (line: string): string => line.replace(/\s+/g, "");

/** Letters and digits of a line: how much it says. */
export const computeWeight = (line: string): number => line.replace(/[^\p{L}\p{N}]/gu, "").length;

/** A line without what a formatter changes. */
export const formless = (line: string): string =>
  bare(line)
    .replace(/['`]/g, '"')
    .replace(/[;,]+$/, "");

/** 32 bits, never of blanks alone 0 by chance: an empty line is 0. FNV-1a. */
export function toKey(line: string): number {
  const text = formless(line);
  if (text === "") return 0;
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash | 0 || 1;
}

export const toLines = (text: string): string[] => text.split("\n").map((line) => line.replace(/\r$/, ""));
