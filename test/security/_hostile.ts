/** Texts that cost a rule most: its heads again and again, glued with what its value may hold, and values that break off. */
import type { Rule } from "../../plugins/security/index.ts";
import { toMatchers } from "../../plugins/security/secrets/rules/rules.ts";
import { createRandom, toSample } from "./_samples.ts";

const random = createRandom(16);
const GLUE = ["", " ", "/", "\\", "=", "-", "aB3."];

/** Pieces to be repeated. */
export function hostileTo(rule: Rule): string[] {
  return toMatchers(rule.id).flatMap(({ row, bindings, keywords }) => {
    const heads = keywords.slice(0, 2).map((word) => bindings.find(({ keyword }) => keyword === word)?.exact ?? word);
    const value = toSample(row.shape, random);
    const name = (row.names?.[0] ?? row.near?.words[0] ?? "").replaceAll("_", "-");
    const units = [
      ...heads.flatMap((head) => GLUE.map((glue) => head + glue)),
      ...[value, `${value} `, value.slice(0, -1), `${name}="${value}" `, `${name}=${value.slice(0, -2)}`],
    ];
    return units.filter((unit) => unit !== "");
  });
}
