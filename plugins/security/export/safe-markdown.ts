/**
 * A message's own Markdown, kept readable and kept in its place: no HTML, no remote image, no heading above ours, no link definition
 * that reaches other messages, no fence that stays open.
 *
 * What is code is decided more strictly than CommonMark does: where the two could differ, the text counts as no code and is escaped,
 * which at worst shows a backslash too many.
 */
export function toSafeMarkdown(text: string): string {
  const lines = text.split("\n");
  const out: string[] = [];
  let paragraph: string[] = [];
  const flush = () => {
    if (paragraph.length > 0) out.push(...safeParagraph(paragraph));
    paragraph = [];
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    const close = isFence(line) ? endOfFence(lines, i) : endOfInnerFence(lines, i);
    if (close >= 0) {
      flush();
      out.push(...lines.slice(i, close + 1));
      if (close >= lines.length) out.push(toFence(line));
      i = close;
    } else if (line.trim() === "") {
      flush();
      out.push("");
    } else {
      paragraph.push(line);
    }
  }
  flush();
  return out.join("\n");
}

/** A fence at the very left: that one ends every list and quote before it, so its state is beyond doubt. */
const isFence = (line: string) => /^(?:`{3,}[^`]*|~{3,}.*)$/.test(line);
const toFence = (line: string) => (/^(`+|~+)/.exec(line) as RegExpExecArray)[1] as string;

/** Index of the closing line; `lines.length` when it stays open. */
function endOfFence(lines: readonly string[], start: number): number {
  const mark = toFence(lines[start] as string);
  const closing = new RegExp(`^ {0,3}${mark[0] === "`" ? "`" : "~"}{${mark.length},}[ \\t]*$`);
  for (let i = start + 1; i < lines.length; i++) if (closing.test(lines[i] as string)) return i;
  return lines.length;
}

/**
 * Index of the line that closes an indented fence (code in a list), or -1. Only where every reading of it is code: as a fence, as
 * indented code, and as a code span of the paragraph before.
 */
function endOfInnerFence(lines: readonly string[], start: number): number {
  const open = /^( +)(`{3,})[\w+-]* *$/.exec(lines[start] as string);
  if (!open) return -1;
  const [, indent = "", mark = ""] = open;
  for (let i = start + 1; i < lines.length; i++) {
    const line = lines[i] as string;
    if (line === indent + mark) return i;
    if (line.includes("```") || (line.trim() !== "" && !line.startsWith(indent))) return -1;
  }
  return -1;
}

function safeParagraph(lines: readonly string[]): string[] {
  // Where each line's backticks pair up within the line, CommonMark finds the same code in it, whatever blocks the lines make.
  const paired = lines.every((line) => pieces(line) !== undefined);
  return lines.map((line) => safeLine(line, paired));
}

function safeLine(line: string, paired: boolean): string {
  const parts = (paired ? pieces(line) : undefined) ?? [{ code: false, text: line }];
  const safe = parts.map(({ code, text }) => (code ? text : escapeText(text))).join("");
  return (
    safe
      // Ours are the first two levels. The blanks before count to the block, the mark is escaped or moved down.
      .replace(
        /^([ \t]*(?:[-*+>][ \t]+|\d{1,9}[.)][ \t]+)*)(#{1,6})(?=[ \t]|$)/,
        (_, before, marks) => before + "#".repeat(Math.min(6, marks.length + 2)),
      )
      .replace(/^([ \t>]*)(=+|-+)([ \t]*)$/, "$1\\$2$3")
      .replace(/^([ \t]*(?:[-*+>][ \t]*|\d{1,9}[.)][ \t]+)*)\[(?=[^\]]*\]:)/, "$1\\[")
      .replace(
        /^([ \t]*(?:[-*+>][ \t]*|\d{1,9}[.)][ \t]+)*)(`{3,}|~{3,})/,
        (_, before, marks) => before + [...marks].map((mark) => `\\${mark}`).join(""),
      )
  );
}

const escapeText = (text: string) => text.replace(/<(?=[a-zA-Z/!?])/g, "\\<").replace(/!\[/g, "!\\[");

interface Piece {
  code: boolean;
  text: string;
}

/** Code spans of one line; undefined when a run of backticks has no partner in it. */
function pieces(line: string): Piece[] | undefined {
  const found: Piece[] = [];
  let at = 0;
  let plain = 0;
  while (at < line.length) {
    if (line[at] === "\\") {
      at += 2;
      continue;
    }
    if (line[at] !== "`") {
      at++;
      continue;
    }
    const start = at;
    while (line[at] === "`") at++;
    const end = closingRun(line, at, at - start);
    if (end < 0) return undefined;
    found.push({ code: false, text: line.slice(plain, start) }, { code: true, text: line.slice(start, end) });
    at = end;
    plain = end;
  }
  found.push({ code: false, text: line.slice(plain) });
  return found;
}

function closingRun(line: string, from: number, length: number): number {
  for (let at = line.indexOf("`", from); at >= 0; at = line.indexOf("`", at)) {
    const start = at;
    while (line[at] === "`") at++;
    if (at - start === length) return at;
  }
  return -1;
}
