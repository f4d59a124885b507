/** `sessarc replay <session>`: on the terminal what the routes do. */
import { type CommandContext, createStyle, printable, type Style, send, UsageError } from "sessarc/terminal";
import type { EndState } from "../end-state.ts";
import type { PlanReport, StepView } from "../replay.ts";
import type { StepReport } from "../report.ts";
import type { Preview } from "../steps/preview.ts";
import { isConfirmed } from "./ask.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [wanted, ...rest] = ctx.args;
  if (wanted === undefined || rest.length > 0) throw new UsageError("Name one session: `sessarc replay <session>`");
  const last = readNumber(ctx.flags.to);
  if (last !== undefined && ctx.flags["all-edits"] === true)
    throw new UsageError("--to and --all-edits exclude each other");
  for (const name of ["follow-up", "network", "env", "readable"])
    if (ctx.flags[name] !== undefined && ctx.flags.with === undefined) throw new UsageError(`--${name} needs --with`);
  if (ctx.flags.with !== undefined && (last !== undefined || ctx.flags["all-edits"] === true))
    throw new UsageError("--with excludes --to and --all-edits");
  const { id } = (await ctx.get<{ session: { id: string } }>("/sessions/find", { name: wanted })).session;
  if (typeof ctx.flags.with === "string") return (await import("./with.ts")).runWith(ctx, id, ctx.flags.with);
  const planned = last === undefined && ctx.flags["all-edits"] !== true;
  if (planned || ctx.flags.plan === true) return printPlan(ctx, await readPlan(ctx, id));
  return go(ctx, id, last);
}

function readNumber(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string" || !/^\d{1,9}$/.test(value)) throw new UsageError("--to takes the number of a message");
  return Number(value);
}

const readPlan = (ctx: CommandContext, id: string) =>
  ctx.get<PlanReport>(`/sessions/${encodeURIComponent(id)}/replay-plan`);

function printPlan(ctx: CommandContext, plan: PlanReport): number {
  if (ctx.json) {
    ctx.answer(plan);
    return 0;
  }
  const style = createStyle(ctx.colour);
  ctx.out(style.bold(printable(plan.session.title ?? plan.session.id)));
  const day = plan.base?.at.slice(0, 16).replace("T", " ");
  ctx.out(`Begins with ${plan.base ? `commit ${plan.base.commit.slice(0, 10)} of ${day}` : "an empty folder"}`);
  ctx.out(
    `Commands: ${plan.isolation.kind === "none" ? `not isolated, ${plan.isolation.reason}` : plan.isolation.kind}`,
  );
  for (const step of plan.steps) ctx.out(toLine(step, style));
  const off = plan.steps.filter((step) => !step.supported).length;
  ctx.out(style.dim(`${plan.steps.length} steps${off > 0 ? `, ${off} cannot be replayed` : ""}`));
  return 0;
}

function toLine(step: StepView, style: Style): string {
  const place = `${step.source === null ? "" : "+"}#${step.seq}`.padStart(6);
  const note = step.supported
    ? step.recorded.failed
      ? step.due
        ? " (failed in the original session too)"
        : " (failed in the original session too, left out)"
      : ""
    : ` (not replayed: ${printable(step.reason ?? "")})`;
  return `${style.dim(place)} ${step.state.padEnd(7)} ${printable(step.summary)}${style.dim(note)}`;
}

interface Done {
  steps: StepReport[];
  left: { seq: number; source: string | null; why: string }[];
}

