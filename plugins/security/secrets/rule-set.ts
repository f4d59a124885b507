/** The rules in effect: built-in ones with their switches, those of the configuration, those of the user. Service "rules". */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { basename } from "node:path";
import { createQueue, type Kernel, SessarcError } from "sessarc";
import * as v from "valibot";
import type { Rule, Scanner } from "./engine.ts";
import { hideIn, toExcerpt } from "./hide.ts";

const word = v.pipe(v.string(), v.minLength(1), v.maxLength(100));
const fields = {
  name: v.pipe(v.string(), v.trim(), v.minLength(1, "is empty"), v.maxLength(200)),
  kind: v.picklist(["redact", "allow"]),
  type: v.picklist(["regex", "literal", "glob"]),
  pattern: v.string(),
  flags: v.pipe(v.string(), v.maxLength(8)),
  keywords: v.pipe(v.array(word), v.maxLength(50)),
  entropy: v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(8))),
  replacement: v.nullable(v.pipe(v.string(), v.maxLength(200))),
  action: v.picklist(["block", "flag"]),
  confidence: v.picklist(["definite", "probable", "possible"]),
  enabled: v.boolean(),
  category: v.picklist(["secret", "personal"]),
};
const { name, pattern, ...rest } = fields;
/** Loaded when first needed: commands that never look for secrets do not pay for the engine. */
const engine = () => import("./engine.ts");

/** What a client sends for a new rule: a name and a pattern, the rest has defaults. */
export const ruleInput = v.object({
  name,
  pattern,
  ...v.partial(v.object(rest)).entries,
}) satisfies v.GenericSchema<unknown, RuleInput>;
export const rulePatch = v.partial(v.object(fields)) satisfies v.GenericSchema<unknown, RulePatch>;
/** Written out, and the schemas held to them: who compiles against this package needs no valibot. */
type RulePatch = {
  [K in Exclude<keyof Rule, "id" | "builtin" | "source" | "createdAt" | "example">]?: Rule[K] | undefined;
};
export type RuleInput = RulePatch & Pick<Rule, "name" | "pattern">;

export interface RuleSet {
  /** Built-in rules first, then those of the configuration, then the user's. */
  list(): Promise<Rule[]>;
  create(input: RuleInput): Promise<Rule>;
  /** Built-in rules take `enabled` alone. */
  update(id: string, patch: RulePatch): Promise<Rule>;
  remove(id: string): Promise<void>;
  /** Secrets alone: the guard, the security check, logs. Made once for each state of the rules. */
  scanner(): Promise<Scanner>;
  /** What an export looks for: secrets, personal data, and the names of this machine and its user. */
  exportRules(): Promise<Rule[]>;
  /** Makes ready what the first call would wait for, in steps that let others in between. */
  warmUp(): Promise<void>;
  /** A short text with its secrets masked. */
  hide(text: string): Promise<string>;
  /** The characters in [start, end) of a text, masked by a scan of the whole text. Takes milliseconds. */
  excerpt(text: string, start: number, end: number): Promise<string>;
  /** Throws CONFIG_INVALID for a rule of the configuration that cannot be used. */
  checkConfigured(): Promise<void>;
}

