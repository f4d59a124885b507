/** Text that keeps to a number of tokens: lines until it is full, and then where to go on. */

/** Characters of a token, about. */
const CHARS = 4;

interface Page {
  /** Adds a piece whole; false when there was no room for it. The first one is cut rather than refused. */
  add(text: string): boolean;
  readonly full: boolean;
  text(): string;
}

export function createPage(tokens: number): Page {
  // Room for what is said about the next page.
  let left = tokens * CHARS - 200;
  let full = false;
  const pieces: string[] = [];
  return {
    get full() {
      return full;
    },
    add(text) {
      if (full) return false;
      if (text.length <= left) {
        pieces.push(text);
        left -= text.length + 1;
        return true;
      }
      full = true;
      if (pieces.length > 0) return false;
      pieces.push(clip(text, left));
      return true;
    },
    text: () => pieces.join("\n"),
  };
}

/** The start of a text, and how much was left out. */
export function clip(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const end = Math.max(0, chars);
  return `${text.slice(0, end)}… (${text.length - end} more characters)`;
}
