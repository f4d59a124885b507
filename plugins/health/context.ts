/** How full a session's context was at its last prompt, by the service "insights", which reads the log. */
import type { Kernel } from "sessarc";
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
  const context = await kernel.find("insights")?.context(id);
  const last = context?.replies.at(-1);
  if (!context || !last) return undefined;
  const { model, tokens } = last;
  const window = kernel.find("pricing")?.windowOf(model);
  // A model with a longer window than the table has: nothing is known of its limit.
  const fits = (most: number) => context.replies.every((one) => one.model !== model || one.tokens <= most);
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
