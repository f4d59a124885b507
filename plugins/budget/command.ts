/** `sessarc budget`. */
import {
  type Column,
  type CommandContext,
  createStyle,
  formatCount,
  formatMoney,
  formatShort,
  formatTable,
  printable,
  type Style,
  send,
  UsageError,
  widthOf,
} from "sessarc/terminal";
import type { Budget, BudgetPlan } from "./budgets.ts";
import { PERIODS, type Period } from "./period.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [action = "list", ...rest] = ctx.args;
  if (action === "list" && rest.length === 0) return list(ctx);
  if (action === "set" && rest.length === 2) return set(ctx, rest[0] ?? "", rest[1] ?? "");
  if (action === "remove" && rest.length === 1) return remove(ctx, rest[0] ?? "");
  throw new UsageError("`sessarc budget` takes list, set <day|week|month> <amount>, or remove <day|week|month>");
}

async function list(ctx: CommandContext): Promise<number> {
  const budgets = await ctx.get<Budget[]>("/budgets");
  if (ctx.json) ctx.answer(budgets);
  else if (budgets.length === 0) ctx.err("No budgets. `sessarc budget set day 20` sets one of 20 dollars a day.");
  else show(ctx, budgets);
  return budgets.length > 0 ? 0 : 3;
}

async function set(ctx: CommandContext, period: string, amount: string): Promise<number> {
  const plan = toPlan(ctx, period);
  const before = await ctx.get<Budget[]>("/budgets");
  const wanted: BudgetPlan = { ...plan, amount: readAmount(amount, plan.unit), ask: ctx.flags.ask === true };
  const at = await findSame(ctx, before, plan);
  const next =
    at < 0
      ? [...before, wanted]
      : before.with(at, { ...(before[at] as Budget), ...wanted, target: before[at]?.target ?? null });
  const budgets = await put(ctx, next);
  if (ctx.json) ctx.answer(budgets);
  else show(ctx, budgets);
  return 0;
}

async function remove(ctx: CommandContext, period: string): Promise<number> {
  const before = await ctx.get<Budget[]>("/budgets");
  const at = await findSame(ctx, before, toPlan(ctx, period));
  if (at < 0) {
    ctx.err("There is no such budget; `sessarc budget` lists them.");
    return 3;
  }
  const budgets = await put(ctx, before.toSpliced(at, 1));
  if (ctx.json) ctx.answer(budgets);
  else ctx.out("Removed.");
  return 0;
}

type Plan = Omit<BudgetPlan, "amount" | "ask">;

function toPlan({ flags }: CommandContext, period: string): Plan {
  if (!PERIODS.some((one) => one === period))
    throw new UsageError(`A budget is for a day, a week or a month, not ${JSON.stringify(period)}`);
  const targets = (["project", "tool", "model"] as const).flatMap((scope) => {
    const target = flags[scope];
    return typeof target === "string" ? [{ scope, target }] : [];
  });
  if (targets.length > 1) throw new UsageError("A budget is for one project, one tool or one model");
  const unit = flags.tokens === true ? "tokens" : "money";
  return { period: period as Period, unit, ...(targets[0] ?? { scope: "all", target: null }) };
}

/** Projects are stored by id, whichever way they are named. */
async function findSame(ctx: CommandContext, budgets: readonly Budget[], plan: Plan): Promise<number> {
  let { target } = plan;
  if (plan.scope === "project") {
    const projects = await ctx.get<{ id: string; name: string; path: string | null }[]>("/projects", { git: "0" });
    target = projects.find(({ id, name, path }) => [id, name, path].includes(target))?.id ?? target;
  }
  return budgets.findIndex(
    (one) => one.period === plan.period && one.scope === plan.scope && one.unit === plan.unit && one.target === target,
  );
}

async function put(ctx: CommandContext, list: readonly BudgetPlan[]): Promise<Budget[]> {
  const budgets = list.map(({ period, scope, target, unit, amount, ask }) => ({
    period,
    scope,
    target,
    unit,
    amount,
    ask,
  }));
  return send<Budget[]>(ctx, "PUT", "/budgets", { budgets });
}

const SIZES: Readonly<Record<string, number>> = { "": 1, K: 1e3, M: 1e6, B: 1e9 };

function readAmount(text: string, unit: BudgetPlan["unit"]): number {
  const [, count, size = ""] = /^\$?(\d{1,12}(?:\.\d{1,6})?)([KMB]?)$/i.exec(text.replaceAll(",", "")) ?? [];
  const amount = Math.round(Number(count) * (SIZES[size.toUpperCase()] ?? 1) * (unit === "money" ? 1e6 : 1));
  if (count !== undefined && amount >= 1) return amount;
  const example = unit === "money" ? "20 or 7.50 dollars" : "500000, 500K or 2M tokens";
  throw new UsageError(`The amount is a number such as ${example}, not ${JSON.stringify(text)}`);
}

/** Columns of a bar. */
const BAR = 20;

function show(ctx: CommandContext, budgets: readonly Budget[]): void {
  const style = createStyle(ctx.colour);
  const width = ctx.columns;
  const tables = [
    formatTable(toColumns(style, true), budgets, { head: style.dim }),
    formatTable(toColumns(style, false), budgets, { head: style.dim, ...(width !== undefined && { width }) }),
  ];
  const fits = (table: string) =>
    table.split("\n").every((line) => widthOf(line) <= (width ?? Number.POSITIVE_INFINITY));
  ctx.out(tables.find(fits) ?? tables.at(-1) ?? "");
  const unpriced = [...new Set(budgets.flatMap((one) => one.unpriced))];
  if (unpriced.length > 0) ctx.err(`no price for ${printable(unpriced.join(", "))}: not counted in budgets of money`);
}

function toColumns(style: Style, wide: boolean): Column<Budget>[] {
  const amount = (value: number, { unit }: Budget) =>
    unit === "money" ? formatMoney(value) : wide ? formatCount(value) : formatShort(value);
  const columns: (Column<Budget> | false)[] = [
    { title: "budget", value: ({ period }) => `a ${period}` },
    {
      title: "for",
      value: ({ scope, target, label }) => (scope === "all" ? "all" : printable(`${scope} ${label ?? target ?? ""}`)),
      shrink: true,
      least: 16,
    },
    { title: "used", align: "right", value: (one) => amount(one.used, one) },
    { title: "of", align: "right", value: (one) => amount(one.amount, one) },
    { title: "", value: (one) => (one.unit === "tokens" ? "tokens" : "") },
    { title: "%", align: "right", value: ({ share }) => colour(style, share, String(Math.floor(share * 100))) },
    wide && {
      title: "",
      value: ({ share }) => {
        const full = Math.min(BAR, Math.floor(share * BAR));
        return `${colour(style, share, "█".repeat(full))}${style.dim("░".repeat(BAR - full))}`;
      },
    },
    { title: "until", value: ({ to }) => to },
    wide && { title: "guard", value: ({ ask }) => (ask ? "asks" : "") },
  ];
  return columns.filter((column) => column !== false);
}

const colour = (style: Style, share: number, text: string) =>
  share >= 1 ? style.red(text) : share >= 0.8 ? style.yellow(text) : text;
