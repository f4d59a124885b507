/** What an answer cost: its nodes of tokens and of the bill. */
import { type JsonRecord, toRecord, toText } from "sessarc";
import type { SessionDraft } from "sessarc/adapter";

const [BILL, TOKENS] = [9, 10];

export type Payer = { key: string | undefined; at: string | undefined; model: string };

const toBill = (nodes: readonly JsonRecord[]) => toRecord(nodes.find(({ type }) => type === BILL)?.billing_metadata);
export const billed = (nodes: readonly JsonRecord[]) => toText(toBill(nodes).effective_model_name);

export function pay(draft: SessionDraft, nodes: readonly JsonRecord[], payer: Payer): void {
  // The figures of an answer grow while it comes: the last are the whole.
  const tokens = toRecord(nodes.filter(({ type }) => type === TOKENS).at(-1)?.token_usage);
  count(draft, tokens, payer, toBill(nodes).cost_usd);
}

/** Kinds do not overlap. Dollars are text. */
export function count(draft: SessionDraft, tokens: JsonRecord, payer: Payer, cost: unknown): void {
  const { input_tokens: input, output_tokens: output } = tokens;
  const { cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite5m } = tokens;
  draft.count({ ...payer, usage: { input, output, cacheRead, cacheWrite5m } }, Number(cost));
}
