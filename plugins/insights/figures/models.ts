/** Tokens and cost by model, all spellings of one in one row. */
import type { TokenUsage } from "sessarc";
import { modelName } from "../prices/names.ts";
import { addUp, computeTotal, type Tally } from "./tally.ts";

export interface ModelUsage {
  /** Without provider, region, date and setting. */
  model: string;
  /** As the logs name it. */
  spellings: string[];
  tokens: TokenUsage;
  /** Millionths of a dollar; null: no price is known for any of its tokens. */
  microdollars: number | null;
}

/** Dearest first, those without a price last. */
export function toModels(tally: Tally): ModelUsage[] {
  const { usage } = tally;
  const byName = new Map<string, string[]>();
  for (const spelling of Object.keys(usage)) {
    const name = modelName(spelling);
    byName.set(name, [...(byName.get(name) ?? []), spelling]);
  }
  const models = [...byName].map(([model, spellings]): ModelUsage => {
    const own = Object.fromEntries(spellings.map((spelling) => [spelling, usage[spelling] as TokenUsage]));
    const { microdollars, unpriced } = tally.costOf(spellings);
    const free = microdollars === 0 && unpriced.length > 0;
    return { model, spellings: spellings.sort(), tokens: addUp(own), microdollars: free ? null : microdollars };
  });
  return models.sort(
    (a, b) =>
      (b.microdollars ?? -1) - (a.microdollars ?? -1) ||
      computeTotal(b.tokens) - computeTotal(a.tokens) ||
      (a.model < b.model ? -1 : 1),
  );
}
