/** The rows of a diff, from top to bottom: heads of hunks, their lines, and the unchanged stretches between them. */
import type { DiffLine, Hunk } from "./diff-types.ts";

export type Item =
  | { type: "head"; index: number; hunk: Hunk; closed: boolean }
  /** Unchanged lines not on show: `count` from line `b` of the new text on. */
  | { type: "gap"; b: number; count: number }
  | { type: "line"; line: DiffLine }
  | { type: "pair"; pair: [DiffLine | null, DiffLine | null] };

interface Layout {
  split: boolean;
  /** Lines alone: no heads, no gaps. */
  bare: boolean;
  /** Lines of the new text, to fill gaps from. Without them there are none. */
  after?: readonly string[] | undefined;
  /** Hunks folded away, by index. */
  closed: ReadonlySet<number>;
  /** Gaps on show, by their first line in the new text. */
  opened: ReadonlySet<number>;
}

/** Linear in the lines shown. */
export function toItems(hunks: readonly Hunk[], layout: Layout): Item[] {
  const items: Item[] = [];
  let a = 1;
  let b = 1;
  const gapTo = (end: number) => {
    const count = end - b;
    if (count <= 0 || !layout.after || layout.bare) return;
    if (!layout.opened.has(b)) {
      items.push({ type: "gap", b, count });
      return;
    }
    for (let i = 0; i < count; i++) {
      const line: DiffLine = { sign: " ", a: a + i, b: b + i, text: layout.after[b + i - 1] ?? "", words: [] };
      items.push(layout.split ? { type: "pair", pair: [line, line] } : { type: "line", line });
    }
  };
  for (const [index, hunk] of hunks.entries()) {
    gapTo(hunk.newStart);
    const closed = layout.closed.has(index);
    if (!layout.bare) items.push({ type: "head", index, hunk, closed });
    if (!closed) {
      if (layout.split) items.push(...toPairs(hunk.lines));
      else for (const line of hunk.lines) items.push({ type: "line", line });
    }
    a = hunk.oldStart + hunk.oldLines;
    b = hunk.newStart + hunk.newLines;
  }
  gapTo((layout.after?.length ?? 0) + 1);
  return items;
}

function toPairs(lines: readonly DiffLine[]): Item[] {
  const out: Item[] = [];
  let old: DiffLine[] = [];
  let now: DiffLine[] = [];
  const flush = () => {
    for (let i = 0; i < Math.max(old.length, now.length); i++)
      out.push({ type: "pair", pair: [old[i] ?? null, now[i] ?? null] });
    old = [];
    now = [];
  };
  for (const line of lines) {
    if (line.sign === "-") old.push(line);
    else if (line.sign === "+") now.push(line);
    else {
      flush();
      out.push({ type: "pair", pair: [line, line] });
    }
  }
  flush();
  return out;
}
