/** The share of a text's lines that a file contains: 1 for all of them, 0 for none. `whole`: lines that only the file has lower the share. */
export function likeness(text: string, file: string, whole: boolean): number {
  const wanted = toLines(text);
  const left = new Map<string, number>();
  const present = toLines(file);
  for (const line of present) left.set(line, (left.get(line) ?? 0) + 1);
  let shared = 0;
  for (const line of wanted) {
    const count = left.get(line) ?? 0;
    if (count === 0) continue;
    shared++;
    left.set(line, count - 1);
  }
  const all = whole ? (wanted.length + present.length) / 2 : wanted.length;
  return all === 0 ? (whole ? 1 : 0) : shared / all;
}

/** Without what tools lose on the way: line ends, blanks at the end, the last empty line. */
const toLines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd());
