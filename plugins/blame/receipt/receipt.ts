/** What a range of commits cost, and what became of the lines. */
import { type Kernel, toList, toNumber, toRecord, toText } from "sessarc";
import type { Accounts } from "./accounts.ts";
import { groupBy } from "./group.ts";
import type { Fate } from "./landing.ts";
import { divide, type Leftover } from "./shares.ts";

export interface ReceiptSum {
  microdollars: number;
  tokens: number;
  activeMs: number;
}

export interface ReceiptPrompt extends ReceiptSum {
  /** -1: before the first prompt. */
  seq: number;
  at: string | null;
}

export interface ReceiptSession extends ReceiptSum {
  id: string;
  /** The assistant. */
  tool: string;
  title: string | null;
  /** What the whole session cost. */
  sessionMicrodollars: number;
  prompts: ReceiptPrompt[];
}

export interface FateRow {
  /** `rewritten` by whom. */
  fate: Exclude<Fate, "rewritten"> | "rewritten-by-assistant" | "rewritten-by-person" | "uncommitted";
  lines: number;
  /** Cost of these lines, in proportion; lines that were never committed have no separate cost. */
  microdollars: number;
}

export interface Receipt {
  range: string;
  commits: { hash: string; author: string; at: string; subject: string; microdollars: number; lines: number }[];
  total: ReceiptSum;
  /** The most expensive first. */
  sessions: ReceiptSession[];
  models: (ReceiptSum & { model: string | null })[];
  fates: FateRow[];
  calls: {
    all: number;
    failed: number;
    /** Calls of a tool right after it failed. */
    retried: number;
  };
  /** Reads that led to no change, of the sessions of this range; null where there are more than 50 of them. */
  wastedReads: { reads: number; tokens: number } | null;
  /** Of the whole project: what no commit took. */
  leftovers: { reason: Leftover | "rounding"; microdollars: number }[];
  /** Of the whole project: all commits and all leftovers. */
  projectMicrodollars: number;
  /** Models without a price: not in any sum. */
  unpriced: string[];
}

const ZERO: ReceiptSum = { microdollars: 0, tokens: 0, activeMs: 0 };
const plus = (a: ReceiptSum, b: ReceiptSum): ReceiptSum => ({
  microdollars: a.microdollars + b.microdollars,
  tokens: a.tokens + b.tokens,
  activeMs: a.activeMs + b.activeMs,
});
const sumOf = (list: readonly ReceiptSum[]): ReceiptSum => list.reduce(plus, ZERO);
const byCost = (a: ReceiptSum, b: ReceiptSum) => b.microdollars - a.microdollars || b.tokens - a.tokens;

/** Sessions whose reads are looked up. */
const READ = 50;

export async function receiptOf(
  kernel: Kernel,
  accounts: Accounts,
  range: string,
  hashes: ReadonlySet<string>,
): Promise<Receipt> {
  const shares = accounts.shares.filter(({ commit }) => commit !== null && hashes.has(commit));
  const landed = accounts.landed.filter(({ commit }) => hashes.has(commit));
  const byCommit = groupBy(shares, ({ commit }) => commit);
  const linesIn = groupBy(landed, ({ commit }) => commit);
  const total = sumOf(shares);
  const sessions = [...groupBy(shares, ({ session }) => session)].map(([id, own]): ReceiptSession => {
    const session = accounts.sessions.get(id);
    return {
      ...{ id, tool: session?.tool ?? "", title: session?.title ?? null },
      ...{ sessionMicrodollars: session?.microdollars ?? 0, ...sumOf(own) },
      prompts: [...groupBy(own, ({ prompt }) => prompt)].map(([seq, parts]) => ({
        ...{ seq, at: isoOf(session?.prompts.find((one) => one.seq === seq)?.at) },
        ...sumOf(parts),
      })),
    };
  });
  const worked = sessions.flatMap(({ id, prompts }) =>
    (accounts.sessions.get(id)?.prompts ?? []).filter(({ seq }) => prompts.some((one) => one.seq === seq)),
  );
  return {
    range,
    commits: accounts.commits
      .filter(({ hash }) => hashes.has(hash))
      .map(({ hash, author, at, subject }) => ({
        ...{ hash, author, at, subject, lines: linesIn.get(hash)?.length ?? 0 },
        microdollars: sumOf(byCommit.get(hash) ?? []).microdollars,
      })),
    total,
    sessions: sessions.sort(byCost),
    models: [...groupBy(shares, ({ model }) => model)].map(([model, own]) => ({ model, ...sumOf(own) })).sort(byCost),
    fates: fatesOf(accounts, landed, total.microdollars, sessions),
    calls: {
      all: worked.reduce((sum, { calls }) => sum + calls, 0),
      failed: worked.reduce((sum, { failed }) => sum + failed, 0),
      retried: worked.reduce((sum, { retried }) => sum + retried, 0),
    },
    wastedReads: sessions.length > READ ? null : await wastedOf(kernel, accounts, sessions),
    leftovers: leftoversOf(accounts),
    projectMicrodollars: accounts.total,
    unpriced: accounts.unpriced,
  };
}

