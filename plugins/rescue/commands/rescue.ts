import { resolve } from "node:path";
import {
  type CommandContext,
  createStyle,
  formatAge,
  formatBytes,
  formatCount,
  formatTable,
  oneLine,
  printable,
  send,
  sessionTitle,
  toShortIds,
  UsageError,
} from "sessarc/terminal";
import type { RescueOverview } from "../overview.ts";
import type { RescuePlan, RescueStep } from "../restore/plan.ts";
import type { Rescued, Undone } from "../restore/rescue.ts";
import type { RetentionChange } from "../state/retention.ts";
import { type SessionState, STATES, type StateOf } from "../state/states.ts";

interface Listed {
  sessions: { session: ListedSession; states: StateOf[]; stored: boolean }[];
  total: number;
}
interface ListedSession {
  id: string;
  tool: string;
  cwd: string | null;
  name: string | null;
  title: string | null;
  firstPrompt: string | null;
  endedAt: string | null;
}

/** What is worth a look, the most urgent first. */
const SHOWN: readonly SessionState[] = ["dying", "gone", "hidden", "folder-gone"];

const HEADS: Readonly<Record<SessionState, string>> = {
  listed: "Listed by their assistant",
  dying: "Deleted by their assistant within 7 days",
  gone: "Their log is gone",
  reclaimed: "Their log was removed by sessarc reclaim",
  hidden: "Not in their assistant's list",
  "folder-gone": "Their folder is gone",
};

const REASONS = {
  headless: "started without a screen",
  background: "started by a background service",
  archived: "archived",
} as const;

export async function run(ctx: CommandContext): Promise<number> {
  const days = text(ctx, "keep-for");
  if (days !== undefined) return keepFor(ctx, days);
  if (ctx.flags.undo === true) return undo(ctx);
  if (ctx.args.length > 0) return putBack(ctx);
  if (ctx.flags.in !== undefined || ctx.flags.yes === true)
    throw new UsageError("Name the sessions to put back: `sessarc rescue <session…>`");
  return list(ctx);
}

async function list(ctx: CommandContext): Promise<number> {
  const overview = await ctx.get<RescueOverview>("/rescue", { scan: "1" }, ctx.signal);
  const wanted = STATES.find((one) => one === text(ctx, "state"));
  const query = { tool: text(ctx, "tool"), limit: text(ctx, "limit") ?? "20" };
  const lists: Record<string, Listed> = {};
  for (const state of wanted ? [wanted] : SHOWN)
    lists[state] = await ctx.get<Listed>("/rescue/sessions", { ...query, state }, ctx.signal);
  if (ctx.json) {
    ctx.answer({ ...overview, lists });
    return 0;
  }
  const { sessions, notListed, states, stored, traces } = overview;
  if (sessions === 0 && traces.sessions === 0) {
    ctx.err("The archive is empty. `sessarc import` imports what your assistants logged.");
    warn(ctx, overview);
    return 0;
  }
  ctx.out(
    `${formatCount(sessions)} ${sessions === 1 ? "session is" : "sessions are"} archived, with their sub-agents.`,
  );
  if (notListed > 0)
    ctx.out(`${formatCount(notListed)} ${notListed === 1 ? "is" : "are"} no longer listed by their assistants.`);
  if (states.dying > 0) ctx.out(`${formatCount(states.dying)} will be deleted within 7 days.`);
  if (traces.sessions > 0)
    ctx.out(
      `${formatCount(traces.sessions)} more ${traces.sessions === 1 ? "was" : "were"} deleted before; ${formatCount(traces.prompts)} of their prompts are left: sessarc search kind:trace`,
    );
  ctx.out(
    stored.setting === "none"
      ? "Logs are not stored (`rescue.logs` is `none`)."
      : `${formatCount(stored.sessions)} logs are stored: ${formatBytes(stored.bytes)}, ${formatBytes(stored.stored)} compressed.`,
  );
  const style = createStyle(ctx.colour);
  for (const state of STATES) {
    const found = lists[state];
    if (!found || found.total === 0) continue;
    ctx.out(`\n${style.bold(HEADS[state])} (${formatCount(found.total)})`);
    ctx.out(table(ctx, state, found.sessions));
    if (found.total > found.sessions.length)
      ctx.err(
        `${formatCount(found.sessions.length)} of ${formatCount(found.total)}; --state ${state} --limit shows more`,
      );
  }
  if (traces.sessions > 0 && wanted === undefined) await listTraces(ctx, query.limit);
  warn(ctx, overview);
  return 0;
}