async function go(ctx: CommandContext, id: string, last: number | undefined): Promise<number> {
  const allowUnisolated = ctx.flags["allow-unisolated"] === true;
  const sandbox = await send<{ path: string; notes: string[] }>(
    ctx,
    "POST",
    "/replay/start",
    {
      sessionId: id,
      allowUnisolated,
    },
    ctx.signal,
  );
  const { steps } = await readPlan(ctx, id);
  const done: Done = { steps: [], left: [] };
  const style = createStyle(ctx.colour);
  if (!ctx.json) for (const note of sandbox.notes) ctx.err(printable(note));
  for (const step of steps) {
    if (last !== undefined && step.source === null && step.seq > last) break;
    const why = (await reasonToLeave(ctx, step, last === undefined)) ?? (await refusal(ctx, id, step));
    const report = await send<StepReport>(
      ctx,
      "POST",
      "/replay/step",
      {
        sessionId: id,
        seq: step.seq,
        source: step.source,
        ...(why === undefined ? { confirmCommand: step.command ?? undefined } : { skip: true }),
      },
      ctx.signal,
    );
    if (why === undefined) done.steps.push(report);
    else done.left.push({ seq: step.seq, source: step.source, why });
    if (!ctx.json) ctx.out(toOutcome(step, report, why, style));
  }
  const end = await ctx.get<EndState>("/replay/result", { sessionId: id });
  if (ctx.json) ctx.answer({ sessionId: id, path: sandbox.path, notes: sandbox.notes, ...done, end });
  else ctx.out(summary(end, sandbox.path));
  return done.steps.some((step) => step.state === "failed" && step.matchesRecording !== true) ? 1 : 0;
}

/** Undefined when the step is to be done. A command runs only when the user confirmed exactly this command. */
async function reasonToLeave(ctx: CommandContext, step: StepView, editsOnly: boolean): Promise<string | undefined> {
  if (!step.supported) return step.reason ?? "it cannot be replayed";
  if (!step.due) return "it failed in the original session too";
  if (step.kind !== "command") return undefined;
  const confirmed = [ctx.flags.confirm ?? []].flat();
  if (confirmed.includes(step.command ?? "")) return undefined;
  if (editsOnly) return "commands are left out";
  if (ctx.json || !process.stdin.isTTY) return "it was not confirmed";
  return (await isConfirmed(ctx, `Run in the sandbox: ${printable(step.command ?? "")}`))
    ? undefined
    : "it was declined";
}

/** Why a confirmed command would be refused; what the user has to know of one that would run is said. */
async function refusal(ctx: CommandContext, sessionId: string, step: StepView): Promise<string | undefined> {
  if (step.kind !== "command") return undefined;
  const { source } = step;
  const query = { sessionId, seq: String(step.seq), ...(source === null ? {} : { source }) };
  const preview = await ctx.get<Preview>("/replay/preview", query);
  if (!preview.applies) return preview.reason ?? "it does not apply";
  if (preview.warning !== null) ctx.err(printable(preview.warning));
  return undefined;
}

function toOutcome(step: StepView, report: StepReport, left: string | undefined, style: Style): string {
  const place = `${step.source === null ? "" : "+"}#${step.seq}`.padStart(6);
  if (left !== undefined)
    return `${style.dim(place)} left    ${printable(step.summary)} ${style.dim(`(${printable(left)})`)}`;
  const code = report.exitCode === null || report.exitCode === 0 ? "" : ` exit ${report.exitCode}`;
  const match = report.matchesRecording === false ? " differs from the recording" : "";
  const words = [report.reason, report.unchecked].filter((text) => text !== null);
  const reason = words.length === 0 ? "" : ` (${words.map(printable).join("; ")})`;
  return `${style.dim(place)} ${report.state.padEnd(7)} ${printable(step.summary)}${code}${match}${reason}`;
}

export function summary(end: EndState, path: string): string {
  if (!end.commit) return `The session led to no commit that is known. Its files: ${printable(path)}`;
  const counts = [`${end.same} same`, `${end.differs} differ`, `${end.missing} missing`, `${end.extra} beside it`];
  const rows = end.files
    .filter((file) => file.state !== "same")
    .map((file) => `  ${file.state.padEnd(7)} ${printable(file.path)}`);
  const head = end.head
    ? [
        `Its own commit ${end.head.commit.slice(0, 10)} holds ${end.head.sameTree ? "the same files" : "other files than that commit"}`,
      ]
    : [];
  return [
    `Beside commit ${end.commit.commit.slice(0, 10)}: ${counts.join(", ")}`,
    ...head,
    ...rows,
    printable(path),
  ].join("\n");
}
