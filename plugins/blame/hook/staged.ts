/** GET /git/staged: the sessions that wrote what is about to be committed. */
import { defineRoute, type Kernel, marks } from "sessarc";
import * as v from "valibot";
import { ownId } from "../authorship/authorship.ts";
import { readPrompts } from "../indexer/rows.ts";
import { type CommittedLine, matchLines } from "../match/match.ts";
import { readPlace } from "../place.ts";
import { writesInto } from "../writes.ts";

export interface StagedSession {
  /** Of the archive. */
  id: string;
  /** The assistant. */
  tool: string;
  /** The id that the assistant itself gives the session. */
  session: string;
  model: string | null;
  /** Added lines that it wrote. */
  lines: number;
}

export const stagedRoutes = [
  defineRoute({
    method: "GET",
    path: "/git/staged",
    summary: "Which sessions wrote the lines of a tree that HEAD does not have",
    query: v.object({
      /** An absolute path in the repository. */
      path: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
      /** Full hash of the tree, as `git write-tree` prints it. */
      tree: v.pipe(v.string(), v.regex(/^([\da-f]{40}|[\da-f]{64})$/, "must be the full hash of a tree")),
    }),
    handler: async ({ kernel, query: { path, tree } }): Promise<{ sessions: StagedSession[] }> => ({
      sessions: await readStaged(kernel, path, tree),
    }),
  }),
] as const;

/** Most lines first. */
async function readStaged(kernel: Kernel, path: string, hash: string): Promise<StagedSession[]> {
  const { project, root, tree } = await readPlace(kernel, undefined, path);
  if (project === undefined) return [];
  const { files, changed } = await kernel.inject("git").staged(tree, hash);
  const found = new Map<string, StagedSession & { seq: number }>();
  const now = Date.now();
  for (const file of files) {
    const writes = await writesInto(kernel, project, root, new Set([file.path, file.previousPath]));
    if (writes.length === 0) continue;
    const lines = file.addedLines.map((text): CommittedLine => ({ text, commit: "" }));
    const after = changed.get(file.previousPath) ?? changed.get(file.path) ?? Number.NEGATIVE_INFINITY;
    for (const one of await matchLines(lines, new Map([["", { after, authored: now, committed: now }]]), writes)) {
      const write = one && writes[one.write];
      if (!write) continue;
      const { id, tool } = write.author;
      const known = found.get(id) ?? {
        ...{ id, tool, session: ownId({ session: id, tool }), model: null, lines: 0, seq: write.seq },
      };
      known.lines++;
      known.seq = Math.max(known.seq, write.seq);
      found.set(id, known);
    }
  }
  const ids = [...found.keys()];
  const rows = await kernel.storage.db.all<{ session: string; prompts: string }>(
    `select session, prompts from blame_session where session in (${marks(ids)})`,
    ids,
  );
  for (const { session, prompts } of rows) {
    const one = found.get(session);
    if (one) one.model = readPrompts(prompts).findLast(({ seq }) => seq < one.seq)?.model ?? null;
  }
  return [...found.values()]
    .map(({ seq: _, ...one }) => one)
    .sort((a, b) => b.lines - a.lines || (a.id < b.id ? -1 : 1));
}
