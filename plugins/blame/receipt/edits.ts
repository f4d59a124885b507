/** What became of each edit of a session: the answer of GET /sessions/:id/edits. */
import { type Kernel, mustYield, SessarcError, yieldNow } from "sessarc";
import { landingFor } from "./accounts.ts";
import type { Landed, Landing } from "./landing.ts";
import type { FateRow } from "./receipt.ts";

/** `partly`: some of its lines are at HEAD, others are not. */
export type EditFate = "kept" | "partly" | "rewritten" | "reverted" | "unmerged" | "uncommitted";

export interface EditState {
  /** The call. */
  seq: number;
  state: EditFate;
  /** Lines by what became of them; a fate without lines is left out. */
  lines: Partial<Record<FateRow["fate"], number>>;
  /** Commits that took its lines, oldest first. */
  commits: { hash: string; at: string; subject: string; lines: number }[];
}

export interface SessionEdits {
  /** The project; its commits are `GET /projects/:id/commits`. */
  project: string;
  /** The project has a repository. Without one nothing is known of any edit. */
  hasRepository: boolean;
  /** Calls that changed a file, in their order. A call whose lines were all there before is left out. */
  edits: EditState[];
}

export async function readEdits(kernel: Kernel, id: string): Promise<SessionEdits> {
  const archive = kernel.inject("archive");
  const { id: session, projectId: project } = await archive.session(id);
  const root = await archive.projectPath(project);
  const landing = root === null ? undefined : await landingIn(kernel, project, root);
  if (root === null || !landing) return { project, hasRepository: false, edits: [] };
  const bySeq = new Map<number, Landed[]>();
  for (const one of landing.landed) {
    if (mustYield()) await yieldNow();
    if (one.write.author.id !== session) continue;
    const list = bySeq.get(one.write.seq);
    if (list) list.push(one);
    else bySeq.set(one.write.seq, [one]);
  }
  const written = await writtenBy(landing, session);
  const edits: EditState[] = [];
  for (const [seq, { lines, fresh }] of [...written].sort(([a], [b]) => a - b)) {
    if (mustYield()) await yieldNow();
    const own = bySeq.get(seq) ?? [];
    const sums: EditState["lines"] = {};
    for (const { fate, by } of own) {
      const name = fate === "rewritten" ? (`rewritten-by-${by ?? "person"}` as const) : fate;
      sums[name] = (sums[name] ?? 0) + 1;
    }
    // Of a call that wrote the whole file it is unknown which other lines were there before.
    const left = own.length === 0 ? fresh : lines - own.length;
    if (left > 0) sums.uncommitted = left;
    const state = findState(sums);
    if (state) edits.push({ seq, state, lines: sums, commits: toCommits(landing, own) });
  }
  return { project, hasRepository: true, edits };
}

/** Undefined for a folder without a repository. */
async function landingIn(kernel: Kernel, project: string, root: string): Promise<Landing | undefined> {
  try {
    return await landingFor(kernel, project, root);
  } catch (error) {
    if (error instanceof SessarcError && error.code === "NO_REPOSITORY") return undefined;
    throw error;
  }
}

/**
 * Of each call: how many lines it wrote, and how many of these no earlier call had written into the file. Lines of a call that wrote the
 * whole file are in the second number alone.
 */
async function writtenBy({ writes }: Landing, session: string): Promise<Map<number, { lines: number; fresh: number }>> {
  const files = new Set<string>();
  for (const write of writes) {
    if (mustYield()) await yieldNow();
    if (write.author.id === session) files.add(write.file);
  }
  const known = new Map<string, Set<number>>();
  const found = new Map<number, { lines: number; fresh: number }>();
  for (const write of writes) {
    if (mustYield()) await yieldNow();
    const { file } = write;
    if (!files.has(file)) continue;
    const { author, seq, lines, whole } = write;
    const before = known.get(file) ?? new Set();
    known.set(file, before);
    const filled = lines.filter((key) => key !== 0);
    if (author.id === session) {
      const sum = found.get(seq) ?? { lines: 0, fresh: 0 };
      found.set(seq, sum);
      if (!whole) sum.lines += filled.length;
      sum.fresh += whole ? filled.filter((key) => !before.has(key)).length : filled.length;
    }
    for (const key of filled) before.add(key);
  }
  return found;
}

/** The fate of most of its lines, while none is at HEAD. */
function findState(lines: EditState["lines"]): EditFate | undefined {
  const { kept = 0, unmerged = 0, reverted = 0, uncommitted = 0 } = lines;
  const rewritten = (lines["rewritten-by-assistant"] ?? 0) + (lines["rewritten-by-person"] ?? 0);
  const others: [EditFate, number][] = [
    ["rewritten", rewritten],
    ["reverted", reverted],
    ["unmerged", unmerged],
    ["uncommitted", uncommitted],
  ];
  if (kept > 0) return others.some(([, count]) => count > 0) ? "partly" : "kept";
  const [most] = others.sort(([, a], [, b]) => b - a);
  return most && most[1] > 0 ? most[0] : undefined;
}

function toCommits({ commits }: Landing, landed: readonly Landed[]): EditState["commits"] {
  const counts = new Map<string, number>();
  for (const { commit } of landed) counts.set(commit, (counts.get(commit) ?? 0) + 1);
  if (counts.size === 0) return [];
  return commits.flatMap(({ hash, at, subject }) => {
    const lines = counts.get(hash);
    return lines === undefined ? [] : [{ hash, at, subject, lines }];
  });
}
