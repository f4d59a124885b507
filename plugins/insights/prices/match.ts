/** Which entry of the price table a model id means: the table's own rules, held to whole names. Upper and lower case are one. */
import type { MatchLogic, ModelInfo, Provider } from "@pydantic/genai-prices";
import { preferred, readings } from "./gateways.ts";
import { LONGEST, modelName } from "./names.ts";

/** What may follow a model's name without making it another model: a date, a revision, a release stage. */
const VERSIONS = [
  ...["20\\d{6}", "20\\d{2}-\\d{2}-\\d{2}", "\\d{2}-\\d{2}", "\\d{2}-20\\d{2}", "\\d{3}"],
  ...["latest", "preview", "exp", "thinking", "v\\d", "v\\d:\\d"],
].map((version) => new RegExp(`[-@:.]?${version}`, "y"));
/** An optional prefix: the region of a hosted model. */
const REGION = /^(?:[a-z]{2,6}(?:-gov)?\.)?$/;

/**
 * True when `rule` matches `id` (in lower case) and what the rule leaves open is no more than a version. The table's prefixes alone would
 * bill `claude-opus-4-50` as `claude-opus-4-5`.
 */
function names(rule: MatchLogic, id: string): boolean {
  if ("or" in rule) return rule.or.some((one) => names(one, id));
  // Beside other rules a pattern only restricts them.
  if ("and" in rule) {
    return rule.and.every((one) => holds(one, id)) && rule.and.some((one) => !("regex" in one) && names(one, id));
  }
  if ("equals" in rule || "regex" in rule) return holds(rule, id);
  const written = "starts_with" in rule ? rule.starts_with : "ends_with" in rule ? rule.ends_with : rule.contains;
  const literal = written.toLowerCase();
  if (!holds(rule, id)) return false;
  const at = id.lastIndexOf(literal);
  if (!REGION.test(id.slice(0, at))) return false;
  const behind = at + literal.length;
  // A prefix may end inside a date (`claude-sonnet-4-2025`) or at a hyphen.
  const open = literal.replace(/[-@:](?:20\d*|0)?$/, "");
  return isVersion(id.slice(behind)) || (open !== literal && isVersion(id.slice(at + open.length)));
}

/** Whether `text` is versions one behind the other. Not one expression: digits can be taken apart in very many ways, and a log may say anything. */
function isVersion(text: string): boolean {
  const whole = text.endsWith("[1m]") ? text.length - 4 : text.length;
  const ends = new Set([0]);
  // Ends added during the loop are visited, too.
  for (const end of ends) {
    for (const version of VERSIONS) {
      version.lastIndex = end;
      if (version.test(text)) ends.add(version.lastIndex);
    }
  }
  return ends.has(whole);
}

/** True when `rule` matches `id` (in lower case), whatever the rule leaves open. */
export function holds(rule: MatchLogic, id: string): boolean {
  if ("or" in rule) return rule.or.some((one) => holds(one, id));
  if ("and" in rule) return rule.and.every((one) => holds(one, id));
  if ("equals" in rule) return rule.equals.toLowerCase() === id;
  if ("starts_with" in rule) return id.startsWith(rule.starts_with.toLowerCase());
  if ("ends_with" in rule) return id.endsWith(rule.ends_with.toLowerCase());
  if ("contains" in rule) return id.includes(rule.contains.toLowerCase());
  return new RegExp(rule.regex, "i").test(id);
}

/** What pricing needs of a provider of a price table. */
export type TableProvider = Pick<Provider, "id" | "provider_match" | "model_match"> & {
  models: Pick<ModelInfo, "id" | "match" | "prices" | "context_window">[];
};
export type FindProvider = (options: { providerId?: string; modelId?: string }) => TableProvider | undefined;

/** `anthropic/claude-sonnet-4.5` names its provider; `us.anthropic.claude-…` and `anthropic.claude-…` are hosted by AWS. The first of `tables` that has a name counts. */
export function findModel(id: string, ...tables: readonly FindProvider[]): Entry | undefined {
  if (id.length > LONGEST) return undefined;
  // Keep a provider that the log names; otherwise try the assistant's own spelling of the model.
  const hosted = id.replace(/^models\//, "").includes("/");
  const own = hosted ? [id] : [id, modelName(id)].flatMap((name) => [preferred(name) ?? name, name]);
  for (const name of [...own, ...readings(id)]) {
    for (const findProvider of tables) {
      const found = findExact(name, findProvider);
      if (found) return found;
    }
  }
  return undefined;
}

interface Entry {
  provider: TableProvider;
  model: TableProvider["models"][number];
}

function findExact(id: string, findProvider: FindProvider): Entry | undefined {
  const lower = id.toLowerCase();
  const slash = lower.indexOf("/");
  const named = slash > 0 ? findProvider({ providerId: lower.slice(0, slash) }) : undefined;
  if (slash > 0 && named?.id.toLowerCase() !== lower.slice(0, slash)) return undefined;
  const bare = slash > 0 ? lower.slice(slash + 1) : lower;
  const aws = /(?:^|\.)(?:anthropic|openai|xai|zai|moonshotai)\./.test(bare);
  const provider = named ?? findProvider(aws ? { providerId: "aws" } : { modelId: bare });
  const model = provider?.models.find((one) => names(one.match, bare));
  return provider && model ? { provider, model } : undefined;
}