export function createRuleSet(kernel: Kernel): RuleSet {
  const { db } = kernel.storage;
  let loading: Promise<Rule[]> | undefined;
  /** With the rules it is made of: they may have changed meanwhile. */
  let made: { of: Rule[]; scanner: Scanner } | undefined;

  async function load(): Promise<Rule[]> {
    const { builtinRules, customRule, patternProblem } = await engine();
    const configured = await readConfigured(kernel.config.security.rules);
    const [switches, own] = await Promise.all([
      db.all<{ id: string; enabled: number }>("select id, enabled from security_builtin"),
      db.all<{ id: string; data: string; created_at: string }>(
        "select id, data, created_at from security_rule order by created_at, id",
      ),
    ]);
    const enabled = new Map(switches.map((row) => [row.id, row.enabled === 1]));
    const builtin = builtinRules().map((rule) => ({ ...rule, enabled: enabled.get(rule.id) ?? rule.enabled }));
    const users = own.map((row) =>
      customRule({ ...(JSON.parse(row.data) as RuleInput), id: row.id, createdAt: row.created_at }),
    );
    return [...builtin, ...configured, ...users.filter((rule) => patternProblem(rule) === undefined)];
  }

  const all = () => {
    loading ??= load();
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };
  async function changed(): Promise<void> {
    loading = undefined;
    await all();
  }
  const find = async (id: string): Promise<Rule> => {
    const rule = (await all()).find((one) => one.id === id);
    if (!rule) throw new SessarcError("RULE_NOT_FOUND", { id });
    return rule;
  };

  async function change(id: string, patch: RulePatch): Promise<Rule> {
    const rule = await find(id);
    const only = Object.keys(patch).filter((key) => patch[key as keyof RulePatch] !== undefined);
    if (rule.builtin) {
      if (only.some((key) => key !== "enabled"))
        throw new SessarcError("RULE_READ_ONLY", { id, why: "is built in: only `enabled` can be changed" });
      if (patch.enabled !== undefined)
        await db.run(
          "insert into security_builtin (id, enabled) values (?, ?) on conflict (id) do update set enabled = excluded.enabled",
          [id, patch.enabled ? 1 : 0],
        );
    } else {
      if (rule.source !== "user") throw new SessarcError("RULE_READ_ONLY", { id, why: "is in the configuration file" });
      const next = { ...rule, ...patch };
      await checkPattern(next);
      const { id: _, createdAt, builtin, source, example, ...data } = next;
      await db.run("update security_rule set data = ? where id = ?", [JSON.stringify(data), id]);
    }
    await changed();
    return find(id);
  }
  /** Each change begins with what the last one left. */
  const changes = createQueue();

  async function currentScanner(): Promise<Scanner> {
    const { createScanner } = await engine();
    const rules = await all();
    if (made?.of !== rules) made = { of: rules, scanner: createScanner(rules, { categories: ["secret"] }) };
    return made.scanner;
  }

  return {
    list: all,
    async checkConfigured() {
      if (kernel.config.security.rules.length > 0) await readConfigured(kernel.config.security.rules);
    },
    async create(input) {
      const id = `custom-${randomBytes(5).toString("hex")}`;
      await checkPattern((await engine()).customRule({ ...input, id }));
      const data = JSON.stringify(input);
      await db.run("insert into security_rule (id, data, created_at) values (?, ?, ?)", [
        id,
        data,
        new Date().toISOString(),
      ]);
      await changed();
      const rule = await find(id);
      await kernel.notify("rule:changed", rule);
      return rule;
    },
    async update(id, patch) {
      const after = await changes(() => change(id, patch));
      await kernel.notify("rule:changed", after);
      return after;
    },
    async remove(id) {
      const rule = await find(id);
      if (rule.builtin) throw new SessarcError("RULE_READ_ONLY", { id, why: "is built in and cannot be deleted" });
      if (rule.source !== "user") throw new SessarcError("RULE_READ_ONLY", { id, why: "is in the configuration file" });
      await db.run("delete from security_rule where id = ?", [id]);
      await changed();
      await kernel.notify("rule:changed", { ...rule, enabled: false });
    },
    scanner: currentScanner,
    async exportRules() {
      const { home, env } = kernel.env;
      const user = env.USER ?? env.LOGNAME ?? env.USERNAME ?? basename(home);
      const { identityRules } = await engine();
      return [...(await all()), ...identityRules({ user, host: hostname() })];
    },
    async warmUp() {
      // Expressions are compiled when they are first tried: a few lines that lead to many of them.
      for (const sample of WARM) {
        const ready = await currentScanner();
        await new Promise<void>((done) => setImmediate(done));
        ready.scan(sample);
      }
    },
    hide: async (text) => hideIn(await currentScanner(), text),
    excerpt: async (text, start, end) => toExcerpt(await currentScanner(), text, start, end),
  };
}

const WARM = ["const a = 1;", 'API_TOKEN="none" password: string', '{"authorization": "Bearer x", "key": "\\"v\\""}'];

/** A rule that was not stored, for trying it. Throws RULE_INVALID. */
export async function toTrialRule(input: RuleInput): Promise<Rule> {
  const rule = (await engine()).customRule({ ...input, id: "trial", enabled: true });
  await checkPattern(rule);
  return rule;
}

async function checkPattern(rule: Rule): Promise<void> {
  const problem = (await engine()).patternProblem(rule);
  if (!problem) return;
  const place = problem.at === null ? "" : ` at character ${problem.at + 1}`;
  throw new SessarcError(
    "RULE_INVALID",
    { reason: `${problem.message}${place}` },
    { issues: [{ path: "pattern", message: `${problem.message}${place}` }] },
  );
}

async function readConfigured(list: readonly unknown[]): Promise<Rule[]> {
  const { customRule, patternProblem } = await engine();
  return list.map((value, index) => {
    const key = `security.rules.${index}`;
    const read = v.safeParse(ruleInput, value);
    if (!read.success)
      throw new SessarcError("CONFIG_INVALID", {
        key,
        where: "the configuration",
        reason: read.issues[0]?.message ?? "",
      });
    const rule = customRule({ ...read.output, id: `config-${index + 1}`, source: "configuration" });
    const problem = patternProblem(rule);
    if (problem) throw new SessarcError("CONFIG_INVALID", { key, where: "the configuration", reason: problem.message });
    return rule;
  });
}
