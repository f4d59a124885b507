/** How sessions are told apart in a file: a letter and a colour each, the one with most lines first. */
import type { Answer } from "../../client.ts";
import { HUES } from "../../components/chart/patterns.ts";

export type Origins = Answer<"GET /git/blame">;
export type Line = NonNullable<Origins["lines"]>[number];
type Writer = Origins["writers"][number];

interface SessionMark {
  id: string;
  title: string;
  tool: string;
  letter: string;
  color: string;
  lines: number;
}

/** By session. Letters go on as A … Z, AA … */
export function marksOf({ lines, writers }: Origins): Map<string, SessionMark> {
  const counts = new Map<string, { writer: Writer; lines: number }>();
  for (const line of lines ?? []) {
    const writer = writers[line.writer ?? -1];
    if (!writer) continue;
    const known = counts.get(writer.sessionId) ?? { writer, lines: 0 };
    known.lines++;
    counts.set(writer.sessionId, known);
  }
  const ranked = [...counts].sort((a, b) => b[1].lines - a[1].lines || (a[0] < b[0] ? -1 : 1));
  return new Map(
    ranked.map(([id, { writer, lines: count }], i) => [
      id,
      {
        ...{ id, title: writer.title ?? id, tool: writer.tool, lines: count },
        letter: letters(i),
        color: HUES[i % HUES.length] ?? "var(--accent)",
      },
    ]),
  );
}

const letters = (n: number): string =>
  (n >= 26 ? letters(Math.floor(n / 26) - 1) : "") + String.fromCharCode(65 + (n % 26));
