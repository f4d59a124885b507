/** Where a text that is not in a file would fit best. */

import { oneLine } from "sessarc/terminal";

const LINES = 20_000;
const WINDOW = 40;

/** ` (nearest: line 12, "…")`, or nothing when no line is alike. At most 20,000 lines and 40 lines of the text are compared. */
export function nearestTo(text: string, wanted: string): string {
  const lines = text.split("\n", LINES).map(oneLine);
  const needles = wanted.split("\n", WINDOW).map(oneLine);
  const rows = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    if (line === "") continue;
    const places = rows.get(line);
    if (places) places.push(index);
    else rows.set(line, [index]);
  }
  // Each line of the text votes for the places where its beginning would then be.
  const votes = new Map<number, number>();
  for (const [offset, needle] of needles.entries()) {
    for (const row of (rows.get(needle) ?? []).slice(0, 50)) {
      const start = Math.max(0, row - offset);
      votes.set(start, (votes.get(start) ?? 0) + 1);
    }
  }
  const best = [...votes].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0];
  if (best) return said(best[0], text);
  const first = needles.find((needle) => needle !== "");
  const row =
    first === undefined
      ? -1
      : lines.findIndex((line) => line !== "" && (line.includes(first) || first.includes(line)) && line.length > 3);
  return row < 0 ? "" : said(row, text);
}

function said(row: number, text: string): string {
  const line = Buffer.from(text.split("\n", row + 1)[row] ?? "", "latin1").toString("utf8");
  return ` (nearest: line ${row + 1}, ${JSON.stringify(oneLine(line).slice(0, 80))})`;
}
