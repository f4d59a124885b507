import type { Answer } from "../../client.ts";

/** A line of code as a diff or a file shows it. */
export interface CodeLine {
  /** Its place among the lines on show. */
  place: string;
  sign: "+" | "-" | " ";
  /** In the file: of a removed line in the old version. Undefined where the diff has no numbers of the file. */
  number: number | undefined;
  text: string;
}

/** Longer lines are not asked for: they would not fit into an address. */
const LONGEST = 2_000;

/** What to ask of a line that a call of a session shows: the call wrote it, or found it in the file. */
export function askOfCall(session: string, seq: number, path: string, { sign, text }: CodeLine) {
  if (path === "" || text.length > LONGEST) return undefined;
  return { session, seq: String(seq), path, text, before: sign === "+" ? ("0" as const) : ("1" as const) };
}

/** What to ask of a line of a commit's diff: an added or unchanged line is in the commit, a removed one in the commit before. */
export function askOfCommit(
  project: string,
  commit: string,
  { path, previousPath, previousCommit }: Answer<"GET /git/file">,
  { sign, number }: CodeLine,
) {
  if (number === undefined) return undefined;
  const line = String(number);
  if (sign !== "-") return { project, path, line, at: commit };
  return previousCommit && previousPath ? { project, path: previousPath, line, at: previousCommit } : undefined;
}
