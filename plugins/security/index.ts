/** Security: rules, the check of a session, redacted exports, the tool-call guard. */

import { defineIndexer, definePlugin, type MaybePromise, type RoutesOf } from "sessarc";
import type { ToolRole } from "sessarc/adapter";
import "./errors.ts";
import { commands } from "./commands/index.ts";
import { type Block, config } from "./config.ts";
import { exportRoutes } from "./export/routes.ts";
import { createSessions, type SecuritySessions } from "./export/sessions.ts";
import type { GuardContract } from "./guard/contract.ts";
import { createGuard, type Guard, type OfferMoment, type ToolCall, type ToolDecision } from "./guard/guard.ts";
import { guardRoutes } from "./guard/routes.ts";
import { warmGuard } from "./guard/warm.ts";
import { migrations } from "./schema.ts";
import { scrubRoutes } from "./scrub/routes.ts";
import { createScrub, type Scrub } from "./scrub/scrub.ts";
import type { Rule } from "./secrets/engine.ts";
import { createLeaks, type Leaks } from "./secrets/leaks/leaks.ts";
import { leakRoutes } from "./secrets/leaks/routes.ts";
import { LEAKS_VERSION } from "./secrets/leaks/version.ts";
import { ruleRoutes } from "./secrets/routes.ts";
import { createRuleSet, type RuleSet } from "./secrets/rule-set.ts";

export type { CheckFinding } from "./export/job.ts";
export type { FrozenSession, SessionRedactor } from "./export/sessions.ts";
export type {
  ContextHook,
  GuardClient,
  GuardContract,
  GuardEntries,
  GuardFile,
  GuardHook,
  GuardState,
  Offer,
  WaitingHook,
} from "./guard/contract.ts";
export type { GuardStatus, Interception, OfferMoment, ToolCall, ToolDecision } from "./guard/guard.ts";
export type { OfferAnswer } from "./guard/install/install.ts";
export type { Scrubbed, ScrubOriginal, ScrubSecret, ScrubSession, ScrubState, Unscrubbed } from "./scrub/types.ts";
export type { Confidence, Rule } from "./secrets/engine.ts";
export type { Provider } from "./secrets/leaks/providers.ts";
export type {
  Leak,
  LeakCommits,
  LeakCount,
  LeakGroup,
  LeakGroups,
  LeakLine,
  LeakMarks,
  LeakPage,
  LeakPlace,
  LeakState,
  LeakTotals,
} from "./secrets/leaks/types.ts";
export type { RuleSet } from "./secrets/rule-set.ts";

const BUDGET_MS = 120_000;
/** Commands are over by then. */
const WARM_AFTER_MS = 100;

export const routes = [...ruleRoutes, ...exportRoutes, ...leakRoutes, ...scrubRoutes, ...guardRoutes] as const;

export interface SecurityOptions {
  /** ms a check, an export or a share may look for secrets in one session. Default: two minutes. */
  budgetMs?: number;
}

export default definePlugin((options: SecurityOptions | undefined) => ({
  name: "security",
  dependsOn: ["archive"],
  config,
  routes,
  migrations,
  indexers: [
    defineIndexer({
      name: "leaks",
      version: LEAKS_VERSION,
      module: "sessarc/plugins/security/secrets/leaks/indexer",
      later: true,
      tables: ["security_leak", "security_unchecked"],
    }),
  ],
  commands,
  async setup(kernel) {
    kernel.config.hosts = [...kernel.config.hosts, ...kernel.config.security.hosts];
    const rules = createRuleSet(kernel);
    await rules.checkConfigured();
    const sessions = createSessions(kernel, rules, options?.budgetMs ?? BUDGET_MS);
    const guard = createGuard(kernel, rules);
    kernel.provide("rules", rules);
    kernel.provide("redactor", sessions);
    kernel.provide("guard", guard);
    kernel.provide("leaks", createLeaks(kernel, rules));
    const scrub = createScrub(kernel);
    kernel.provide("scrub", scrub);
    kernel.provide("masks", scrub.masks);
    kernel.hooks.hook("session:replaced", ({ id }) => scrub.settle(id));
    kernel.hooks.hook("session:removed", ({ id }) => sessions.forget(id));
    kernel.hooks.hook("doctor:check", async (report) => {
      for (const { installed, offers, label, problems } of await guard.status()) {
        if (!installed && offers.length === 0 && problems.length === 0) continue;
        // The doctor works without a running service.
        const real = problems.filter((problem) => !problem.startsWith("The service is not running"));
        report.checks.push({
          name: `guard: ${label}`,
          status: real.length > 0 ? "warn" : "ok",
          detail: real.join("; ") || "installed",
          fix: real.length > 0 ? "Run `sessarc guard status`." : undefined,
        });
      }
    });
    let warm: NodeJS.Timeout | undefined;
    kernel.hooks.hook("kernel:ready", async () => {
      // For installed hooks alone, which wait one second for an answer.
      if (!(await guard.refresh())) return;
      warm = setTimeout(() => {
        if (!kernel.address || kernel.closing.aborted) return;
        const failed = (error: unknown) => kernel.notify("listener:failed", error, { hook: "security" });
        warmGuard(kernel).catch(failed);
      }, WARM_AFTER_MS);
      warm.unref();
    });
    kernel.onClose(async () => {
      clearTimeout(warm);
      await guard.close();
    });
  },
}));

declare module "sessarc" {
  interface PluginConfig {
    security: { rules: readonly unknown[]; hosts: readonly string[]; block: Block };
  }
  interface UserConfig {
    /** `rules`: rules added to the built-in ones. `hosts`: as the key `hosts`. `block`: which findings the guard blocks (default `definite`). */
    security?:
      | { rules?: readonly unknown[] | undefined; hosts?: readonly string[] | undefined; block?: Block | undefined }
      | undefined;
  }
  interface SettingValues {
    /** What the tool-call guard blocks. */
    "security.block": Block;
  }
  interface AdapterCapabilities {
    guard: GuardContract;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    rules: RuleSet;
    redactor: SecuritySessions;
    guard: Guard;
    leaks: Leaks;
    scrub: Scrub;
  }
  interface KernelHooks {
    "rule:changed": (rule: Rule) => MaybePromise<void>;
    /** Before a call is answered: may turn allow into block. `net`: the user wants files stored before a call destroys them. */
    "tool:check": (info: {
      call: ToolCall;
      decision: ToolDecision;
      role: ToolRole | undefined;
      net: boolean;
    }) => MaybePromise<void>;
    /** Something can be offered to the model: listeners append lines. They must be quick, as the assistant waits. */
    "context:offer": (moment: OfferMoment) => MaybePromise<void>;
    "tool:checked": (info: { client: string; tool_name: string; decision: string }) => MaybePromise<void>;
  }
}