/** Sessions that were deleted before they were archived. */
async function listTraces(ctx: CommandContext, limit: string): Promise<void> {
  const found = await ctx.get<{ sessions: number; traces: ListedTrace[] }>("/traces", { limit }, ctx.signal);
  const { bold, dim } = createStyle(ctx.colour);
  ctx.out(`\n${bold("Only their prompts are left")} (${formatCount(found.sessions)})`);
  ctx.out(
    formatTable<ListedTrace>(
      [
        { title: "session", value: ({ id }) => printable(id) },
        { title: "last prompt", value: ({ endedAt }) => endedAt?.slice(0, 10) ?? "" },
        { title: "title", value: ({ title }) => printable(title ?? ""), shrink: true },
      ],
      found.traces,
      { head: dim, width: ctx.columns },
    ),
  );
}

interface ListedTrace {
  id: string;
  title: string | null;
  endedAt: string | null;
}

/** The heading states what all of them are: a row has what else it is. */
function table(ctx: CommandContext, state: SessionState, rows: Listed["sessions"]): string {
  const ids = toShortIds(rows.map(({ session }) => session.id));
  const others = ({ states, stored }: Listed["sessions"][number]): string =>
    [
      ...states.filter((one) => one.state !== "listed" && (one.state !== state || one.reason || one.at)).map(stateText),
      stored ? "" : "log not stored",
    ]
      .filter(Boolean)
      .join(", ");
  return formatTable<Listed["sessions"][number]>(
    [
      { title: "age", align: "right", value: ({ session }) => formatAge(session.endedAt) },
      { title: "assistant", value: ({ session }) => session.tool, shrink: true, most: 12 },
      { title: "title", value: ({ session }) => sessionTitle({ ...session, id: "(untitled)" }), shrink: true },
      { title: "also", value: others, shrink: true },
      { title: "id", value: ({ session }) => printable(ids.get(session.id) ?? session.id) },
    ],
    rows,
    { head: createStyle(ctx.colour).dim, width: ctx.columns },
  );
}

const stateText = ({ state, reason, at }: StateOf): string => {
  if (reason) return REASONS[reason];
  return at ? `until ${at.slice(0, 10)}` : state.replace("-", " ");
};

function warn(ctx: CommandContext, { notArchived, notArchivedTools, retention, states }: RescueOverview): void {
  if (notArchived > 0) {
    const tools = notArchivedTools.map((tool) => ` --tool ${tool}`).join("");
    ctx.err(
      `${formatCount(notArchived)} logs will be deleted within 7 days and are not archived: \`sessarc import${tools}\` saves them.`,
    );
  }
  if (states.dying === 0) return;
  for (const { tool, label, days, changeable } of retention)
    if (changeable)
      ctx.err(
        `${label} deletes logs after ${formatCount(Math.round(days))} days; \`sessarc rescue --keep-for 3650 --tool ${tool}\` changes that.`,
      );
}

async function putBack(ctx: CommandContext): Promise<number> {
  const sessions: string[] = [];
  for (const name of ctx.args)
    sessions.push((await ctx.get<{ session: { id: string } }>("/sessions/find", { name }, ctx.signal)).session.id);
  const folder = text(ctx, "in");
  const body = { sessions, ...(folder !== undefined && { folder: resolve(ctx.cwd, folder) }) };
  const { plans } = await send<{ plans: RescuePlan[] }>(ctx, "POST", "/rescue/plan", body, ctx.signal);
  if (ctx.flags.yes !== true) {
    if (ctx.json) ctx.answer({ plans });
    else for (const plan of plans) printPlan(ctx, plan);
    const possible = plans.some((plan) => plan.reason === null && plan.steps.some(isToDo));
    if (possible) ctx.err("Nothing was written. --yes writes it.");
    return plans.some(({ reason }) => reason !== null) ? 1 : 0;
  }
  const able = plans.filter(({ reason }) => reason === null).map(({ session }) => session);
  const answer =
    able.length === 0
      ? { rescued: [] }
      : await send<{ rescued: Rescued[] }>(ctx, "POST", "/rescue/restore", { ...body, sessions: able }, ctx.signal);
  if (ctx.json) ctx.answer({ ...answer, refused: plans.filter(({ reason }) => reason !== null) });
  else {
    for (const plan of plans) if (plan.reason !== null) printPlan(ctx, plan);
    for (const one of answer.rescued) printRescued(ctx, one);
  }
  return able.length === plans.length ? 0 : 1;
}

