/** Accepted lines in a text of instructions: added and removed, with as little change as possible. */

/** What is ours in a file. */
export type OurLines = {
  /** As they were accepted, without their list mark. */
  lines: string[];
  /** The heading above them was made for them. */
  heading: boolean;
};

export const HEADING = "## Rules from earlier sessions";

/** The text with one more line after those that are in it already, else at its end, under a heading if the text has some. */
export function addLine(text: string, line: string, ours: OurLines): { text: string; ours: OurLines } {
  const eol = toEol(text);
  const item = `- ${line}`;
  const rows = text.split(eol);
  const last = Math.max(-1, ...ours.lines.map((one) => rows.lastIndexOf(`- ${one}`)));
  const lines = [...ours.lines, line];
  if (last >= 0)
    return { text: [...rows.slice(0, last + 1), item, ...rows.slice(last + 1)].join(eol), ours: { ...ours, lines } };
  const heading = /^#{1,6} /m.test(text);
  const isEnded = text === "" || text.endsWith(eol);
  const gap = text === "" || (isEnded && rows.at(-2) === "") ? "" : eol;
  const head = heading ? `${HEADING}${eol}${eol}` : "";
  return { text: `${text}${isEnded ? "" : eol}${gap}${head}${item}${eol}`, ours: { lines, heading } };
}

/** The text without these lines; undefined where none of them is in it any more. Our heading goes with the last line below it. */
export function removeLines(text: string, lines: readonly string[], heading: boolean): string | undefined {
  const eol = toEol(text);
  const rows = text.split(eol);
  let removed = 0;
  for (const line of lines) {
    const at = rows.indexOf(`- ${line}`);
    if (at < 0) continue;
    rows.splice(at, 1);
    removed++;
  }
  if (removed === 0) return undefined;
  const at = heading ? rows.indexOf(HEADING) : -1;
  if (at >= 0) {
    const next = rows.findIndex((row, i) => i > at && row.trim() !== "");
    const isEmpty = next < 0 || /^#{1,6} /.test(rows[next] ?? "");
    if (isEmpty) rows.splice(at, (next < 0 ? rows.length - 1 : next) - at);
  }
  return rows.join(eol).replace(/(?:(?:\r?\n){2,})$/, eol);
}

/** The line end of most lines. */
function toEol(text: string): string {
  const all = text.split("\n").length - 1;
  const crlf = text.split("\r\n").length - 1;
  return crlf * 2 > all ? "\r\n" : "\n";
}
