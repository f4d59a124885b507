/** GET /projects/:id/commits and /projects/:id/receipt. */
import { defineRoute, mustYield, SessarcError, yieldNow } from "sessarc";
import * as v from "valibot";
import { type Accounts, openAccounts } from "./accounts.ts";
import { readEdits, type SessionEdits } from "./edits.ts";
import { type Receipt, type ReceiptSession, type ReceiptSum, readReceipt, toLeftovers } from "./receipt.ts";

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
    const { root, accounts } = await openAccounts(kernel, params.id);
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
    const { root, accounts } = await openAccounts(kernel, params.id);
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

const edits = defineRoute({
  method: "GET",
  path: "/sessions/:id/edits",
  summary:
    "What became of each edit of a session: kept, rewritten, reverted, not committed, and the commits that took its lines",
  handler: ({ kernel, params }): Promise<SessionEdits> => readEdits(kernel, params.id),
});

export const receiptRoutes = [commits, receipt, edits] as const;

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
