/** Security: rules, the check of a session, redacted exports, the tool-call guard. */
import { definePlugin, type MaybePromise, type RoutesOf } from "sessarc";
import "./errors.ts";
import { commands } from "./commands/index.ts";
import type { Rule } from "./engine.ts";
import { createGuard, type Guard, type ToolCall, type ToolDecision } from "./guard/guard.ts";
import { guardRoutes } from "./guard/routes.ts";
import { securityRoutes } from "./routes.ts";
import { createRuleSet, type RuleSet } from "./rule-set.ts";
import { migrations } from "./schema.ts";
import { createSessions, type SecuritySessions } from "./sessions.ts";

export type { Confidence, Rule } from "./engine.ts";
export type { GuardStatus, Interception, ToolCall, ToolDecision } from "./guard/guard.ts";
export type { CheckFinding } from "./job.ts";
export type { RuleSet } from "./rule-set.ts";
export type { FrozenSession, SessionRedactor } from "./sessions.ts";

export const routes = [...securityRoutes, ...guardRoutes] as const;

export default definePlugin({
  name: "security",
  dependsOn: ["archive"],
  routes,
  migrations,
  commands,
  setup(kernel) {
    const rules = createRuleSet(kernel);
    const sessions = createSessions(kernel, rules);
    const guard = createGuard(kernel, rules);
    kernel.provide("rules", rules);
    kernel.provide("redactor", sessions);
    kernel.provide("guard", guard);
    kernel.hooks.hook("session:removed", ({ id }) => sessions.forget(id));
    kernel.onClose(() => guard.close());
  },
});

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    rules: RuleSet;
    redactor: SecuritySessions;
    guard: Guard;
  }
  interface KernelHooks {
    "rule:changed": (rule: Rule) => MaybePromise<void>;
    /** Before a call is answered: may turn allow into block. */
    "tool:check": (info: { call: ToolCall; decision: ToolDecision }) => MaybePromise<void>;
    "tool:checked": (info: { client: string; tool_name: string; decision: string }) => MaybePromise<void>;
  }
}
