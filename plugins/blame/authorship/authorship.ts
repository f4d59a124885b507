/** Which lines of a commit each session wrote: what git notes, Agent Trace and `verify` are made of. Linear in the lines of the commits. */
import { type Kernel, marks, mustYield, pages, yieldNow } from "sessarc";
import { readPrompts } from "../indexer/rows.ts";
import type { Fate, Landed, LandedCommit, Landing } from "../receipt/landing.ts";

/** Lines of one file that one session wrote with one model. */
export interface Authored {
  /** Of the archive: `<assistant>:<its own id>`. */
  session: string;
  tool: string;
  model: string | null;
  /** Ascending, from 1, in the commit's version. */
  lines: number[];
  /** Of `lines`: those that a person rewrote since. */
  rewritten: number;
}

export interface AuthoredCommit {
  commit: LandedCommit;
  /** By path; files without a line of a session are left out. */
  files: Map<string, Authored[]>;
}

/** The commits of `hashes`, in the order of the landing. */
export async function readAuthorship(
  kernel: Kernel,
  { commits, landed }: Pick<Landing, "commits" | "landed">,
  hashes: ReadonlySet<string>,
): Promise<AuthoredCommit[]> {
  const chosen = new Map<string, AuthoredCommit>();
  for (const commit of commits) if (hashes.has(commit.hash)) chosen.set(commit.hash, { commit, files: new Map() });
  const wanted = landed.filter(({ commit }) => chosen.has(commit));
  const modelOf = await readModels(kernel, wanted);
  for (const { write, commit, path, line, fate, by } of wanted) {
    if (mustYield()) await yieldNow();
    const { id: session, tool } = write.author;
    const model = modelOf(session, write.seq);
    const files = chosen.get(commit)?.files;
    const authors = files?.get(path) ?? [];
    files?.set(path, authors);
    let one = authors.find((it) => it.session === session && it.model === model);
    if (!one) {
      one = { session, tool, model, lines: [], rewritten: 0 };
      authors.push(one);
    }
    one.lines.push(line);
    if (isOverridden(fate, by)) one.rewritten++;
  }
  for (const { files } of chosen.values())
    for (const authors of files.values()) for (const { lines } of authors) lines.sort((a, b) => a - b);
  return [...chosen.values()];
}

const isOverridden = (fate: Fate, by: Landed["by"]) => fate === "rewritten" && by === "person";

/** Sessions asked for at once. */
const TOGETHER = 400;

/** The model that answered the prompt of a call. */
async function readModels(
  kernel: Kernel,
  landed: readonly Landed[],
): Promise<(session: string, seq: number) => string | null> {
  const ids = [...new Set(landed.map(({ write }) => write.author.id))];
  const prompts = new Map<string, ReturnType<typeof readPrompts>>();
  for (const page of pages(ids, TOGETHER)) {
    const sql = `select session, prompts from blame_session where session in (${marks(page)})`;
    for (const row of await kernel.storage.db.all<{ session: string; prompts: string }>(sql, page))
      prompts.set(row.session, readPrompts(row.prompts));
    if (mustYield()) await yieldNow();
  }
  return (session, seq) => prompts.get(session)?.findLast((one) => one.seq < seq)?.model ?? null;
}

/** The id that the assistant itself gives the session. */
export const ownId = ({ session, tool }: Pick<Authored, "session" | "tool">): string =>
  session.startsWith(`${tool}:`) ? session.slice(tool.length + 1) : session;

/** Ascending numbers as ranges of lines, both ends included. */
export function toRanges(lines: readonly number[]): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  for (const line of lines) {
    const last = ranges.at(-1);
    if (last && line <= last[1] + 1) last[1] = Math.max(last[1], line);
    else ranges.push([line, line]);
  }
  return ranges;
}
