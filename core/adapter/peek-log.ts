/** A look at the start of a log, for a listing of what can be imported. */
import type { LineParser } from "../contract/adapter.ts";
import type { SessionSummary } from "../session/session.ts";
import { toTitle } from "../utils/text.ts";
import { rowsIn } from "./line-scan.ts";
import { readLines } from "./read-lines.ts";

const ROWS = 60;
const BYTES = 256 * 1024;

/** Title (else the first prompt), folder, start and branch, from the rows up to the first prompt: 60 rows and 256 KB at most. */
export async function peekLog(
  ref: { path: string },
  parser: LineParser,
): Promise<Pick<SessionSummary, "title" | "cwd" | "startedAt" | "gitBranch" | "virtualProject">> {
  let first: string | undefined;
  let rows = 0;
  for await (const line of readLines(ref.path, { end: BYTES })) {
    for (const row of rowsIn(line)) {
      const events = [parser.row(row, { offset: 0, length: line.length }) ?? []].flat();
      first ??= events.find((event) => event.kind === "user")?.text;
      rows++;
    }
    if (first !== undefined || rows >= ROWS) break;
  }
  const { title, cwd, startedAt, gitBranch, virtualProject } = parser.finish();
  return { title: title ?? toTitle(first), cwd, startedAt, gitBranch, virtualProject };
}
