/** POST /projects/:id/git-notes and GET /projects/:id/agent-trace. */
import { defineRoute, type Kernel, mustYield, yieldNow } from "sessarc";
import * as v from "valibot";
import { named, readProject } from "../place.ts";
import { type Accounts, landingUpTo, openAccounts } from "../receipt/accounts.ts";
import { type TraceRecord, toTraceRecord } from "./agent-trace.ts";
import { readAuthorship } from "./authorship.ts";
import { GIT_AI_REF, type NotedPrompt, type SessionCost, writeGitAi } from "./git-ai.ts";

/** Notes of earlier versions, which only sessarc read. */
const FORMER_REF = "refs/notes/sessarc";

const range = v.pipe(v.string(), v.minLength(1), v.maxLength(400));

/** Answer of POST /projects/:id/git-notes. */
export interface NotesWritten {
  ref: string;
  /** Commits that have a note now. */
  commits: string[];
  /** Of `commits`: those that had a note of git-ai, whose lines stay as it names them. */
  merged: number;
  /** Lines for which a note of git-ai names another session than the archive. */
  disagreeing: number;
  /** Notes under refs/notes/sessarc that were replaced by these. */
  converted: number;
}

const writeNotes = defineRoute({
  method: "POST",
  path: "/projects/:id/git-notes",
  summary: "Writes who wrote the lines of each commit of a range as notes of the Git AI Standard, under refs/notes/ai",
  body: v.strictObject({
    /** A commit, a branch, `base..head`, or `last`. */
    range: v.optional(range, "last"),
    /** With the texts of the prompts, without secrets. */
    prompts: v.optional(v.boolean(), false),
    /** Instead of `range`: all commits that have a note under refs/notes/sessarc. Those notes are removed. */
    convert: v.optional(v.boolean(), false),
  }),
  handler: async ({ kernel, params, body }): Promise<NotesWritten> => {
    const git = kernel.inject("git");
    const { project, root, accounts } = await openAccounts(kernel, params.id);
    const all = accounts.commits.map(({ hash }) => hash);
    const former = body.convert ? await git.notes(root, FORMER_REF, all) : new Map<string, string>();
    const hashes = body.convert ? [...former.keys()] : await git.range(root, body.range);
    const tip = body.convert ? (await git.tips(root)).head : hashes[0];
    const landing = await landingUpTo(kernel, project, root, tip);
    const existing = await git.notes(root, GIT_AI_REF, hashes);
    const notes = new Map<string, string>();
    let merged = 0;
    let disagreeing = 0;
    for (const authored of await readAuthorship(kernel, landing, new Set(hashes))) {
      const { hash } = authored.commit;
      const note = writeGitAi(authored, existing.get(hash), {
        costs: costsOf(accounts, hash),
        prompts: body.prompts ? await readPromptTexts(kernel, accounts, hash) : new Map(),
      });
      if (mustYield()) await yieldNow();
      if (!note) continue;
      notes.set(hash, note.text);
      disagreeing += note.disagreeing;
      if (note.isMerged) merged++;
    }
    await git.writeNotes(root, GIT_AI_REF, notes);
    const converted = [...former.keys()].filter((hash) => notes.has(hash));
    await git.removeNotes(root, FORMER_REF, converted);
    return { ref: GIT_AI_REF, commits: [...notes.keys()], merged, disagreeing, converted: converted.length };
  },
});

const agentTrace = defineRoute({
  method: "GET",
  path: "/projects/:id/agent-trace",
  meta: { team: "repositories" },
  summary: "The lines of each session in the commits of a range, as records of Agent Trace",
  query: v.object({ range: v.optional(range, "last") }),
  handler: async ({ kernel, params, query }): Promise<{ records: TraceRecord[] }> => {
    const { project, root } = await readProject(kernel, params.id);
    try {
      const hashes = await kernel.inject("git").range(root, query.range);
      const landing = await landingUpTo(kernel, project, root, hashes[0]);
      const authored = await readAuthorship(kernel, landing, new Set(hashes));
      return {
        records: authored
          .filter(({ files }) => files.size > 0)
          .map(({ commit, files }) => toTraceRecord(commit, files)),
      };
    } catch (error) {
      throw named(error, params.id);
    }
  },
});

export const authorshipRoutes = [writeNotes, agentTrace] as const;

function costsOf({ sharesOf }: Accounts, hash: string): Map<string, SessionCost> {
  const costs = new Map<string, SessionCost>();
  for (const { session, microdollars, tokens } of sharesOf.get(hash) ?? []) {
    const known = costs.get(session) ?? { microdollars: 0, tokens: 0 };
    costs.set(session, { microdollars: known.microdollars + microdollars, tokens: known.tokens + tokens });
  }
  return costs;
}

/** Prompts that led to a commit, without secrets, by session. */
async function readPromptTexts(kernel: Kernel, accounts: Accounts, hash: string): Promise<Map<string, NotedPrompt[]>> {
  const texts = new Map<string, NotedPrompt[]>();
  const rules = kernel.inject("rules");
  const archive = kernel.inject("archive");
  const wanted = new Map<string, Set<number>>();
  for (const { session, prompt } of accounts.sharesOf.get(hash) ?? []) {
    const seqs = wanted.get(session) ?? new Set();
    wanted.set(session, seqs);
    if (prompt >= 0) seqs.add(prompt);
  }
  for (const [id, seqs] of wanted) {
    const row = await archive.find(id);
    const own: NotedPrompt[] = [];
    for (const seq of [...seqs].sort((a, b) => a - b)) {
      if (!row) continue;
      for await (const [event] of archive.events(row, seq)) {
        if (event) own.push({ text: (await rules.hide(event.text)).slice(0, MOST), at: event.at ?? null });
        break;
      }
    }
    texts.set(id, own);
  }
  return texts;
}

/** Characters of a prompt in a note. */
const MOST = 2_000;
