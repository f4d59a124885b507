/** The engine with the built-in rules, made once for the tests that give it thousands of texts. */
import { builtinRules, createRedactor, createScanner } from "../../plugins/security/secrets/engine.ts";
import { toMatchers } from "../../plugins/security/secrets/rules/rules.ts";

export const scanner = createScanner(builtinRules());
/** As the guard looks: secrets, and no personal data. */
export const secrets = createScanner(builtinRules(), { categories: ["secret"] });

/** A text as an export shows it; each is a document of its own. */
export const redact = (text: string, by = scanner): string => createRedactor(by).redactText(text);

/** What the built-in rules look for. */
export const ROWS = builtinRules().flatMap(({ id, category }) =>
  toMatchers(id).map(({ row }) => ({ id, category, row })),
);

/** Those that a sample of their shape shows, whatever is around it. */
export const SHAPES = ROWS.filter(
  ({ category, row }) =>
    !(category === "personal" || row.check || row.files || row.kind === "near" || row.kind === "file"),
);
