/** Whether what was typed is asked in words, not searched for by them. */

/** Words that a question without its mark has at least. */
const WORDS = 4;

/** `how was the cache fixed`, `why sqlite?`; not `"exact words" tool:codex` or `-without`. `least`: words without a mark. */
export function isQuestion(text: string, least = WORDS): boolean {
  const asked = text.trim();
  if (/(?:^|\s)-?\w+:\S|"|(?:^|\s)-\w/.test(asked)) return false;
  const words = asked.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  return words.length >= least || (words.length > 0 && /[?？]$/.test(asked));
}
