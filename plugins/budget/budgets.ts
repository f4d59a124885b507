/** Budgets: how much of each is used, and which levels were crossed. Service "budgets". */
import { createHash } from "node:crypto";
import { createQueue, type Kernel, type KernelHooks, SessarcError, type Statement } from "sessarc";
import "./errors.ts";
import { type Period, periodAt } from "./period.ts";

export const SCOPES = ["all", "project", "tool", "model"] as const;
export const UNITS = ["money", "tokens"] as const;
/** Percentages at which a budget reports. */
const LEVELS = [50, 80, 100] as const;
export type Level = (typeof LEVELS)[number];

/** A budget as it is set. */
export interface BudgetPlan {
  period: Period;
  scope: (typeof SCOPES)[number];
  /** Id of a project, name of a tool or a model; null for all. */
  target: string | null;
  unit: (typeof UNITS)[number];
  /** Millionths of a dollar, or tokens. */
  amount: number;
  /** The guard asks before a tool call once the budget is used up. */
  ask: boolean;
}
export interface Budget extends BudgetPlan {
  id: string;
  /** Name to show; null where the target is one. */
  label: string | null;
  /** First and last local day of the running period. */
  from: string;
  to: string;
  used: number;
  /** Share of 1. */
  share: number;
  /** Levels crossed in this period. */
  crossed: Level[];
  /** Models with tokens and without a price, which a budget of money does not see. */
  unpriced: string[];
}
export interface Crossing {
  budget: Budget;
  level: Level;
  at: string;
}

export interface Budgets {
  /** All budgets with what is used of them now. */
  list(): Promise<Budget[]>;
  /** Replaces all budgets. A budget that is the same but for its amount goes on. Throws BUDGET_INVALID, PROJECT_NOT_FOUND. */
  replace(plans: readonly BudgetPlan[]): Promise<Budget[]>;
  /** Counts, and reports levels that were crossed since. */
  check(): Promise<void>;
  /** The newest crossings of running periods. */
  crossings(): Promise<{ id: string; level: Level; at: string }[]>;
  /** A question to the user before a tool call of this client and session; undefined without one. Asks once a session and period. */
  question(client: string, session: string | null): string | undefined;
}

interface Row {
  id: string;
  period: Period;
  scope: BudgetPlan["scope"];
  target: string | null;
  unit: BudgetPlan["unit"];
  amount: number;
  ask: number;
}

export const migrations: readonly string[] = [
  `create table budget (
     id text primary key,
     period text not null,
     scope text not null,
     target text,
     unit text not null,
     amount integer not null,
     ask integer not null,
     position integer not null
   );
   create table budget_crossed (
     budget text not null,
     start text not null,
     level integer not null,
     at text not null,
     primary key (budget, start, level)
   ) without rowid;`,
];

