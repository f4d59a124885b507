/** Keys of a tree, as the WAI-ARIA practices say. */
import type { TreeRow } from "./file-tree.ts";

type TreeStep =
  | { to: number }
  | { keys: string[]; open: boolean }
  /** `open`: and go there; `choose`: only make it the selected one. */
  | { row: TreeRow; act: "open" | "choose" };

/** What a key does at the row `at`; undefined when it means nothing here and goes on. */
export function treeKey(event: KeyboardEvent, rows: readonly TreeRow[], at: number): TreeStep | undefined {
  const row = rows[at];
  if (!row || event.ctrlKey || event.metaKey || event.altKey) return undefined;
  switch (event.key) {
    case "ArrowDown":
      return { to: Math.min(rows.length - 1, at + 1) };
    case "ArrowUp":
      return { to: Math.max(0, at - 1) };
    case "Home":
      return { to: 0 };
    case "End":
      return { to: rows.length - 1 };
    case "ArrowRight":
      if (row.open === false) return { keys: [row.key], open: true };
      // An open folder has something in it.
      return { to: row.open ? at + 1 : at };
    case "ArrowLeft":
      return row.open ? { keys: [row.key], open: false } : { to: above(rows, at) };
    case "Enter":
      return { row, act: "open" };
    case " ":
      return { row, act: "choose" };
    case "*":
      return { keys: beside(rows, at), open: true };
  }
  return /^[\p{L}\p{N}_]$/u.test(event.key) ? startingWith(rows, at, event.key.toLowerCase()) : undefined;
}

function above(rows: readonly TreeRow[], at: number): number {
  const level = rows[at]?.level ?? 1;
  for (let i = at - 1; i >= 0; i--) if ((rows[i]?.level ?? 1) < level) return i;
  return at;
}

/** Closed folders that have the same parent. */
function beside(rows: readonly TreeRow[], at: number): string[] {
  const level = rows[at]?.level ?? 1;
  const found: string[] = [];
  let first = at;
  while (first > 0 && (rows[first - 1]?.level ?? 0) >= level) first--;
  for (let i = first; i < rows.length; i++) {
    const row = rows[i];
    if (!row || row.level < level) break;
    if (row.level === level && row.open === false) found.push(row.key);
  }
  return found;
}

function startingWith(rows: readonly TreeRow[], at: number, letter: string): TreeStep | undefined {
  for (let i = 1; i <= rows.length; i++) {
    const place = (at + i) % rows.length;
    if (rows[place]?.name.toLowerCase().startsWith(letter)) return { to: place };
  }
  return undefined;
}
