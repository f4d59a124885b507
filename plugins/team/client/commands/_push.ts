/** One push over the API, and what is printed about it. */

import type { ErrorBody } from "sessarc";
import {
  ApiError,
  accepted,
  type CommandContext,
  createProgress,
  createStyle,
  formatBytes,
  formatCount,
  formatTable,
  oneLine,
  printable,
  readFrames,
} from "sessarc/terminal";
import type { PushedSession, PushFrame, PushReport } from "../push.ts";
import { countAll } from "./_ask.ts";

type Frame = PushFrame | ({ type: "done" } & PushReport) | ({ type: "error" } & ErrorBody);

export interface Pushed {
  done: PushReport;
  sessions: PushedSession[];
}

/** Undefined when the user ended it. Throws ApiError for what the service or the team's server refuses. */
export async function pushOnce(ctx: CommandContext, body: object): Promise<Pushed | undefined> {
  const response = await ctx.fetch("/team/push", {
    method: "POST",
    headers: { accept: "text/event-stream", "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: ctx.signal,
  });
  const progress = createProgress({ tty: ctx.tty, columns: process.stderr.columns, write: ctx.errRaw });
  const sessions: PushedSession[] = [];
  let done: PushReport | undefined;
  try {
    for await (const frame of readFrames<Frame>(await accepted(response), ctx.signal)) {
      if (frame.type === "progress") progress.update(frame);
      else if (frame.type === "session") sessions.push(frame.session);
      else if (frame.type === "error") throw new ApiError(frame);
      else done = frame;
    }
  } catch (error) {
    if (ctx.signal.aborted) return undefined;
    throw error;
  } finally {
    progress.clear();
  }
  if (!done) throw new Error("The push ended without a result; what was sent stays, and the next push goes on");
  return { done, sessions };
}

export function print(ctx: CommandContext, { done, sessions }: Pushed): void {
  if (ctx.json) ctx.out(JSON.stringify({ ...done, sessions }));
  else report(ctx, done, sessions);
}

function report(ctx: CommandContext, done: PushReport, sessions: readonly PushedSession[]): void {
  const style = createStyle(ctx.colour);
  if (done.dryRun) preview(ctx, sessions);
  const verb = done.dryRun ? "would leave for" : "pushed to";
  const parts = [
    `${countAll(done.pushed, "session")} ${verb} ${done.address}`,
    countAll(done.messages, "message"),
    formatBytes(done.bytes),
  ];
  if (done.unchanged > 0) parts.push(`${formatCount(done.unchanged)} unchanged`);
  if (done.withdrawn > 0) parts.push(`${formatCount(done.withdrawn)} withdrawn, left out`);
  ctx.out(parts.join(", "));
  const masked = Object.entries(done.masked).sort(([, a], [, b]) => b - a);
  if (masked.length > 0) ctx.out(printable(`masked: ${masked.map(([rule, count]) => `${rule} ${count}`).join(", ")}`));
  if (done.doubtful.length > 0) {
    ctx.out("masked on a guess, please check; a rule of kind allow keeps such a text:");
    const columns = [
      { title: "rule", value: (one: PushReport["doubtful"][number]) => printable(one.rule) },
      { title: "text", value: (one: PushReport["doubtful"][number]) => printable(one.masked), shrink: true, least: 20 },
      { title: "times", align: "right" as const, value: (one: PushReport["doubtful"][number]) => String(one.count) },
      { title: "session", value: (one: PushReport["doubtful"][number]) => printable(one.session), shrink: true },
    ];
    ctx.out(formatTable(columns, done.doubtful, { head: style.dim, width: ctx.columns }));
  }
  if (done.moved.length > 0)
    ctx.err(movedText(done.moved.length, [...new Set(done.moved.map(({ project }) => project))]));
  if (done.unchecked > 0)
    ctx.err(`${formatCount(done.unchecked)} texts could not be checked in time and were left out.`);
  if (done.dryRun && !done.asked) ctx.err("The server was not reached: it may have some of this already.");
  for (const { id, message, fix } of done.failed)
    ctx.err(printable(`${id}: ${message}${fix === null ? "" : `. ${fix}`}`));
}

/** A session that moved silently would be out of date on the server for ever. */
function movedText(count: number, projects: readonly string[]): string {
  const names = projects.slice(0, 5).join(", ") + (projects.length > 5 ? ", …" : "");
  return printable(
    `${countAll(count, "session")} on the server ${count === 1 ? "belongs" : "belong"} to projects now that are not pushed (${names}): the server keeps what it has. \`sessarc team projects <project>\` pushes such a project, \`sessarc team withdraw <session>\` removes a session there.`,
  );
}

function preview(ctx: CommandContext, sessions: readonly PushedSession[]): void {
  const leaving = sessions
    .filter(({ outcome }) => outcome === "would-push")
    .sort((a, b) => (a.project + a.id < b.project + b.id ? -1 : 1));
  if (leaving.length === 0) return;
  const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0);
  const columns = [
    { title: "project", value: (one: PushedSession) => printable(one.project), shrink: true },
    { title: "session", value: (one: PushedSession) => printable(one.id), shrink: true, least: 20 },
    {
      title: "title",
      value: (one: PushedSession) => oneLine(printable(one.title ?? "")).slice(0, 40),
      shrink: true,
    },
    { title: "messages", align: "right" as const, value: (one: PushedSession) => formatCount(one.messages) },
    { title: "bytes", align: "right" as const, value: (one: PushedSession) => formatBytes(one.bytes) },
    { title: "masked", align: "right" as const, value: (one: PushedSession) => formatCount(sum(one.masked)) },
    { title: "doubtful", align: "right" as const, value: (one: PushedSession) => String(one.doubtful.length) },
  ];
  ctx.out(formatTable(columns, leaving, { head: createStyle(ctx.colour).dim, width: ctx.columns }));
}