export function createBudgets(kernel: Kernel): Budgets {
  const { db, readOnly } = kernel.storage;
  const rows = () => db.all<Row>("select * from budget order by position");
  /** Budgets that are used up and ask, as of the last count. */
  let exceeded: Budget[] = [];
  const asked = new Set<string>();
  const checks = createQueue();

  async function count(row: Row, now: number): Promise<Budget> {
    const { from, to } = periodAt(row.period, now);
    const { scope, target } = row;
    const { tokens, cost } = await kernel.inject("insights").totals({
      from,
      to,
      ...(scope === "project" && { projects: [target ?? ""] }),
      ...(scope === "tool" && { tool: target ?? "" }),
      ...(scope === "model" && { model: target ?? "" }),
    });
    const used = row.unit === "money" ? cost.microdollars : tokens;
    const crossed = await db.all<{ level: Level }>(
      "select level from budget_crossed where budget = ? and start = ? order by level",
      [row.id, from],
    );
    return {
      id: row.id,
      period: row.period,
      scope,
      target,
      unit: row.unit,
      amount: row.amount,
      ask: row.ask === 1,
      label: await findLabel(row),
      from,
      to,
      used,
      share: used / row.amount,
      crossed: crossed.map(({ level }) => level),
      unpriced: row.unit === "money" ? cost.unpriced : [],
    };
  }

  async function findLabel({ scope, target }: Row): Promise<string | null> {
    if (scope === "tool") return kernel.registry.adapters.get(target ?? "")?.label ?? null;
    if (scope !== "project") return null;
    const named = await kernel.inject("archive").projects();
    return named.find(({ id }) => id === target)?.name ?? null;
  }

  const list = async (): Promise<Budget[]> => {
    const now = Date.now();
    return Promise.all((await rows()).map((row) => count(row, now)));
  };

  async function checkOnce(): Promise<void> {
    const all = await list();
    const at = new Date().toISOString();
    const write: Statement[] = [];
    const crossings: Crossing[] = [];
    for (const budget of all) {
      const fresh = LEVELS.filter((level) => budget.share * 100 >= level && !budget.crossed.includes(level));
      for (const level of fresh)
        write.push(["insert or ignore into budget_crossed values (?, ?, ?, ?)", [budget.id, budget.from, level, at]]);
      budget.crossed = [...budget.crossed, ...fresh].sort((a, b) => a - b);
      // Several at once are one piece of news.
      const level = fresh.at(-1);
      if (level !== undefined) crossings.push({ budget, level, at });
    }
    if (write.length > 0) await db.batch(write);
    exceeded = all.filter(({ ask, share }) => ask && share >= 1);
    for (const crossing of crossings) await kernel.notify("budget:crossed", crossing);
  }

  const service: Budgets = {
    list,
    async replace(plans) {
      const checked = await Promise.all(plans.map((plan) => checkPlan(kernel, plan)));
      const ids = checked.map(toId);
      if (new Set(ids).size < ids.length)
        throw new SessarcError("BUDGET_INVALID", { reason: "two budgets are for the same period, scope and unit" });
      const before = new Map((await rows()).map((row) => [row.id, row]));
      const gone = [...before.values()].filter((row) => {
        const next = checked[ids.indexOf(row.id)];
        return next === undefined || next.amount !== row.amount;
      });
      await db.batch([
        ["delete from budget", []],
        // Another amount has its own crossings.
        ...gone.map((row): Statement => ["delete from budget_crossed where budget = ?", [row.id]]),
        ...checked.map(
          ({ period, scope, target, unit, amount, ask }, position): Statement => [
            "insert into budget values (?, ?, ?, ?, ?, ?, ?, ?)",
            [ids[position] ?? "", period, scope, target, unit, amount, ask ? 1 : 0, position],
          ],
        ),
      ]);
      await service.check();
      return list();
    },
    check() {
      if (readOnly) return Promise.resolve();
      return checks(checkOnce);
    },
    async crossings() {
      const now = Date.now();
      const starts = new Map((await rows()).map((row) => [row.id, periodAt(row.period, now).from]));
      const all = await db.all<{ id: string; start: string; level: Level; at: string }>(
        "select budget as id, start, level, at from budget_crossed order by at desc, level desc limit 200",
      );
      return all.filter(({ id, start }) => starts.get(id) === start).map(({ id, level, at }) => ({ id, level, at }));
    },
    question(client, session) {
      const one = exceeded.find(
        (budget) =>
          periodAt(budget.period, Date.now()).from === budget.from &&
          (budget.scope !== "tool" || budget.target === client) &&
          !asked.has(toKey(budget, client, session)),
      );
      if (!one) return undefined;
      asked.add(toKey(one, client, session));
      return `sessarc: the budget for this ${one.period}${one.label || one.target ? ` (${one.label ?? one.target})` : ""} is used up: ${toAmount(one.used, one.unit)} of ${toAmount(one.amount, one.unit)}. Go on?`;
    },
  };
  return service;
}

const toKey = ({ id, from }: Budget, client: string, session: string | null) =>
  [id, from, client, session ?? ""].join(" ");

const toAmount = (amount: number, unit: BudgetPlan["unit"]) =>
  unit === "money" ? `$${(amount / 1e6).toFixed(2)}` : `${amount.toLocaleString("en")} tokens`;

/** The same for the same period, scope, target and unit. */
const toId = ({ period, scope, target, unit }: BudgetPlan): string =>
  createHash("sha256")
    .update(JSON.stringify([period, scope, target, unit]))
    .digest("hex")
    .slice(0, 12);

async function checkPlan(kernel: Kernel, plan: BudgetPlan): Promise<BudgetPlan> {
  const archive = kernel.inject("archive");
  if (plan.scope === "all") return { ...plan, target: null };
  const { scope, target } = plan;
  if (target === null || target === "")
    throw new SessarcError("BUDGET_INVALID", { reason: `a budget of a ${scope} names it in \`target\`` });
  if (scope === "tool") await archive.checkTool(target);
  if (scope !== "project") return plan;
  const [id, ...others] = await archive.projectIds(target);
  if (others.length > 0)
    throw new SessarcError("BUDGET_INVALID", {
      reason: `several projects are named ${JSON.stringify(target)}; use the id`,
    });
  return { ...plan, target: id };
}

/** For hooks that only this file declares. */
export type ToolCheck = Parameters<KernelHooks["tool:check"]>[0];
