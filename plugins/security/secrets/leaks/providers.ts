/** Who issues a secret, and the page where its owner revokes it: by the rule that found it. The table is `providers.json`. */
import * as v from "valibot";
import rows from "./providers.json";

export interface Provider {
  name: string;
  /** https page of the provider where secrets of this kind are revoked; null: each customer has an address of its own. */
  revokeUrl: string | null;
}

const table = v.array(
  v.strictObject({
    name: v.string(),
    url: v.nullable(v.pipe(v.string(), v.url(), v.startsWith("https://"))),
    rules: v.array(v.string()),
  }),
);

let byRule: Map<string, Provider> | undefined;

/** Null: the kind does not show who issued it, such as a password. */
export function toProvider(ruleId: string): Provider | null {
  byRule ??= new Map(
    v
      .parse(table, rows)
      .flatMap(({ name, url, rules }) => rules.map((rule) => [rule, { name, revokeUrl: url }] as const)),
  );
  return byRule.get(ruleId) ?? null;
}
