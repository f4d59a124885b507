/** Divides what sessions cost among the commits that took their lines. All shares of a session add up to its cost. */
import { mustYield, type Services, yieldNow } from "sessarc";
import type { PromptWork } from "../indexer/rows.ts";
import type { Landed } from "./landing.ts";

type Spending = Awaited<ReturnType<Services["insights"]["spending"]>>[number];

/** Why no commit took a share: its lines were never committed, or nothing was written for it or after it. */
export type Leftover = "uncommitted" | "unwritten";

export interface Share {
  session: string;
  /** Seq of the prompt; -1: before the first. */
  prompt: number;
  model: string | null;
  /** Null where no commit took it. */
  commit: string | null;
  leftover: Leftover | null;
  microdollars: number;
  tokens: number;
  activeMs: number;
}

interface Amounts {
  microdollars: number;
  tokens: number;
  activeMs: number;
}

export interface Work {
  spending: Spending;
  /** When it began, in ms. */
  started: number;
  prompts: readonly PromptWork[];
  landed: readonly Landed[];
  /** Seqs of calls that wrote something. */
  wrote: readonly number[];
}

/**
 * A prompt's cost goes to the commits that took its lines, by their number. A prompt without lines counts with the next one of its
 * session that has some; of a sub-agent, with the prompt it was started for.
 */
export async function readShares(works: readonly Work[]): Promise<Share[]> {
  const byId = new Map(works.map((work) => [work.spending.session, work]));
  const weights = new Map<Work, Map<string, number>[]>();
  for (const work of works) {
    weights.set(work, await readWeights(work));
  }
  // What a sub-agent wrote, its starter's prompt led to.
  for (const work of works) {
    if (mustYield()) await yieldNow();
    const parent = byId.get(work.spending.parent ?? "");
    const own = parent && weights.get(parent)?.[promptAt(parent.prompts, work.started)];
    if (!own || parent === work) continue;
    for (const { commit } of work.landed) own.set(commit, (own.get(commit) ?? 0) + 1);
  }
  const shares: Share[] = [];
  for (const work of works) {
    if (mustYield()) await yieldNow();
    const own = weights.get(work) ?? [];
    const starter = byId.get(work.spending.parent ?? "");
    const inherited =
      starter && starter !== work
        ? carried(weights.get(starter) ?? [], promptAt(starter.prompts, work.started))
        : undefined;
    for (const { index, amounts } of await byPrompt(work)) {
      if (mustYield()) await yieldNow();
      const prompt = work.prompts[index];
      const head = { session: work.spending.session, prompt: prompt?.seq ?? -1, model: prompt?.model ?? null };
      const wrote = prompt !== undefined && hasWritten(work, index);
      const target = wrote && (own[index]?.size ?? 0) === 0 ? undefined : (carried(own, index) ?? inherited);
      if (!target || target.size === 0) {
        shares.push({ ...head, commit: null, leftover: wrote ? "uncommitted" : "unwritten", ...amounts });
        continue;
      }
      const commits = [...target];
      const parts = divided(
        amounts,
        commits.map(([, lines]) => lines),
      );
      for (const [i, [commit]] of commits.entries())
        shares.push({ ...head, commit, leftover: null, ...(parts[i] ?? ZERO) });
    }
  }
  return shares;
}

const ZERO: Amounts = { microdollars: 0, tokens: 0, activeMs: 0 };

/** Lines of each prompt by commit. */
async function readWeights({ prompts, landed }: Work): Promise<Map<string, number>[]> {
  const weights = prompts.map(() => new Map<string, number>());
  for (const { write, commit } of landed) {
    if (mustYield()) await yieldNow();
    const own = weights[toPrompt(prompts, write.seq)];
    own?.set(commit, (own.get(commit) ?? 0) + 1);
  }
  return weights;
}

function hasWritten({ prompts, wrote }: Work, index: number): boolean {
  const from = prompts[index]?.seq ?? -1;
  const to = prompts[index + 1]?.seq ?? Number.POSITIVE_INFINITY;
  return wrote.some((seq) => seq > from && seq < to);
}

/** Those of this prompt, else of the next one with lines. */
function carried(weights: readonly Map<string, number>[], from: number): Map<string, number> | undefined {
  return weights.slice(Math.max(0, from)).find((one) => one.size > 0);
}

/** The prompt that a message belongs to. */
const toPrompt = (prompts: readonly PromptWork[], seq: number): number =>
  Math.max(
    0,
    prompts.findLastIndex((one) => one.seq < seq),
  );
const promptAt = (prompts: readonly PromptWork[], ms: number): number =>
  Math.max(
    0,
    prompts.findLastIndex((one) => (one.at ?? Number.POSITIVE_INFINITY) <= ms),
  );

/** What each prompt cost: a quarter-hour's amounts by the messages of the assistant in it. */
async function byPrompt({ spending, prompts }: Work): Promise<{ index: number; amounts: Amounts }[]> {
  if (prompts.length === 0)
    return [{ index: 0, amounts: spending.quarters.reduce((sum, one) => added(sum, one), ZERO) }];
  const sums = prompts.map(() => ZERO);
  for (const slot of spending.quarters) {
    if (mustYield()) await yieldNow();
    const counts: number[] = prompts.map(({ work }) => work.get(slot.quarter) ?? 0);
    if (!counts.some((count) => count > 0)) {
      // No message of the assistant has this time: the last prompt before it.
      const last = prompts.findLastIndex(({ at }) => at !== null && at <= (slot.quarter + 1) * 900_000);
      counts[Math.max(0, last)] = 1;
    }
    for (const [i, part] of divided(slot, counts).entries()) sums[i] = added(sums[i] ?? ZERO, part);
  }
  return sums.flatMap((amounts, index) =>
    amounts.microdollars + amounts.tokens + amounts.activeMs > 0 ? [{ index, amounts }] : [],
  );
}

const added = (a: Amounts, b: Amounts): Amounts => ({
  microdollars: a.microdollars + b.microdollars,
  tokens: a.tokens + b.tokens,
  activeMs: a.activeMs + b.activeMs,
});

function divided(amounts: Amounts, weights: readonly number[]): Amounts[] {
  const [money, tokens, time] = [amounts.microdollars, amounts.tokens, amounts.activeMs].map((whole) =>
    divide(whole, weights),
  );
  return weights.map((_, i) => ({ microdollars: money?.[i] ?? 0, tokens: tokens?.[i] ?? 0, activeMs: time?.[i] ?? 0 }));
}

/** Whole numbers in proportion to the weights that add up to `whole`: each is what the running sum, rounded, grows by. */
export function divide(whole: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((all, one) => all + one, 0);
  let running = 0;
  let before = 0;
  return weights.map((weight) => {
    running += weight;
    const until = sum === 0 ? 0 : Math.round((whole * running) / sum);
    const part = until - before;
    before = until;
    return part;
  });
}
