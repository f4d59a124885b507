/**
 * What the price of a reply depends on beside its model and time: how long its prompt was, and how fast or cheap it was asked for. A
 * price class is a short text such as `fast`, `>200000` or `fast>200000`; most replies have none.
 */
import type { SessionUsage, TokenUsage } from "./session.ts";

/** Prompt sizes above which some model costs more. A test compares them with the price table. */
export const PROMPT_STEPS = [100_000, 128_000, 199_999, 200_000, 271_999, 272_000, 512_000] as const;

/** Names that mean the standard price. */
const STANDARD: ReadonlySet<string> = new Set(["", "standard", "default", "auto", "normal", "on_demand"]);
const LONGEST = 24;
/** Between a model and a class; a model's name does not contain it. */
const MARK = "\u001f";

export interface PriceFacts {
  /** Speed or service tier as the log has it (`fast`, `batch`, `priority`, `flex`); the first that is not standard counts. */
  tier?: readonly unknown[] | undefined;
  /** True when the record is of one model call: only then its tokens are one prompt. */
  oneCall?: boolean | undefined;
}

/** The class of a reply; undefined for the standard one. */
export function findPriceClass({ tier = [], oneCall }: PriceFacts, usage: TokenUsage): string | undefined {
  const names = tier.flatMap((one) => (typeof one === "string" ? [one.trim().toLowerCase()] : []));
  const name = names.find((one) => !STANDARD.has(one) && /^[a-z][a-z0-9_-]*$/.test(one) && one.length <= LONGEST) ?? "";
  const prompt = oneCall ? usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h : 0;
  const step = PROMPT_STEPS.findLast((one) => prompt > one);
  return name === "" && step === undefined ? undefined : `${name}${step === undefined ? "" : `>${step}`}`;
}

/** The key under which tokens of one model and class are added up: the model itself for the standard class. */
export const classed = (model: string, priceClass: string | undefined): string =>
  priceClass === undefined ? model : `${model}${MARK}${priceClass}`;

/** The model of such a key. */
export function plainModel(key: string): string {
  const at = key.indexOf(MARK);
  return at < 0 ? key : key.slice(0, at);
}

/** Tier (empty: standard) and the prompt size that was exceeded (0: none) of such a key. */
export function classOfKey(key: string): { tier: string; above: number } {
  const at = key.indexOf(MARK);
  if (at < 0) return { tier: "", above: 0 };
  const [tier = "", above = "0"] = key.slice(at + 1).split(">");
  return { tier, above: Number(above) || 0 };
}

/** The tokens of each model, without classes. Usage that has no classes is returned unchanged. */
export function plainUsage(usage: SessionUsage): SessionUsage {
  if (!Object.keys(usage).some((key) => key.includes(MARK))) return usage;
  const plain: SessionUsage = {};
  for (const [key, tokens] of Object.entries(usage)) {
    const model = plainModel(key);
    const known = Object.hasOwn(plain, model) ? plain[model] : undefined;
    if (known) for (const field of Object.keys(known) as (keyof TokenUsage)[]) known[field] += tokens[field];
    else
      Object.defineProperty(plain, model, {
        value: { ...tokens },
        enumerable: true,
        writable: true,
        configurable: true,
      });
  }
  return plain;
}

/** `usage` with the tokens of `classes` under separate keys. */
export function classedUsage(usage: SessionUsage, classes: SessionUsage | undefined): SessionUsage {
  if (!classes) return usage;
  const split = structuredClone(usage);
  for (const [key, tokens] of Object.entries(classes)) {
    const model = plainModel(key);
    const rest = Object.hasOwn(split, model) ? split[model] : undefined;
    if (!rest) continue;
    let left = 0;
    for (const field of Object.keys(rest) as (keyof TokenUsage)[]) {
      rest[field] = Math.max(0, rest[field] - tokens[field]);
      left += rest[field];
    }
    if (left === 0) delete split[model];
    split[key] = { ...tokens };
  }
  return split;
}
