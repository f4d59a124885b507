/** The rule model of the wire: built-in rules made from the rows, rules of the user, and allow rules. */
import { createHash } from "node:crypto";
import { compileRow, type Matcher } from "../match/matcher.ts";
import { readRows } from "../match/row.ts";
import { commandLineRows } from "./command-lines.ts";
import { toExample } from "./example.ts";
import generated from "./rules.json";
import own from "./rules-own.json";
import { sentenceRows } from "./sentences.ts";

export type Confidence = "definite" | "probable" | "possible";

export interface Rule {
  id: string;
  name: string;
  kind: "redact" | "allow";
  type: "regex" | "literal" | "glob";
  /** For built-in rules: what the engine looks for, composed from the row; several forms are joined by `|`. */
  pattern: string;
  /** What such a secret looks like, with `…` for its own characters; null for rules that are not built in. */
  example: string | null;
  /** Of `i`, `m`, `s`. */
  flags: string;
  /** Lower-case words; without one of them nearby the rule is not tried. Empty: everywhere. */
  keywords: string[];
  /** Bits per character; at or below is no finding. */
  entropy: number | null;
  /** Instead of the placeholder. Must not hold the secret. */
  replacement: string | null;
  action: "block" | "flag";
  confidence: Confidence;
  enabled: boolean;
  builtin: boolean;
  source: string;
  /** ISO 8601 UTC; null for built-in rules. */
  createdAt: string | null;
  /** Personal data is looked for where a scanner is asked to (default: yes). */
  category: "secret" | "personal";
}

/** Raised when the engine finds other things with the same rules: findings kept by `rulesVersion` are then stale. */
const ENGINE = 1;

let compiled: Map<string, Matcher[]> | undefined;

/** The compiled forms of a built-in rule. Compiles all rows at the first call (about 20 ms), never again. */
export function toMatchers(id: string): readonly Matcher[] {
  return catalogue().get(id) ?? [];
}

function catalogue(): Map<string, Matcher[]> {
  if (compiled) return compiled;
  const all = new Map<string, Matcher[]>();
  for (const row of [...readRows(generated), ...readRows(own), ...commandLineRows(), ...sentenceRows()]) {
    const list = all.get(row.id);
    if (list) list.push(compileRow(row));
    else all.set(row.id, [compileRow(row)]);
  }
  compiled = all;
  return all;
}

/** Every built-in rule, fresh objects: switch one off by `enabled`. */
export function builtinRules(): Rule[] {
  return [...catalogue()].map(([id, matchers]) => toRule(id, matchers));
}

function toRule(id: string, matchers: readonly Matcher[]): Rule {
  const rows = matchers.map((matcher) => matcher.row);
  const certain = rows.some((row) => row.confidence === "definite");
  const probable = rows.some((row) => row.confidence === "probable");
  const confidence = certain ? "definite" : probable ? "probable" : "possible";
  const personal = rows[0]?.category === "personal";
  return {
    id,
    name: rows[0]?.name ?? id,
    kind: "redact",
    type: rows[0]?.kind === "file" ? "glob" : "regex",
    get pattern() {
      return matchers.map((matcher) => matcher.pattern).join("|");
    },
    get example() {
      return rows[0] ? toExample(rows[0]) : null;
    },
    flags: "",
    keywords: [...new Set(matchers.flatMap((matcher) => matcher.keywords))],
    entropy: rows[0]?.entropy ?? null,
    replacement: null,
    action: confidence === "definite" ? "block" : "flag",
    confidence,
    enabled: !rows[0]?.off,
    builtin: true,
    source: "built-in",
    createdAt: null,
    category: personal ? "personal" : "secret",
  };
}

/**
 * Rules for the names of this machine and its user: they are in prompts and paths and have no shape of their own.
 * Names of fewer than four characters and names everybody has are left out.
 */
export function identityRules(identity: { user?: string; host?: string }): Rule[] {
  const common = /^(?:root|user|users|admin|home|node|ubuntu|runner|vscode|localhost|dev|developer|guest|test)$/i;
  const names = [
    { id: "user-name", name: "User name", text: identity.user ?? "" },
    { id: "host-name", name: "Host name", text: identity.host ?? "" },
  ];
  return names
    .filter(({ text }) => text.length >= 4 && !common.test(text))
    .map(({ id, name, text }) => ({
      ...customRule({ id, name, pattern: `\\b${text.replace(/\W/g, "\\$&")}\\b`, keywords: [text.toLowerCase()] }),
      flags: "i",
      builtin: true,
      source: "this machine",
      category: "personal",
      confidence: "possible",
      action: "flag",
    }));
}

/** A rule of the user with every field filled in. */
export function customRule(rule: Partial<Rule> & Pick<Rule, "id" | "pattern">): Rule {
  return {
    name: rule.id,
    kind: "redact",
    type: "regex",
    example: null,
    flags: "",
    keywords: [],
    entropy: null,
    replacement: null,
    action: "block",
    confidence: "probable",
    enabled: true,
    builtin: false,
    source: "user",
    createdAt: null,
    category: "secret",
    ...rule,
  };
}

/** 16 hex digits over everything that decides what is found; findings kept under another version are stale. */
export function rulesVersion(rules: readonly Rule[]): string {
  const parts = rules
    .filter((rule) => rule.enabled)
    .map((rule) =>
      JSON.stringify([
        rule.id,
        rule.kind,
        rule.type,
        rule.pattern,
        rule.flags,
        rule.keywords,
        rule.entropy,
        rule.confidence,
        rule.category,
      ]),
    )
    .sort();
  return createHash("sha256")
    .update(`${ENGINE}\n${parts.join("\n")}`)
    .digest("hex")
    .slice(0, 16);
}
