/** A report for a terminal: tables that fit it, and no Markdown. */
import { type Column, createStyle, formatTable, oneLine, printable, wrapColumns } from "sessarc/terminal";
import { type Section, toSections, toTitle } from "./document.ts";
import type { Report } from "./report.ts";

interface Output {
  columns: number;
  colour: boolean;
  now: number;
}

/** Columns of text, which may be cut; the others are figures. */
const TEXT: ReadonlySet<string> = new Set(["in git", "where", "why", "project", "session", "what", "tool"]);
const FULL: ReadonlySet<string> = new Set(["by", "when", "can be had back", "id", "assistant", "from", "to"]);

export function toText(report: Report, { columns, colour, now }: Output): string {
  const style = createStyle(colour);
  const parts = toSections(report, now).map(({ title, text, head, rows }) => {
    const lines = text ? wrapColumns(text, columns) : [];
    const table = formatTable(head.map(toColumn), rows, { head: style.dim, width: columns });
    return [style.bold(printable(title)), ...lines.map(printable), table].join("\n");
  });
  const rest =
    parts.length > 0
      ? parts.join("\n\n")
      : "Nothing happened in these days.\n`sessarc import` imports what is new, `--since <day>` reports of more days.";
  return `${style.bold(toTitle(report))}\n\n${rest}`;
}

function toColumn(title: string, i: number): Column<Section["rows"][number]> {
  const value = (row: readonly string[]) => oneLine(printable(row[i] ?? ""));
  if (i === 0 || TEXT.has(title)) return { title, value, shrink: true, least: 10 };
  return { title, value, align: FULL.has(title) ? "left" : "right" };
}
