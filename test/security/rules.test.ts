import { describe, expect, it } from "vitest";
import type { Rule } from "../../plugins/security/index.ts";
import {
  builtinRules,
  createScanner,
  customRule,
  identityRules,
  patternProblem,
  rulesVersion,
} from "../../plugins/security/secrets/engine.ts";
import { readShape, toAnchors, toSource } from "../../plugins/security/secrets/match/compose.ts";
import { parseShape } from "../../plugins/security/secrets/match/shape.ts";
import { letters } from "./_samples.ts";

const found = (rules: Rule[], text: string) =>
  createScanner(rules)
    .scan(text)
    .findings.map(({ ruleId, secret }) => [ruleId, secret]);

describe("security: rules", () => {
  it("lists built-in rules with everything the wire shows", () => {
    const rules = builtinRules();
    expect(rules.length).toBeGreaterThan(290);
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
    for (const rule of rules) {
      expect(rule).toMatchObject({ kind: "redact", builtin: true, replacement: null });
      expect(rule.pattern, rule.id).not.toBe("");
      if (rule.type === "regex") expect(() => new RegExp(rule.pattern), rule.id).not.toThrow();
    }
    expect(rules.find(({ id }) => id === "github-pat")).toMatchObject({
      confidence: "definite",
      action: "block",
      keywords: ["ghp_"],
      pattern: "ghp_[A-Za-z0-9]{36}",
    });
  });

  it("P6: hands out the same compiled rules to every scanner", () => {
    const before = builtinRules();
    before.forEach((rule) => {
      rule.enabled = false;
    });
    expect(createScanner(before).scan(`ghp_${letters(36, 1)}`).findings).toEqual([]);
    expect(builtinRules().filter(({ enabled }) => enabled).length).toBeGreaterThan(280);
  });

  it("leaves a disabled rule out", () => {
    const token = `glpat-${letters(20, 2)}`;
    const rules = builtinRules();
    expect(found(rules, `see ${token}`)).toEqual([["gitlab-pat", token]]);
    expect(
      found(
        rules.map((rule) => (rule.id === "gitlab-pat" ? { ...rule, enabled: false } : rule)),
        `see ${token}`,
      ),
    ).toEqual([]);
  });

  it("runs a user's expression, literal and glob", () => {
    expect(found([customRule({ id: "ticket", pattern: "ACME-\\d{4,6}" })], "see ACME-12345 and acme-12345")).toEqual([
      ["ticket", "ACME-12345"],
    ]);
    expect(
      found([customRule({ id: "ticket", pattern: "acme-\\d+", flags: "i", keywords: ["ACME"] })], "see ACME-12345"),
    ).toEqual([["ticket", "ACME-12345"]]);
    expect(found([customRule({ id: "name", type: "literal", pattern: "a.b(c)" })], "axb(c) a.b(c)")).toEqual([
      ["name", "a.b(c)"],
    ]);
    expect(
      found([customRule({ id: "host", type: "glob", pattern: "*.corp.example" })], "ping db1.corp.example now"),
    ).toEqual([["host", "db1.corp.example"]]);
  });

  it("finds a user's expression inside escaped text too", () => {
    const text = JSON.stringify(JSON.stringify({ say: 'code "x\ny"' }));
    expect(createScanner([customRule({ id: "code", pattern: 'code "x\\ny"' })]).scan(text).findings).toHaveLength(1);
  });

  it("runs a user's expression in linear time", () => {
    const rule = customRule({ id: "nested", pattern: "(a+)+$" });
    expect(createScanner([rule]).scan(`${"a".repeat(200_000)}!`).findings).toEqual([]);
  });

  it("says what is wrong with a pattern, and where", () => {
    expect(patternProblem({ type: "regex", pattern: "ab(c", flags: "" })).toMatchObject({
      message: expect.stringContaining("missing closing )"),
      at: 0,
    });
    expect(patternProblem({ type: "regex", pattern: "ab[z-a]", flags: "" })).toMatchObject({ at: 3 });
    expect(patternProblem({ type: "regex", pattern: "(?=a)", flags: "" })).toBeDefined();
    expect(patternProblem({ type: "regex", pattern: "a*", flags: "" })).toMatchObject({
      message: "The pattern matches the empty text",
    });
    expect(patternProblem({ type: "regex", pattern: "a", flags: "g" })).toMatchObject({
      message: "Unknown flag g: use i, m and s",
    });
    expect(patternProblem({ type: "literal", pattern: "(", flags: "" })).toBeUndefined();
    expect(patternProblem({ type: "regex", pattern: "ACME-\\d+", flags: "im" })).toBeUndefined();
  });

  it("lets an allow rule win inside its own span only", () => {
    const [known, other] = [`ghp_${letters(36, 3)}`, `ghp_${letters(36, 4)}`];
    const allow = customRule({ id: "known", kind: "allow", type: "literal", pattern: known });
    expect(found([...builtinRules(), allow], `${known} ${other}`)).toEqual([["github-pat", other]]);
    const half = customRule({ id: "half", kind: "allow", type: "literal", pattern: known.slice(0, 20) });
    expect(found([...builtinRules(), half], known)).toEqual([["github-pat", known.slice(20)]]);
  });

  it("looks for personal data where asked to", () => {
    const iban = ["DE89", "3704", "0044", "0532", "0130", "00"].join(" ");
    const card = ["4111", "1111", "1111", "1111"].join(" ");
    const text = `mail jane.doe@corp.io or +49 30 901820, ${iban}, ${card}, /home/janedoe/src`;
    const rules = [...builtinRules(), ...identityRules({ user: "janedoe", host: "falcon-7" })];
    expect(found(rules, text).map(([id]) => id)).toEqual([
      "email-address",
      "phone-number",
      "bank-account",
      "payment-card",
      "home-path",
    ]);
    expect(createScanner(rules, { categories: ["secret"] }).scan(text).findings).toEqual([]);
    expect(found(rules, "ssh janedoe@falcon-7 as janedoes")).toEqual([
      ["user-name", "janedoe"],
      ["host-name", "falcon-7"],
    ]);
    expect(
      found(rules, `${iban.replace("89", "88")} ${card.replace(/1$/, "2")} git@github.com:a/b.git a@example.com`),
    ).toEqual([]);
  });

  it("changes the version with what is found, not with the order", () => {
    const rules = builtinRules();
    const version = rulesVersion(rules);
    expect(rulesVersion([...rules].reverse())).toBe(version);
    expect(rulesVersion(rules.slice(1))).not.toBe(version);
    expect(rulesVersion([...rules, customRule({ id: "x", pattern: "y" })])).not.toBe(version);
    expect(createScanner(rules).version).toBe(version);
  });

  it("has an expression for every rule that compiles, which a scan finds out only for those it tries", () => {
    const rules = builtinRules().filter(({ type }) => type === "regex");
    expect(rules.length).toBeGreaterThan(200);
    for (const { id, pattern } of rules) expect(() => new RegExp(pattern), id).not.toThrow();
  });

  it("reads shapes and refuses what cannot be linear", () => {
    const { parts, marked } = readShape("k_(live|test)?{a-f0-9_-:3-5}\\{");
    expect(toSource(parts, true)).toBe("[kK]_(?:[lL][iI][vV][eE]|[tT][eE][sS][tT])?[a-fA-F0-9_\\-]{3,5}\\{");
    expect(marked).toBe(false);
    expect(toAnchors(parseShape("{A-Z:4}Q~{a-z:9}"))).toEqual([{ text: "Q~", back: 4 }]);
    expect(toAnchors(parseShape("sk-(a|b)-{a-z:9}"))).toEqual([
      { text: "sk-a-", back: 0 },
      { text: "sk-b-", back: 0 },
    ]);
    expect(() => toAnchors(parseShape("{a-z:1-9}{0-9:4}"))).toThrow(RangeError);
    for (const bad of ["{a-z}", "{a-z:5-2}", "(a|b", "<a", "{a:99999}"])
      expect(() => parseShape(bad), bad).toThrow(RangeError);
  });
});
