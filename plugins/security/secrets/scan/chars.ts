/** What the characters around a match say about it. */

/** Returns the end of the run of characters that a value without blanks may have. */
export function endOfRun(text: string, from: number): number {
  let at = Math.max(from, 0);
  while (at < text.length && !ENDS[text.charCodeAt(at)]) at++;
  return at;
}

const ENDS = new Uint8Array(65_536);
for (const char of "`'\" \t\n\r\f\v\u00a0;,)]}<\\&|#") ENDS[char.charCodeAt(0)] = 1;

/** A dash that belongs to a longer run; not the mark of a removed line. */
export function dashBefore(text: string, at: number): boolean {
  if (text.charCodeAt(at - 1) !== 45 || at < 2) return false;
  const before = text.charCodeAt(at - 2);
  return before === 45 || isWord(before);
}

export function isWord(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
}

/** The character before belongs to a longer word, and is not the end of an escape (`\n`, `%3D`, a lost colour code). */
export function wordBefore(text: string, at: number): boolean {
  const code = text.charCodeAt(at - 1);
  if (at === 0) return false;
  if (code === 43) return isWord(text.charCodeAt(at - 2));
  if (!isWord(code)) return false;
  const before = text.charCodeAt(at - 2);
  if (before === 92) return !/[nrtbf]/.test(text.charAt(at - 1));
  if (text.charCodeAt(at - 3) === 37 && /^[0-9a-fA-F]{2}$/.test(text.slice(at - 2, at))) return false;
  return !(code === 109 && /\[[\d;]{0,12}m$/.test(text.slice(Math.max(0, at - 16), at)));
}

const QUOTED = 256;

/** Where the quote stands that closes the value at `start`, on the same line; -1 when none opens right before it. */
export function closingQuote(text: string, start: number): number {
  const quote = text.charAt(start - 1);
  if (quote !== '"' && quote !== "'" && quote !== "`") return -1;
  // Inside of a JSON string the quotes themselves are escaped.
  const escaped = text.charAt(start - 2) === "\\";
  const limit = Math.min(text.length, start + QUOTED);
  for (let at = start; at < limit; at++) {
    const char = text.charAt(at);
    if (char === "\n") return -1;
    if (char === "\\") {
      if (escaped && text.charAt(at + 1) === quote) return at;
      at++;
    } else if (char === quote && !escaped) return at;
  }
  return -1;
}

/** The last `@` before the host of a URL, at `at` or behind it. */
export function lastAt(text: string, at: number): number {
  let last = at;
  for (let i = at; i < at + QUOTED && i < text.length && !" \t\r\n/\"'`<>?#\\".includes(text.charAt(i)); i++)
    if (text.charAt(i) === "@") last = i;
  return last;
}
