/** Text tables for terminals. */
import { toTerminal } from "../utils/printable.ts";
import { fitColumns, widthOf } from "./style.ts";

/** A column of `formatTable`. */
export interface Column<T> {
  title: string;
  value(row: T): string;
  /** Numbers stand right. */
  align?: "left" | "right";
  /** May be cut to fit; the longest such column gives way first. */
  shrink?: boolean;
  /** Never cut below so many columns of the terminal. Default 8. */
  least?: number;
  /** Cut to so many columns in a table that has a width. */
  most?: number;
}

const GAP = "  ";
const LEAST = 8;

/** Lines without a trailing newline. `width` (columns of the terminal) limits only columns that may shrink. */
export function formatTable<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  options: { width?: number | undefined; head?: (text: string) => string; foot?: readonly T[] } = {},
): string {
  const foot = options.foot ?? [];
  const cells = [...rows, ...foot].map((row) => columns.map((column) => oneLine(column.value(row))));
  const widths = columns.map((column, i) => {
    const full = Math.max(widthOf(column.title), ...cells.map((row) => widthOf(row[i] ?? "")));
    return options.width && column.shrink ? Math.min(full, column.most ?? full) : full;
  });
  if (options.width) shrink(columns, widths, options.width);
  const line = (texts: readonly string[]) =>
    texts
      .map((text, i) =>
        pad(columns[i]?.shrink ? fitColumns(text, widths[i] ?? 0) : text, widths[i] ?? 0, columns[i]?.align),
      )
      .join(GAP)
      .trimEnd();
  const head = line(columns.map((column) => column.title));
  const body = cells.slice(0, rows.length).map(line);
  const sums = cells.slice(rows.length).map(line);
  const rule = sums.length > 0 ? [line(widths.map((width) => "─".repeat(width)))] : [];
  return [options.head ? options.head(head) : head, ...body, ...rule, ...sums].join("\n");
}

/** A cell never breaks its row; its spaces stay. */
const oneLine = (cell: string): string => toTerminal(cell, true).replace(/\s*[\n\t]\s*/g, " ");

function shrink<T>(columns: readonly Column<T>[], widths: number[], limit: number): void {
  let over = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1) - limit;
  while (over > 0) {
    let widest = -1;
    columns.forEach((column, i) => {
      if (column.shrink && (widths[i] ?? 0) > (column.least ?? LEAST) && (widths[i] ?? 0) > (widths[widest] ?? 0))
        widest = i;
    });
    if (widest < 0) return;
    widths[widest] = (widths[widest] ?? 0) - 1;
    over--;
  }
}

function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const space = " ".repeat(Math.max(0, width - widthOf(text)));
  return align === "right" ? space + text : text + space;
}