const isToDo = (step: RescueStep) => step.kind === "move" || !step.there;

function printPlan(ctx: CommandContext, plan: RescuePlan): void {
  const style = createStyle(ctx.colour);
  ctx.out(`${style.bold(printable(plan.session))}  ${oneLine(printable(plan.title ?? "")).slice(0, 80)}`);
  if (plan.reason !== null) ctx.out(`  ${style.red("impossible")}  ${printable(plan.reason)}`);
  for (const step of plan.steps) ctx.out(`  ${printable(stepText(step))}`);
  if (plan.copy !== null) ctx.out(`  Archived as ${plan.copy}, linked to the original; its tokens count once.`);
  for (const one of plan.lost) ctx.out(`  ${style.dim(printable(one))}`);
}

function stepText(step: RescueStep): string {
  switch (step.kind) {
    case "write":
      return `${step.there ? "is there " : "writes   "}  ${step.path} (${formatBytes(step.bytes)})`;
    case "move":
      return `moves      ${step.path} to ${step.to}`;
    case "value":
      return `${step.there ? "is there " : "sets     "}  ${step.name} in ${step.path}`;
    case "run":
      return `${step.there ? "is there " : "runs     "}  ${step.command}`;
  }
}

function printRescued(ctx: CommandContext, one: Rescued): void {
  const done = one.steps.filter(isToDo);
  if (done.length === 0) ctx.out(`${printable(one.session)} is there already.`);
  else
    ctx.out(
      `${printable(one.copy ?? one.session)} is back in ${one.label}. \`sessarc rescue --undo ${printable(one.session)}\` takes it back.`,
    );
  for (const step of done) ctx.out(`  ${printable(stepText(step))}`);
}

async function undo(ctx: CommandContext): Promise<number> {
  const [name, ...more] = ctx.args;
  if (name === undefined || more.length > 0)
    throw new UsageError("Name one session: `sessarc rescue --undo <session>`");
  const { session } = await ctx.get<{ session: { id: string } }>("/sessions/find", { name }, ctx.signal);
  const undone = await send<Undone>(ctx, "POST", "/rescue/undo", { session: session.id }, ctx.signal);
  if (ctx.json) ctx.answer(undone);
  else {
    for (const path of undone.removed) ctx.out(`removed  ${printable(path)}`);
    for (const path of undone.left) ctx.out(`left     ${printable(path)}: it changed since`);
  }
  return 0;
}

async function keepFor(ctx: CommandContext, given: string): Promise<number> {
  const tool = text(ctx, "tool");
  const days = Number(given);
  if (tool === undefined || !Number.isSafeInteger(days) || days < 1)
    throw new UsageError(
      "Say for how many days and which assistant: `sessarc rescue --keep-for 3650 --tool claude-code`",
    );
  const write = ctx.flags.yes === true;
  const change = await send<RetentionChange>(ctx, "POST", "/rescue/retention", { tool, days, write }, ctx.signal);
  if (ctx.json) ctx.answer(change);
  else {
    const { path, name, before, after } = change;
    ctx.out(
      `${printable(path)}: ${name} ${before === null ? "is set to" : `changes from ${printable(before)} to`} ${after}`,
    );
    if (!write) ctx.err("Nothing was written. --yes writes it, after a backup in the archive.");
  }
  return 0;
}

function text(ctx: CommandContext, name: string): string | undefined {
  const value = ctx.flags[name];
  return typeof value === "string" ? value : undefined;
}
