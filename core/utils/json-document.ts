/** JSON documents that another program rewrites in place: what is whole of one is read, the rest is left for later. */

/**
 * Parses the first JSON value of `text`. `whole` is false when it was cut short (then its finished parts are given) or
 * when something follows it. `value` is undefined when nothing can be read. Linear in the text.
 */
export function parseDocument(text: string): { value: unknown; whole: boolean } {
  const body = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const value = tryParse(body);
  if (value !== undefined) return { value, whole: true };
  return { value: tryParse(closeOpen(body)), whole: false };
}

/** The text up to its last finished value, with the brackets that are open there closed. */
function closeOpen(text: string): string {
  const open: string[] = [];
  let safe = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '"') {
      const end = endOfString(text, i);
      if (end < 0) break;
      i = end;
    } else if (char === "{") open.push("}");
    else if (char === "[") open.push("]");
    else if (char === ",") safe = i;
    else if (char === "}" || char === "]") {
      if (open.pop() !== char) break;
      safe = i + 1;
      if (open.length === 0) return text.slice(0, safe);
    }
  }
  return text.slice(0, safe) + toClosers(text, safe);
}

function toClosers(text: string, end: number): string {
  const open: string[] = [];
  for (let i = 0; i < end; i++) {
    const char = text[i];
    if (char === '"') i = endOfString(text, i);
    else if (char === "{" || char === "[") open.push(char === "{" ? "}" : "]");
    else if (char === "}" || char === "]") open.pop();
  }
  return open.reverse().join("");
}

function endOfString(text: string, start: number): number {
  for (let i = text.indexOf('"', start + 1); i >= 0; i = text.indexOf('"', i + 1)) {
    let slashes = 0;
    while (text[i - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return i;
  }
  return -1;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller counts it
  }
}
