/** What each prompt of a session led to in tokens and cost, exact to the session's own total. */
import type { Kernel, SessionUsage, TokenUsage, UsageEntry } from "sessarc";
import { addUsage, classed } from "sessarc/adapter";
import type { Cost, Pricing } from "../prices/pricing.ts";
import { findReplies } from "./replies.ts";
import { addUp } from "./tally.ts";

export interface PromptCosts {
  /**
   * Why there is nothing: the log is gone, does not say the tokens of single replies, or reports more than is attributed to this session (it grew
   * since, or a fork's replies count at their origin).
   */
  missing: "log" | "replies" | "differs" | null;
  /** What the person said and notes, in order, each with everything up to the next one. */
  prompts: { seq: number; tokens: TokenUsage; cost: Cost }[];
  /** Usage before the first prompt, or without a time. Together with all prompts it is exactly `total`. */
  rest: { tokens: TokenUsage; cost: Cost };
  total: { tokens: TokenUsage; cost: Cost };
}

/** Throws SESSION_NOT_FOUND. */
export async function readPrompts(kernel: Kernel, pricing: Pricing, id: string): Promise<PromptCosts> {
  const archive = kernel.inject("archive");
  const row = await archive.get(id);
  const usage = row.classedUsage;
  const whole: SessionUsage = Object.assign({}, ...Object.values(await archive.usageByPrice(row.id)));
  const total = { tokens: addUp(usage), cost: pricing.cost(whole) };
  const nothing = (missing: PromptCosts["missing"]) => ({ missing, prompts: [], rest: total, total });
  const adapter = archive.adapter(row.tool);
  const replies = adapter && !row.source.missing ? await findReplies(adapter, archive.ref(row), kernel) : undefined;
  if (!replies) return nothing("log");
  const own = replies.filter((one) => !one.inherited);
  if (own.length === 0) return nothing("replies");
  const prompts: Prompt[] = [];
  for await (const events of archive.events(row))
    for (const { seq, kind, at } of events)
      if (kind === "user" || kind === "note") prompts.push({ seq, at: Date.parse(at ?? ""), usage: {}, keyed: {} });
  const left = allot(prompts, own, usage, pricing);
  return left ? { missing: null, ...costs(prompts, left, total, pricing), total } : nothing("differs");
}

interface Prompt {
  seq: number;
  /** ms; NaN without a time. */
  at: number;
  usage: SessionUsage;
  /** By model and the price at which it was used. */
  keyed: SessionUsage;
}

/** Gives each reply to the prompt before it. Answers what of `usage` is left; undefined when a reply is more than counts here. */
function allot(
  prompts: readonly Prompt[],
  replies: readonly UsageEntry[],
  usage: SessionUsage,
  pricing: Pricing,
): SessionUsage | undefined {
  const timed = prompts.filter((one) => !Number.isNaN(one.at)).sort((a, b) => a.at - b.at || a.seq - b.seq);
  const left = structuredClone(usage);
  for (const { at, model: name, priceClass, usage: tokens } of replies) {
    const model = classed(name, priceClass);
    const time = Date.parse(at ?? "");
    const prompt = timed[lastBefore(timed, time)];
    if (!prompt) continue;
    const rest = left[model];
    if (!rest) return undefined;
    for (const field of Object.keys(rest) as (keyof TokenUsage)[]) {
      rest[field] -= tokens[field];
      if (rest[field] < 0) return undefined;
    }
    addUsage(prompt.usage, model, tokens);
    addUsage(prompt.keyed, pricing.keyAt(model, time), tokens);
  }
  return left;
}

/** Index of the last that is not later than `time`; -1 for none, or no time. */
function lastBefore(timed: readonly { at: number }[], time: number): number {
  let low = 0;
  let high = timed.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((timed[middle]?.at ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Costs are whole millionths: each prompt has what the sum grows by with it, so that nothing is lost to rounding. */
function costs(
  prompts: readonly Prompt[],
  left: SessionUsage,
  total: PromptCosts["total"],
  pricing: Pricing,
): Pick<PromptCosts, "prompts" | "rest"> {
  const sum: SessionUsage = {};
  let before = 0;
  const list = prompts.map(({ seq, usage, keyed }) => {
    for (const [key, tokens] of Object.entries(keyed)) addUsage(sum, key, tokens);
    const { microdollars } = pricing.cost(sum);
    const cost = { ...pricing.cost(usage), microdollars: microdollars - before };
    before = microdollars;
    return { seq, tokens: addUp(usage), cost };
  });
  const rest = { ...pricing.cost(left), microdollars: total.cost.microdollars - before };
  return { prompts: list, rest: { tokens: addUp(left), cost: rest } };
}
