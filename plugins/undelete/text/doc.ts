/** A text of which only parts may be known: runs of known characters, and holes. Line ends are LF. */

/** `hole`: how many line ends are in it; null where that is unknown. */
export type Piece = { text: string } | { hole: number | null };

export interface Doc {
  /** Two texts, or two holes, are never side by side. */
  pieces: Piece[];
  /** The whole text was seen at once, or nothing can have changed it since. Else it holds lines that were seen earlier. */
  isChecked: boolean;
}

/** Lines `from` to `to`, from 1; null where the place is unknown. */
export interface LineRange {
  from: number | null;
  to: number | null;
}

export interface Replacement {
  old: string;
  new: string;
  all?: boolean | undefined;
}

const isText = (piece: Piece): piece is { text: string } => "text" in piece;

export const wholeDoc = (text: string): Doc => createDoc([{ text }], true);

/** Lines from line `from` on. `isEnd`: the text ends with the file; else what follows its last character is unknown. */
export const partDoc = (text: string, from: number, isEnd: boolean): Doc =>
  createDoc([{ hole: from - 1 }, { text }, { hole: isEnd ? 0 : null }], true);

export function createDoc(pieces: readonly Piece[], isChecked: boolean): Doc {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    if (isText(piece) ? piece.text === "" : piece.hole === 0) continue;
    const last = joined.at(-1);
    if (last && isText(last) && isText(piece)) last.text += piece.text;
    else if (last && !isText(last) && !isText(piece))
      last.hole = last.hole === null || piece.hole === null ? null : last.hole + piece.hole;
    else joined.push({ ...piece });
  }
  return { pieces: joined, isChecked };
}

/** The text, where all of it is known. */
export function textOf({ pieces }: Doc): string | undefined {
  if (pieces.length === 0) return "";
  const [only] = pieces;
  return pieces.length === 1 && only && isText(only) ? only.text : undefined;
}

/** The line ranges of the holes. A hole after a text without a line end begins on the next line. */
export function holesOf({ pieces }: Doc): LineRange[] {
  const holes: LineRange[] = [];
  let line: number | null = 1;
  let isStart = true;
  for (const piece of pieces) {
    if (isText(piece)) {
      if (line !== null) line += countLineEnds(piece.text);
      isStart = piece.text.endsWith("\n");
      continue;
    }
    const from: number | null = line === null ? null : isStart ? line : line + 1;
    holes.push({
      from,
      to: from === null || piece.hole === null ? null : Math.max(from, (line ?? 0) + piece.hole - 1),
    });
    line = line === null || piece.hole === null ? null : line + piece.hole;
    isStart = true;
  }
  return holes;
}

/** Where the holes are all at the end: the number of lines that are known before them. */
export function knownLines({ pieces }: Doc): number | undefined {
  const [first, second] = pieces;
  if (pieces.length !== 2 || !first || !second || !isText(first) || isText(second)) return undefined;
  return countLines(first.text);
}

/** The known text, with a line in place of each hole. */
export function toMarked(doc: Doc): string {
  const holes = holesOf(doc);
  let hole = 0;
  let text = "";
  for (const piece of doc.pieces) {
    if (isText(piece)) text += piece.text;
    else {
      if (text !== "" && !text.endsWith("\n")) text += "\n";
      text += `${toMark(holes[hole++])}\n`;
    }
  }
  return text;
}

const toMark = (range: LineRange | undefined): string =>
  `[sessarc: ${
    !range || range.from === null
      ? "lines are not known here"
      : range.to === null
        ? `what follows from line ${range.from} on is not known`
        : `lines ${range.from} to ${range.to} are not known`
  }]`;

/** What a later look at some lines adds. Lines that were seen earlier stay, unless they differ from what is seen now. */
export function overlay(old: Doc | undefined, seen: Doc): Doc {
  const whole = textOf(seen);
  const earlier = old && toLines(old);
  const now = toLines(seen);
  if (whole !== undefined || !earlier || !now) return seen;
  const isSame = now.known.every((line, i) => {
    const other = earlier.known[i];
    return line === undefined || other === undefined || withoutEnd(other) === withoutEnd(line);
  });
  if (!isSame) return seen;
  const length = Math.max(earlier.known.length, now.known.length);
  const lines = Array.from({ length }, (_, i) => {
    const [line, other] = [now.known[i], earlier.known[i]];
    return line !== undefined && (line.endsWith("\n") || other === undefined) ? line : (other ?? line);
  });
  const isEnd = earlier.isEnd || now.isEnd;
  const isAll = now.known.length === length && now.isEnd === isEnd && now.known.every((line) => line !== undefined);
  return fromLines(lines, isEnd, isAll);
}

const withoutEnd = (line: string): string => (line.endsWith("\n") ? line.slice(0, -1) : line);

/** Each line with its end, by its number; undefined where the number of a line is not known. */
function toLines({ pieces }: Doc): { known: (string | undefined)[]; isEnd: boolean } | undefined {
  const known: (string | undefined)[] = [];
  for (const [i, piece] of pieces.entries()) {
    const isLast = i === pieces.length - 1;
    if (isText(piece)) {
      // A line is here with its end, or it is the last one of a text that ends without one.
      known.push(...piece.text.split(/(?<=\n)/));
    } else if (piece.hole === null) return isLast ? { known, isEnd: false } : undefined;
    // The rest of the line before it is in the hole.
    else if (known.length > 0 && known.at(-1)?.endsWith("\n") === false) return undefined;
    else known.push(...new Array<undefined>(piece.hole).fill(undefined));
  }
  return { known, isEnd: true };
}

