/** What a range of commits cost, and what became of the lines. */
import { type Kernel, mustYield, toList, toNumber, toRecord, toText, yieldNow } from "sessarc";
import type { Accounts } from "./accounts.ts";
import { groupBy } from "./group.ts";
import type { Fate, Landed } from "./landing.ts";
import { divide, type Leftover, type Share } from "./shares.ts";

export interface ReceiptSum {
  microdollars: number;
  tokens: number;
  activeMs: number;
}

interface ReceiptPrompt extends ReceiptSum {
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
const addUp = (list: readonly ReceiptSum[]): ReceiptSum => list.reduce(plus, ZERO);
const byCost = (a: ReceiptSum, b: ReceiptSum) => b.microdollars - a.microdollars || b.tokens - a.tokens;

/** Sessions whose reads are looked up. */
const READ = 50;

export async function readReceipt(
  kernel: Kernel,
  accounts: Accounts,
  range: string,
  hashes: ReadonlySet<string>,
): Promise<Receipt> {
  const shares: Share[] = [];
  const landed: Landed[] = [];
  for (const hash of hashes) {
    if (mustYield()) await yieldNow();
    for (const one of accounts.sharesOf.get(hash) ?? []) shares.push(one);
    for (const one of accounts.landed.get(hash) ?? []) landed.push(one);
  }
  const total = addUp(shares);
  const sessions: ReceiptSession[] = [];
  for (const [id, own] of await groupBy(shares, ({ session }) => session)) {
    const session = accounts.sessions.get(id);
    const prompts: ReceiptPrompt[] = [];
    for (const [seq, parts] of await groupBy(own, ({ prompt }) => prompt)) {
      const at = findIso(session?.prompts.find((one) => one.seq === seq)?.at);
      prompts.push({ seq, at, ...addUp(parts) });
      if (mustYield()) await yieldNow();
    }
    sessions.push({
      ...{ id, tool: session?.tool ?? "", title: session?.title ?? null },
      ...{ sessionMicrodollars: session?.microdollars ?? 0, ...addUp(own) },
      prompts: prompts.sort((a, b) => a.seq - b.seq),
    });
  }
  const calls = { all: 0, failed: 0, retried: 0 };
  for (const { id, prompts } of sessions) {
    if (mustYield()) await yieldNow();
    const wanted = new Set(prompts.map(({ seq }) => seq));
    for (const one of accounts.sessions.get(id)?.prompts ?? []) {
      if (!wanted.has(one.seq)) continue;
      calls.all += one.calls;
      calls.failed += one.failed;
      calls.retried += one.retried;
    }
  }
  return {
    range,
    commits: accounts.commits
      .filter(({ hash }) => hashes.has(hash))
      .map(({ hash, author, at, subject }) => ({
        ...{ hash, author, at, subject, lines: accounts.landed.get(hash)?.length ?? 0 },
        microdollars: addUp(accounts.sharesOf.get(hash) ?? []).microdollars,
      })),
    total,
    sessions: sessions.sort(byCost),
    models: [...(await groupBy(shares, ({ model }) => model))]
      .map(([model, own]) => ({ model, ...addUp(own) }))
      .sort(byCost),
    fates: await readFates(accounts, landed, total.microdollars, sessions),
    calls,
    wastedReads: sessions.length > READ ? null : await readWasted(kernel, accounts, sessions),
    leftovers: toLeftovers(accounts),
    projectMicrodollars: accounts.total,
    unpriced: accounts.unpriced,
  };
}

const findIso = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : new Date(ms).toISOString();

/** What no commit took, by the reason. */
export function toLeftovers({ sharesOf, rounding }: Accounts): Receipt["leftovers"] {
  const left = sharesOf.get(null) ?? [];
  const of = (reason: Leftover) => addUp(left.filter(({ leftover }) => leftover === reason)).microdollars;
  return [
    { reason: "uncommitted", microdollars: of("uncommitted") },
    { reason: "unwritten", microdollars: of("unwritten") },
    { reason: "rounding", microdollars: rounding },
  ];
}

async function readFates(
  accounts: Accounts,
  landed: readonly Landed[],
  microdollars: number,
  sessions: readonly ReceiptSession[],
): Promise<FateRow[]> {
  const counts = new Map<FateRow["fate"], number>(
    (["kept", "rewritten-by-assistant", "rewritten-by-person", "reverted", "unmerged"] as const).map((fate) => [
      fate,
      0,
    ]),
  );
  for (const { fate, by } of landed) {
    const name = fate === "rewritten" ? (`rewritten-by-${by ?? "person"}` as const) : fate;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (mustYield()) await yieldNow();
  }
  const parts = divide(microdollars, [...counts.values()]);
  const rows = [...counts].map(([fate, lines], i): FateRow => ({ fate, lines, microdollars: parts[i] ?? 0 }));
  const prompts = new Map(sessions.map(({ id, prompts: own }) => [id, new Set(own.map(({ seq }) => seq))]));
  let lines = 0;
  for (const one of accounts.uncommitted) {
    if (mustYield()) await yieldNow();
    const own = prompts.get(one.session);
    if (!own) continue;
    const prompt = accounts.sessions.get(one.session)?.prompts.findLast(({ seq }) => seq < one.seq)?.seq ?? -1;
    if (own.has(prompt)) lines += one.lines;
  }
  return [...rows, { fate: "uncommitted", lines, microdollars: 0 }];
}

/** Reads that led to nothing, from GET /sessions/:id/causality. */
async function readWasted(
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
