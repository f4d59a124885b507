/** How full a session's context was at its last prompt, from GET /sessions/:id/context, which reads the log. */
import { type Kernel, toList, toNumber, toRecord, toText } from "sessarc";
import type { Finding } from "./state.ts";

/** A share of the model's context window from which on the context is near its limit. */
const NEAR = 0.8;

export interface Fullness {
  model: string;
  /** Tokens of the last prompt. */
  tokens: number;
  /** What the model takes, by the price table. */
  window: number;
}

/** Undefined where the log has no tokens of single replies, or the price table no window of the model that fits what was sent. */
async function fullnessOf(kernel: Kernel, id: string): Promise<Fullness | undefined> {
  const response = await kernel.fetch(`/api/sessions/${encodeURIComponent(id)}/context`);
  if (!response.ok) return undefined;
  const replies = toList(toRecord(await response.json()).replies).map(toRecord);
  const last = replies.at(-1);
  const model = toText(last?.model);
  const tokens = toNumber(last?.tokens);
  if (model === undefined || tokens === undefined) return undefined;
  const window = kernel.find("pricing")?.windowOf(model);
  // A model with a longer window than the table has: nothing is known of its limit.
  const fits = (most: number) => replies.every((one) => one.model !== model || (toNumber(one.tokens) ?? 0) <= most);
  return window !== undefined && fits(window) ? { model, tokens, window } : undefined;
}

/** `last`: the session's last message. */
export async function nearLimit(kernel: Kernel, id: string, last: number): Promise<Finding | undefined> {
  const full = await fullnessOf(kernel, id);
  if (!full || full.tokens < NEAR * full.window) return undefined;
  const share = Math.floor((100 * full.tokens) / full.window);
  return {
    ...{ kind: "nearLimit", seq: last, last, count: 1, tool: full.model, subject: `${share} % / ${full.window}` },
    ...{ tokens: full.tokens, ms: 0 },
  };
}
