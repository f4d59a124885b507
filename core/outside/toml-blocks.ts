/** The structure of a TOML text: headers and the keys below them, each with its position; strings and comments are distinguished. */

export interface TomlBlock {
  /** Keys of its header; empty for keys before the first header. */
  path: readonly string[];
  /** Of the header's line. */
  start: number;
  /** Behind the header's line and all that is set below it; comments and blank lines that follow are the next one's. */
  end: number;
  settings: TomlSetting[];
}
interface TomlSetting {
  /** Full path: the header's and its own keys. */
  path: readonly string[];
  /** Of the line it begins on, and behind the line it ends on. */
  start: number;
  end: number;
  value: { start: number; end: number };
}

/** Undefined when the text does not hold together. */
export function tomlBlocks(text: string): TomlBlock[] | undefined {
  let block: TomlBlock = { path: [], start: 0, end: 0, settings: [] };
  const blocks = [block];
  let at = 0;
  while (at < text.length) {
    const start = at;
    at = skip(text, at, /[ \t]*/y);
    const char = text[at];
    if (char === undefined || char === "#" || char === "\n" || char === "\r") {
      at = lineEnd(text, at);
      continue;
    }
    const isHeader = char === "[";
    const keys = readKeys(text, isHeader ? skip(text, at, /\[{1,2}[ \t]*/y) : at);
    if (!keys) return undefined;
    if (isHeader) {
      at = lineEnd(text, keys.end);
      block = { path: keys.path, start, end: at, settings: [] };
      blocks.push(block);
      continue;
    }
    if (text[keys.end] !== "=") return undefined;
    const from = skip(text, keys.end + 1, /[ \t]*/y);
    const to = valueEnd(text, from);
    if (to === undefined) return undefined;
    at = lineEnd(text, to);
    block.settings.push({
      path: [...block.path, ...keys.path],
      start,
      end: at,
      value: { start: from, end: from + text.slice(from, to).trimEnd().length },
    });
    block.end = at;
  }
  return blocks;
}

/** All texts, with their quotes: where they stand. */
export function tomlStrings(text: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "#") at = lineEnd(text, at) - 1;
    const end = stringEnd(text, at);
    if (end === undefined) continue;
    found.push({ start: at, end });
    at = end - 1;
  }
  return found;
}

function skip(text: string, at: number, pattern: RegExp): number {
  pattern.lastIndex = at;
  pattern.exec(text);
  return Math.max(at, pattern.lastIndex);
}

/** Behind the line's end. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

/** Keys with dots between them; `end` is behind the blanks that follow. */
function readKeys(text: string, from: number): { path: string[]; end: number } | undefined {
  const path: string[] = [];
  for (let at = from; ; at++) {
    at = skip(text, at, /[ \t]*/y);
    const end = stringEnd(text, at) ?? skip(text, at, /[A-Za-z0-9_-]+/y);
    if (end === at) return undefined;
    const key = findText(text.slice(at, end));
    if (key === undefined) return undefined;
    path.push(key);
    at = skip(text, end, /[ \t]*/y);
    if (text[at] !== ".") return { path, end: at };
  }
}

/** What a text in quotes (or a bare key) says; undefined for escapes that JSON does not have. */
export function findText(quoted: string): string | undefined {
  if (quoted.startsWith("'")) return quoted.slice(1, -1);
  if (!quoted.startsWith('"')) return quoted;
  try {
    return String(JSON.parse(quoted));
  } catch {
    return undefined;
  }
}

/** Behind a text that begins at `at`; undefined when none does, or it does not end. */
function stringEnd(text: string, at: number): number | undefined {
  const quote = text[at];
  if (quote !== '"' && quote !== "'") return undefined;
  const triple = quote.repeat(3);
  const isLong = text.startsWith(triple, at);
  const end = isLong ? triple : quote;
  for (let i = at + end.length; i < text.length; i++) {
    if (quote === '"' && text[i] === "\\") i++;
    else if (!isLong && text[i] === "\n") return undefined;
    else if (text.startsWith(end, i)) {
      let close = i + end.length;
      // Up to two quotes may precede the closing three.
      while (isLong && text[close] === quote && close < i + 5) close++;
      return close;
    }
  }
  return undefined;
}

/** Behind a value, before a comment or the line's end. */
function valueEnd(text: string, from: number): number | undefined {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at] ?? "";
    const end = stringEnd(text, at);
    if (end !== undefined) at = end - 1;
    else if (char === '"' || char === "'") return undefined;
    else if (char === "[" || char === "{") depth++;
    else if (char === "]" || char === "}") depth--;
    else if (char === "#") {
      if (depth <= 0) return at;
      at = lineEnd(text, at) - 1;
    } else if (char === "\n" && depth <= 0) return at;
  }
  return depth > 0 ? undefined : text.length;
}
