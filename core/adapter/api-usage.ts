/** Tokens of a reply under the names that the APIs of models give them. */
import { possible, toCount } from "../session/usage.ts";
import { type JsonRecord, toRecord } from "../utils/json.ts";

/**
 * Disjoint counts of a usage object by Anthropic, OpenAI or the AI SDK, in camel or snake case. What OpenAI and the AI SDK report as cached
 * is a part of their prompt, Anthropic's is not. A missing count is 0. Never throws.
 */
export function apiUsage(value: unknown) {
  const usage = camel(value);
  const details = camel(usage.promptTokensDetails ?? usage.inputTokensDetails);
  const inside = toCount(details.cachedTokens ?? usage.cachedInputTokens);
  return {
    input: withoutCache(toCount(usage.inputTokens ?? usage.promptTokens), inside, 0),
    output: toCount(usage.outputTokens ?? usage.completionTokens),
    cacheRead: inside !== 0 ? inside : toCount(usage.cacheReadInputTokens),
    cacheWrite5m: toCount(usage.cacheCreationInputTokens),
  };
}

const camel = (value: unknown): JsonRecord =>
  Object.fromEntries(
    Object.entries(toRecord(value)).map(([name, one]) => [
      name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()),
      one,
    ]),
  );

/** Tokens of a log that counts cached and written tokens as input: those are taken out, at least 0 is left. A count that cannot be takes nothing. */
export function withoutCache(input: number, cacheRead: number, cacheWrite: number): number {
  return Math.max(0, input - possible(cacheRead) - possible(cacheWrite));
}