const isoOf = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : new Date(ms).toISOString();

/** What no commit took, by the reason. */
export function leftoversOf({ shares, rounding }: Accounts): Receipt["leftovers"] {
  const of = (reason: Leftover) => sumOf(shares.filter(({ leftover }) => leftover === reason)).microdollars;
  return [
    { reason: "uncommitted", microdollars: of("uncommitted") },
    { reason: "unwritten", microdollars: of("unwritten") },
    { reason: "rounding", microdollars: rounding },
  ];
}

function fatesOf(
  accounts: Accounts,
  landed: Accounts["landed"],
  microdollars: number,
  sessions: readonly ReceiptSession[],
): FateRow[] {
  const counts = new Map<FateRow["fate"], number>(
    (["kept", "rewritten-by-assistant", "rewritten-by-person", "reverted", "unmerged"] as const).map((fate) => [
      fate,
      0,
    ]),
  );
  for (const { fate, by } of landed) {
    const name = fate === "rewritten" ? (`rewritten-by-${by ?? "person"}` as const) : fate;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const parts = divide(microdollars, [...counts.values()]);
  const rows = [...counts].map(([fate, lines], i): FateRow => ({ fate, lines, microdollars: parts[i] ?? 0 }));
  const prompts = new Map(sessions.map(({ id, prompts: own }) => [id, new Set(own.map(({ seq }) => seq))]));
  const left = accounts.uncommitted.filter(({ session, seq }) => {
    const prompt = accounts.sessions.get(session)?.prompts.findLast((one) => one.seq < seq)?.seq ?? -1;
    return prompts.get(session)?.has(prompt);
  });
  const lines = left.reduce((sum, one) => sum + one.lines, 0);
  return [...rows, { fate: "uncommitted", lines, microdollars: 0 }];
}

/** Reads that led to nothing, from GET /sessions/:id/causality. */
async function wastedOf(
  kernel: Kernel,
  accounts: Accounts,
  sessions: readonly ReceiptSession[],
): Promise<{ reads: number; tokens: number }> {
  const sum = { reads: 0, tokens: 0 };
  for (const { id, prompts } of sessions) {
    const own = new Set(prompts.map(({ seq }) => seq));
    const all = accounts.sessions.get(id)?.prompts ?? [];
    const response = await kernel.fetch(`/api/sessions/${encodeURIComponent(id)}/causality`);
    if (!response.ok) continue;
    for (const read of toList(toRecord(await response.json()).wastedReads).map(toRecord)) {
      const seq = toNumber(read.seq) ?? 0;
      if (toText(read.path) === undefined || !own.has(all.findLast((one) => one.seq < seq)?.seq ?? -1)) continue;
      sum.reads++;
      sum.tokens += toNumber(read.tokens) ?? 0;
    }
  }
  return sum;
}
