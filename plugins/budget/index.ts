/** Budgets per day, week and month: what is used of them, and what happens when a level is crossed. */

import { definePlugin, defineRoute, type RoutesOf } from "sessarc";
import type { Command } from "sessarc/terminal";
import * as v from "valibot";
import {
  type Budget,
  type Budgets,
  type Crossing,
  createBudgets,
  migrations,
  SCOPES,
  type ToolCheck,
  UNITS,
} from "./budgets.ts";
import { PERIODS } from "./period.ts";

export type { Budget, BudgetPlan, Budgets, Crossing, Level } from "./budgets.ts";

/** Sessions are stored one after another; they are counted together. */
const SETTLE_MS = 1_500;
const MOST = 50;
/** A billion dollars, or a thousand trillion tokens. */
const MOST_AMOUNT = 1e15;

export const routes = [
  defineRoute({
    method: "GET",
    path: "/budgets",
    summary: "Budgets with what is used of them in the running period",
    handler: ({ kernel }): Promise<Budget[]> => kernel.inject("budgets").list(),
  }),
  defineRoute({
    method: "PUT",
    path: "/budgets",
    summary: "Replace all budgets",
    body: v.object({
      budgets: v.pipe(
        v.array(
          v.object({
            period: v.picklist(PERIODS),
            scope: v.optional(v.picklist(SCOPES), "all"),
            /** Id, name or path of a project; name of a tool or a model. */
            target: v.optional(v.nullable(v.pipe(v.string(), v.maxLength(1_000))), null),
            unit: v.optional(v.picklist(UNITS), "money"),
            /** Millionths of a dollar, or tokens. */
            amount: v.pipe(v.number(), v.integer("must be a whole number"), v.minValue(1), v.maxValue(MOST_AMOUNT)),
            /** The guard asks before a tool call once it is used up. */
            ask: v.optional(v.boolean(), false),
          }),
        ),
        v.maxLength(MOST, `at most ${MOST}`),
      ),
    }),
    handler: ({ kernel, body }): Promise<Budget[]> => kernel.inject("budgets").replace(body.budgets),
  }),
] as const;

const command: Command = {
  name: "budget",
  summary: "Limits per day, week and month, in money or tokens",
  group: "cost",
  example: "set week 50",
  usage:
    "[list]\nset <day|week|month> <amount> [--project p|--tool t|--model m] [--tokens] [--ask]\nremove <day|week|month> [--project p|--tool t|--model m] [--tokens]",
  options: {
    project: { type: "string", short: "p" },
    tool: { type: "string", short: "t" },
    model: { type: "string", short: "m" },
    tokens: { type: "boolean" },
    ask: { type: "boolean" },
  },
  help: {
    project: "Only this project: its name, path or id",
    tool: "Only this assistant, as codex or claude-code",
    model: "Only this model, as `sessarc usage model` names it",
    tokens: "Tokens instead of dollars, as 500000, 500K or 2M",
    ask: "The guard asks before a tool call once the budget is used up, where the assistant can ask",
  },
  operands: ["list", "set", "remove", ...PERIODS],
  current: () => true,
  load: () => import("./command.ts"),
};

export default definePlugin({
  name: "budget",
  dependsOn: ["archive", "insights"],
  routes,
  migrations,
  commands: [command],
  setup(kernel) {
    const budgets = createBudgets(kernel);
    kernel.provide("budgets", budgets);
    const check = () =>
      budgets.check().catch((error: unknown) => {
        if (!kernel.closing.aborted) return kernel.notify("listener:failed", error, { hook: "budget" });
      });
    const timer = setTimeout(() => {
      if (kernel.address) void check();
    }, SETTLE_MS).unref();
    kernel.hooks.hook("session:replaced", () => void timer.refresh());
    kernel.hooks.hook("status:collect", async (status) => {
      const crossings = await budgets.crossings();
      if (crossings.length > 0) status.budgets = crossings;
    });
    kernel.hooks.hook("tool:check", ({ call, decision }: ToolCheck) => {
      if (decision.decision === "allow" && decision.ask === null && decision.mode === "enforce")
        decision.ask = budgets.question(call.client, call.sessionId) ?? null;
    });
    kernel.onClose(() => clearTimeout(timer));
  },
});

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    budgets: Budgets;
  }
  interface KernelHooks {
    /** A budget crossed 50, 80 or 100 %: each level once a period. */
    "budget:crossed": (crossing: Crossing) => void | Promise<void>;
  }
}
