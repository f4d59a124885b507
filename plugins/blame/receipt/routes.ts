/** GET /projects/:id/commits and /projects/:id/receipt. */
import { defineRoute, type Kernel, mustYield, SessarcError, yieldNow } from "sessarc";
import * as v from "valibot";
import { type Accounts, readAccounts } from "./accounts.ts";
import { readEdits, type SessionEdits } from "./edits.ts";
import { type Receipt, type ReceiptSession, type ReceiptSum, readReceipt, toLeftovers } from "./receipt.ts";
import { NOTES_REF, toSummary } from "./summary.ts";

export interface CommitRow extends ReceiptSum {
  hash: string;
  author: string;
  at: string;
  subject: string;
  /** HEAD has it. */
  isMerged: boolean;
  /** Lines it added and removed, of everyone. */
  added: number;
  removed: number;
  /** Lines by assistants, and how many of them are at HEAD. */
  lines: number;
  kept: number;
  reverted: number;
  /** Ids of the sessions whose lines it took. */
  sessions: string[];
}

export interface Commits {
  /** Newest first. */
  commits: CommitRow[];
  total: number;
  nextCursor: string | null;
  /** Of all commits, without the filters. */
  authors: string[];
  branches: string[];
  leftovers: Receipt["leftovers"];
  projectMicrodollars: number;
  unpriced: string[];
}

const name = v.pipe(v.string(), v.minLength(1), v.maxLength(200));

const commits = defineRoute({
  method: "GET",
  path: "/projects/:id/commits",
  meta: { team: "repositories" },
  summary: "Commits since the first session, with what they cost and how much of it is still there",
  query: v.object({
    /** Commits of this local branch; default HEAD and all local branches. */
    branch: v.optional(name),
    author: v.optional(name),
    limit: v.optional(
      v.pipe(v.string(), v.regex(/^([1-9]\d{0,2}|1000)$/, "must be 1 to 1000"), v.transform(Number)),
      "100",
    ),
    cursor: v.optional(
      v.pipe(v.string(), v.regex(/^\d{1,7}$/, "must be a cursor of this list"), v.transform(Number)),
      "0",
    ),
  }),
  handler: async ({ kernel, params, query }): Promise<Commits> => {
    const { root, accounts } = await open(kernel, params.id);
    const { branch, author, limit, cursor } = query;
    if (branch !== undefined && !accounts.branches.some((one) => one.name === branch))
      throw new SessarcError("COMMIT_NOT_FOUND", { commit: branch });
    const tip = accounts.branches.find((one) => one.name === branch)?.hash;
    const on = tip === undefined ? undefined : new Set(await kernel.inject("git").reachable(root, tip));
    const chosen = accounts.commits
      .filter((one) => (author === undefined || one.author === author) && (!on || on.has(one.hash)))
      .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
    const rows = await readRows(accounts, new Set(chosen.slice(cursor, cursor + limit).map(({ hash }) => hash)));
    return {
      commits: chosen.slice(cursor, cursor + limit).flatMap(({ hash }) => rows.get(hash) ?? []),
      total: chosen.length,
      nextCursor: cursor + limit < chosen.length ? String(cursor + limit) : null,
      authors: [...new Set(accounts.commits.map((one) => one.author))].sort(),
      branches: accounts.branches.map((one) => one.name),
      leftovers: toLeftovers(accounts),
      projectMicrodollars: accounts.total,
      unpriced: accounts.unpriced,
    };
  },
});

const receipt = defineRoute({
  method: "GET",
  path: "/projects/:id/receipt",
  meta: { team: "repositories" },
  summary: "What a commit, a branch or a range of commits cost, and what became of its lines",
  query: v.object({
    /** A commit, a branch, `base..head`, or `last`. */
    range: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(400)), "last"),
    /** With `1`: secrets in titles are masked. */
    redacted: v.optional(v.picklist(["0", "1"])),
  }),
  handler: async ({ kernel, params, query }): Promise<Receipt> => {
    const { root, accounts } = await open(kernel, params.id);
    const hashes = new Set(await kernel.inject("git").range(root, query.range));
    const found = await readReceipt(kernel, accounts, query.range, hashes);
    if (query.redacted !== "1") return found;
    const redactor = kernel.inject("redactor");
    const sessions: ReceiptSession[] = [];
    for (const one of found.sessions)
      sessions.push({ ...one, title: one.title === null ? null : await redactor.title(one.title, TITLE) });
    return { ...found, sessions };
  },
});

