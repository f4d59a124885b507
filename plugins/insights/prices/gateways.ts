/** Which names a model may have in a price table, by how gateways and editors write it. Known words only: nothing is guessed from a part of a name. */
import table from "./gateways.json" with { type: "json" };
import { modelName } from "./names.ts";

/** Ways through which a call goes: the model behind them keeps its price. */
const PASSING: ReadonlySet<string> = new Set(table.passing);
/** Machines with prices of their own, by their ID in the price table. Without one, the maker's price is the estimate. */
const HOSTS = new Map(Object.entries(table.hosts));
const MAKERS = new Map(Object.entries(table.makers));
/** How the names of a maker's models begin, where a log has only the rest: `kimi/k3`. */
const FAMILIES = new Map(Object.entries(table.families));

/** Makers whose models other companies sell, too: a name alone means the maker's. */
const PREFERRED = Object.entries(table.preferred);

/** The maker's ID for a model's name without a provider; undefined: the price table decides. */
export function preferred(name: string): string | undefined {
  const maker = PREFERRED.find(([head]) => name.toLowerCase().startsWith(head))?.[1];
  return maker === undefined ? undefined : `${maker}/${name}`;
}

/** Places between a host and a model: regions, kinds of deployments, accounts. */
const PLACE =
  /^(?:(?:us|eu|ap|sa|ca|me|af|il|apac|global)(?:-[a-z]+){0,3}(?:-\d)?|(?:global|data|regional)[-_]?(?:standard|zone)|[a-z]+-[a-z]+\d)$/;
const ACCOUNT = /^(?:projects\/[^/]+\/locations\/[^/]+|accounts\/[^/]+(?=\/(?:models|deployments)\/))\//;
/** Words of an address that may stand anywhere in it. */
const PARTS: ReadonlySet<string> = new Set(["models", "publishers", "deployments", "converse", "invoke", "responses"]);
const ARN = /^arn:aws(?:-[a-z]+)*:bedrock:[a-z0-9-]*:\d*:(?:inference-profile|foundation-model|provisioned-model)\//;
/** Settings of a call and choices of a route, behind a colon. A `:free` model has another price. */
const ROUTE = /:(?:thinking|beta|online|nitro|floor|exacto|extended|high|medium|low|xhigh|minimal|latest)$/;
const LONG = /\[1m\]$/;
/** Bedrock's names of makers beside Anthropic, and of their models' regions. */
const BEDROCK = /^(?:[a-z]{2,6}\.)?(zai|moonshotai|moonshot|minimax|deepseek)\.(?=[a-z])/;
const MOST = 8;

/** IDs to look up instead of `id`, the most exact first: `provider/model`, or the model alone. Empty for a name without such a word. */
export function readings(id: string): string[] {
  let rest = id.trim().toLowerCase();
  const arn = ARN.exec(rest) ?? ARN.exec(rest.replace(/^[\w-]+\//, ""));
  if (arn) rest = rest.slice(rest.indexOf(arn[0]) + arn[0].length);
  rest = rest.replace(/^([a-z][\w-]*):\/?(?=[a-z@])/, (whole, word: string) => (isKnown(word) ? `${word}/` : whole));
  rest = rest.replace(/(?<=^|\/)accounts\/fireworks\//, "fireworks/").replace(ACCOUNT, "");
  let host: string | undefined;
  let maker: string | undefined;
  let family = "";
  let hosted = arn ? "" : undefined;
  for (let n = 0; n < MOST; n++) {
    const slash = rest.indexOf("/");
    if (slash < 0) break;
    const word = rest.slice(0, slash);
    const plain = word.replace(/^(?:@(?!cf$)|hf:)/, "");
    const next = rest.slice(slash + 1);
    if (PARTS.has(plain) || (PASSING.has(plain) && maker === undefined)) rest = next;
    else if (HOSTS.has(plain) && maker === undefined) [host, rest, hosted] = [HOSTS.get(plain), next, next];
    else if (MAKERS.has(plain)) [maker, family, rest] = [MAKERS.get(plain), FAMILIES.get(plain) ?? "", next];
    else if (hosted !== undefined && PLACE.test(word)) rest = next;
    else return [];
  }
  if (rest === id.trim().toLowerCase() && !isSet(rest)) return [];
  const [made, by] = BEDROCK.exec(rest) ?? [];
  if (made !== undefined && by !== undefined && maker === undefined) {
    [host, hosted, maker] = ["aws", rest, MAKERS.get(by)];
    rest = rest.slice(made.length);
  }
  const bare = unglued(rest.replace(LONG, "").replace(ROUTE, ""));
  const names = [
    ...new Set([
      bare,
      modelName(bare),
      dotted(bare),
      dotted(modelName(bare)),
      ...(family === "" || bare.startsWith(family) ? [] : [family + bare]),
    ]),
  ];
  return [
    ...(host === undefined
      ? []
      : [...(hosted ? [`${host}/${hosted}`] : []), ...names.map((name) => `${host}/${name}`)]),
    ...(maker === undefined ? [] : names.map((name) => `${maker}/${name}`)),
    ...names.flatMap((name) => [preferred(name) ?? name, name]),
  ];
}

const isKnown = (word: string) => PASSING.has(word) || HOSTS.has(word) || MAKERS.has(word);
const isSet = (name: string) =>
  LONG.test(name) ||
  ROUTE.test(name) ||
  BEDROCK.test(name) ||
  unglued(name) !== name ||
  [name, modelName(name)].some((one) => dotted(one) !== one);
const unglued = (name: string): string => {
  const head = table.glued.find((one) => name.startsWith(one));
  return head === undefined ? name : name.slice(head.length);
};
/** `gpt-5.4-mini` for `gpt-5-4-mini`, `kimi-k2.5` for `kimi-k2p5`, as deployments without dots are called; a preview for its name alone. */
const dotted = (name: string): string =>
  name
    .replace(/^gpt-(\d)-(\d)(?=$|-[a-z])/, "gpt-$1.$2")
    .replace(/^((?:kimi|glm|deepseek|minimax|qwen)-?[a-z]?\d)p(?=\d)/, "$1.")
    .replace(/^(gemini-3(?:\.1)?-(?:pro|flash))$/, "$1-preview");
