/** `sessarc replay <session> --with "<command>"`: the session's prompts given to another assistant, beside the recording. */
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type CommandContext, createStyle, formatTable, printable, send, UsageError } from "sessarc/terminal";
import type { RerunPlan, RerunResult } from "../with/rerun.ts";
import { isConfirmed } from "./ask.ts";

export async function runWith(ctx: CommandContext, sessionId: string, command: string): Promise<number> {
  const followUp = typeof ctx.flags["follow-up"] === "string" ? ctx.flags["follow-up"] : undefined;
  const exact = followUp === undefined ? command : `${command}\n${followUp}`;
  const plan = await ctx.get<RerunPlan>("/replay/with", { sessionId });
  const network = ctx.flags.network === true;
  if (!(await confirmed(ctx, exact, plan, network)))
    throw new UsageError("The command was not confirmed; nothing was run");
  const texts = (name: string) => [ctx.flags[name] ?? []].flat().filter((value) => typeof value === "string");
  const env = texts("env");
  const readable = texts("readable").map((folder) => resolve(ctx.cwd, folder));
  await send(
    ctx,
    "POST",
    "/replay/with",
    {
      ...{ sessionId, command, confirmCommand: exact, network, env, readable },
      ...(followUp === undefined ? {} : { followUp }),
      allowUnisolated: ctx.flags["allow-unisolated"] === true,
    },
    ctx.signal,
  );
  const result = await ended(ctx, sessionId);
  if (ctx.json) ctx.answer(result);
  else show(ctx, result);
  return result.left > 0 || result.turns.some(({ exitCode }) => exitCode !== 0) ? 1 : 0;
}

const ASK_MS = 300;

/** The result, when the run has ended. Ctrl-C ends the run. */
async function ended(ctx: CommandContext, sessionId: string): Promise<RerunResult> {
  let shown: number | null = null;
  for (;;) {
    const { turn, failure, result, prompts } = await ctx.get<RerunPlan>("/replay/with", { sessionId });
    if (failure !== null) throw new Error(failure);
    if (turn === null && result) return result;
    if (turn !== shown && !ctx.json) ctx.err(`Prompt ${turn} of ${prompts.length}`);
    shown = turn;
    await delay(ASK_MS, undefined, { signal: ctx.signal }).catch(() => undefined);
    if (ctx.signal.aborted)
      await ctx.fetch("/replay/with/stop", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ sessionId }),
      });
  }
}

async function confirmed(ctx: CommandContext, exact: string, plan: RerunPlan, network: boolean): Promise<boolean> {
  if ([ctx.flags.confirm ?? []].flat().includes(exact)) return true;
  if (ctx.json || !process.stdin.isTTY) return false;
  const how = plan.isolation === "none" ? "without isolation, with your own rights" : `isolated by ${plan.isolation}`;
  const net = network ? "with the network" : "without the network";
  const base = plan.base ? `commit ${plan.base.commit.slice(0, 10)}` : "an empty folder";
  const text = [
    `Give ${plan.prompts.length} prompts, one run for each, to:`,
    ...exact.split("\n").map((line) => `  ${printable(line)}`),
    `In a sandbox that begins with ${base}, ${how}, ${net}.`,
  ];
  return isConfirmed(ctx, text.join("\n"));
}

function show(ctx: CommandContext, result: RerunResult): void {
  const style = createStyle(ctx.colour);
  for (const { seq, exitCode, ended, ms, stdout, stderr } of result.turns) {
    const how = ended ?? (exitCode === 0 ? "done" : `exit ${exitCode}`);
    ctx.out(style.bold(`#${seq} ${printable(how)}, ${(ms / 1000).toFixed(1)} s`));
    for (const line of `${stdout}${stderr}`.trimEnd().split("\n")) ctx.out(style.dim(printable(line)));
  }
  if (result.turns.some(({ exitCode }) => exitCode === 127))
    ctx.err(
      "The program was not found in the sandbox. Allow its folder with --readable, and name the program by its path.",
    );
  if (result.left > 0) ctx.err(`${result.left} prompts were not given: the run before them failed.`);
  ctx.out(result.diff.split("\n").map(printable).join("\n"));
  if (result.diffCut) ctx.err("The difference is longer; --json has the same part, the sandbox all of it.");
  const { run, recorded, end } = result;
  const rows = [
    { name: "Time", now: seconds(run.ms), was: seconds(recorded.ms) },
    { name: "Tokens", now: tokens(run.usage), was: tokens(recorded.usage) },
    { name: "Cost", now: computeCost(run), was: dollars(recorded.cost?.microdollars) },
  ];
  ctx.out(
    formatTable(
      [
        { title: "", value: (row) => row.name },
        { title: "This run", value: (row) => row.now, align: "right" },
        { title: "Recorded", value: (row) => row.was, align: "right" },
      ],
      rows,
      { width: ctx.columns, head: style.dim },
    ),
  );
  if (end.commit)
    ctx.out(
      `Beside commit ${end.commit.commit.slice(0, 10)}: ${end.same} same, ${end.differs} differ, ${end.missing} missing, ${end.extra} beside it`,
    );
  ctx.out(printable(result.path));
}

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
const dollars = (micro: number | undefined) => (micro === undefined ? "unknown" : `$${(micro / 1e6).toFixed(4)}`);
const computeCost = ({ printedUsd, cost }: RerunResult["run"]) =>
  printedUsd === null ? dollars(cost?.microdollars) : `$${printedUsd.toFixed(4)}`;

function tokens(usage: RerunResult["run"]["usage"]): string {
  if (usage === null) return "unknown";
  let sum = 0;
  for (const model of Object.values(usage))
    for (const count of Object.values(model)) if (typeof count === "number") sum += count;
  return sum.toLocaleString("en");
}