/** Where a receipt cuts a title. */
const TITLE = 160;

/** Answer of POST /projects/:id/git-notes. */
export interface NotesWritten {
  ref: string;
  /** Commits that have a note now. */
  commits: string[];
}

const writeNotes = defineRoute({
  method: "POST",
  path: "/projects/:id/git-notes",
  summary: "Writes a note with the receipt of each commit of a range under refs/notes/sessarc",
  body: v.strictObject({
    range: v.pipe(v.string(), v.minLength(1), v.maxLength(400)),
    /** With the texts of the prompts, without secrets. */
    prompts: v.optional(v.boolean(), false),
  }),
  handler: async ({ kernel, params, body }): Promise<NotesWritten> => {
    const { root, accounts } = await open(kernel, params.id);
    const git = kernel.inject("git");
    const notes = new Map<string, string>();
    for (const hash of await git.range(root, body.range)) {
      const one = await readReceipt(kernel, accounts, hash, new Set([hash]));
      if (one.sessions.length > 0)
        notes.set(hash, toSummary(one, body.prompts ? await promptTexts(kernel, one) : undefined));
    }
    await git.writeNotes(root, NOTES_REF, notes);
    return { ref: NOTES_REF, commits: [...notes.keys()] };
  },
});

const edits = defineRoute({
  method: "GET",
  path: "/sessions/:id/edits",
  summary:
    "What became of each edit of a session: kept, rewritten, reverted, not committed, and the commits that took its lines",
  handler: ({ kernel, params }): Promise<SessionEdits> => readEdits(kernel, params.id),
});

export const receiptRoutes = [commits, receipt, edits, writeNotes] as const;

/** Prompts without secrets, by session and seq. */
async function promptTexts(kernel: Kernel, { sessions }: Receipt): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const rules = kernel.inject("rules");
  const archive = kernel.inject("archive");
  for (const { id, prompts } of sessions) {
    const row = await archive.find(id);
    for (const { seq } of prompts) {
      if (!row || seq < 0) continue;
      for await (const [event] of archive.events(row, seq)) {
        if (event) texts.set(`${id} ${seq}`, await rules.hide(event.text.slice(0, 2_000)));
        break;
      }
    }
  }
  return texts;
}

async function open(kernel: Kernel, wanted: string): Promise<{ root: string; accounts: Accounts }> {
  const archive = kernel.inject("archive");
  const [id] = await archive.projectIds(wanted);
  if (id === undefined) throw new SessarcError("PROJECT_NOT_FOUND", { id: wanted });
  const root = await archive.projectPath(id);
  if (root === null) throw new SessarcError("NO_REPOSITORY", { project: wanted });
  try {
    return { root, accounts: await readAccounts(kernel, id, root) };
  } catch (error) {
    if (!(error instanceof SessarcError) || error.code !== "NO_REPOSITORY") throw error;
    throw new SessarcError("NO_REPOSITORY", { project: wanted }, { cause: error });
  }
}

async function readRows(
  { commits: all, landed, sharesOf }: Accounts,
  hashes: ReadonlySet<string>,
): Promise<Map<string, CommitRow>> {
  const rows = new Map<string, CommitRow>();
  for (const { hash, author, at, subject, isMerged, added, removed } of all) {
    if (mustYield()) await yieldNow();
    if (!hashes.has(hash)) continue;
    const sums = { lines: 0, kept: 0, reverted: 0, microdollars: 0, tokens: 0, activeMs: 0 };
    const sessions = new Set<string>();
    for (const { fate, write } of landed.get(hash) ?? []) {
      if (mustYield()) await yieldNow();
      sums.lines++;
      if (fate === "kept") sums.kept++;
      if (fate === "reverted") sums.reverted++;
      sessions.add(write.author.id);
    }
    for (const { microdollars, tokens, activeMs } of sharesOf.get(hash) ?? []) {
      if (mustYield()) await yieldNow();
      sums.microdollars += microdollars;
      sums.tokens += tokens;
      sums.activeMs += activeMs;
    }
    rows.set(hash, { ...{ hash, author, at, subject, isMerged, added, removed }, ...sums, sessions: [...sessions] });
  }
  return rows;
}