function fromLines(lines: readonly (string | undefined)[], isEnd: boolean, isChecked: boolean): Doc {
  const pieces: Piece[] = [];
  for (const [i, line] of lines.entries()) {
    // A line that was seen as the last one of a part has an end where another follows.
    if (line === undefined) pieces.push({ hole: 1 });
    else pieces.push({ text: i < lines.length - 1 && !line.endsWith("\n") ? `${line}\n` : line });
  }
  return createDoc([...pieces, { hole: isEnd ? 0 : null }], isChecked);
}

/**
 * The text after an edit that worked: it found `old` exactly once in the whole file, or (`all`) at least once. What the edit may have changed
 * without a trace becomes a hole.
 */
export function edited(doc: Doc, edit: Replacement): Doc {
  if (edit.old === "") return wholeDoc(edit.new);
  const last = doc.pieces.length - 1;
  const hits = doc.pieces.reduce((sum, piece) => sum + (isText(piece) ? piece.text.split(edit.old).length - 1 : 0), 0);
  const hasHole = doc.pieces.some((piece) => !isText(piece));
  // What is known does not fit the edit: something else changed the file.
  if ((!edit.all && hits > 1) || (hits === 0 && !hasHole)) return onlyNew(edit);
  if (!hasHole || (hits === 1 && !edit.all))
    return createDoc(
      doc.pieces.map((piece, i) => (isText(piece) ? replaced(piece.text, edit, i < last) : piece)),
      doc.isChecked,
    );
  // An old text that overlaps itself is found from a place that is in a hole.
  if (hits > 0 && overlapsItself(edit.old)) return onlyNew(edit);
  const delta = countLineEnds(edit.new) - countLineEnds(edit.old);
  const pieces = doc.pieces.flatMap((piece, i): Piece[] => {
    if (!isText(piece)) return [piece];
    return cutEdges(piece.text, edit, i > 0, i < last).map((one) =>
      isText(one) ? replaced(one.text, edit, i < last) : one,
    );
  });
  const result = createDoc(pieces, doc.isChecked);
  const holes = result.pieces.filter((piece) => !isText(piece));
  if (delta !== 0)
    for (const piece of holes)
      if (!isText(piece))
        // Without a line end it may still be a part of a line, and is no empty hole.
        piece.hole =
          holes.length > 1 || edit.all || piece.hole === null ? null : Math.max(0, piece.hole + delta) || null;
  return result;
}

/** All that is known after an edit of an unknown text: the new text is somewhere in it. */
export const onlyNew = (edit: Replacement): Doc =>
  createDoc([{ hole: null }, { text: edit.new }, { hole: null }], true);

/** A last line whose end was replaced goes on in the hole that follows. */
function replaced(text: string, { old, new: next }: Replacement, isBeforeHole: boolean): Piece {
  const after = text.split(old).join(next);
  const isOpen = isBeforeHole && text.endsWith("\n") && !after.endsWith("\n");
  return { text: isOpen ? after.slice(0, after.lastIndexOf("\n") + 1) : after };
}

/** Takes off what may have been a part of `old`, the rest of which is in the hole beside it, and a line that an edit in the hole may have joined. */
function cutEdges(text: string, { old, new: next }: Replacement, isAfterHole: boolean, isBeforeHole: boolean): Piece[] {
  if (isAfterHole && isBeforeHole && old.includes(text)) return [{ hole: countLineEnds(text) }];
  // Whole lines, so that a hole begins and ends with a line.
  let head = isAfterHole ? longest(old, (n) => text.startsWith(old.slice(old.length - n))) : 0;
  let tail = isBeforeHole ? longest(old, (n) => text.endsWith(old.slice(0, n))) : 0;
  if (isAfterHole && old.endsWith("\n") && !next.endsWith("\n")) head ||= 1;
  if (isBeforeHole && !text.endsWith("\n") && old.startsWith("\n") && !next.startsWith("\n")) tail ||= 1;
  if (head > 0) head = text.indexOf("\n", head - 1) + 1 || text.length;
  if (tail > 0) tail = text.length - (text.lastIndexOf("\n", text.length - tail - 1) + 1);
  if (head + tail >= text.length) return [{ hole: isBeforeHole || text.endsWith("\n") ? countLineEnds(text) : null }];
  return [
    { hole: countLineEnds(text.slice(0, head)) },
    { text: text.slice(head, text.length - tail) },
    { hole: countLineEnds(text.slice(text.length - tail)) },
  ];
}

function longest(old: string, fits: (n: number) => boolean): number {
  for (let n = old.length - 1; n > 0; n--) if (fits(n)) return n;
  return 0;
}

const overlapsItself = (text: string): boolean => longest(text, (n) => text.endsWith(text.slice(0, n))) > 0;

export const countLineEnds = (text: string): number => text.split("\n").length - 1;
export const countLines = (text: string): number => countLineEnds(text) + (text === "" || text.endsWith("\n") ? 0 : 1);
