/** `sessarc receipt <commit|branch|base..head|last>`. */

import {
  type CommandContext,
  formatCount,
  formatMoney,
  formatTable,
  isRedacted,
  printable,
  toShortIds,
  UsageError,
} from "sessarc/terminal";
import type { TraceRecord } from "../authorship/agent-trace.ts";
import type { FateRow, Receipt, ReceiptSession } from "../receipt/receipt.ts";
import { askProject } from "./_project.ts";
import { cell, shown } from "./_text.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [range = "last", ...more] = ctx.args;
  if (more.length > 0) throw new UsageError("Name one range: sessarc receipt <commit|branch|base..head|last>");
  const { hook, message } = ctx.flags;
  if (hook !== undefined || message !== undefined) {
    const { runHook, runMessage } = await import("./hook.ts");
    return typeof message === "string" ? runMessage(ctx, message) : runHook(ctx, hook);
  }
  if (ctx.flags.notes === true) {
    const wrong = ["format", "titles", "redacted", "raw"].find((name) => ctx.flags[name] !== undefined);
    if (wrong !== undefined) throw new UsageError(`--notes takes no --${wrong}`);
    return (await import("./notes.ts")).writeNotes(ctx, ctx.args[0]);
  }
  const wrong = ["convert", "push"].find((name) => ctx.flags[name] !== undefined);
  if (wrong !== undefined) throw new UsageError(`--${wrong} needs --notes`);
  if (ctx.flags.format === "agent-trace") return printRecords(ctx, range);
  const redacted = isRedacted(ctx) ? "1" : undefined;
  const receipt = await askProject(ctx, ctx.flags.project, (project) =>
    ctx.get<Receipt>(`/projects/${encodeURIComponent(project)}/receipt`, { range, redacted }, ctx.signal),
  );
  if (ctx.json) ctx.answer(receipt);
  else if (ctx.flags.format === "md") {
    const shown = { titles: ctx.flags.titles === true, prompts: ctx.flags.prompts === true };
    ctx.out(toMarkdown(receipt, shown, shown.prompts ? await promptTexts(ctx, receipt) : new Map()));
  } else ctx.out(toText(receipt, ctx));
  return receipt.commits.length > 0 ? 0 : 3;
}

/** A record a line. */
async function printRecords(ctx: CommandContext, range: string): Promise<number> {
  const { records } = await askProject(ctx, ctx.flags.project, (project) =>
    ctx.get<{ records: TraceRecord[] }>(`/projects/${encodeURIComponent(project)}/agent-trace`, { range }, ctx.signal),
  );
  if (ctx.json) ctx.answer({ records });
  else if (records.length === 0) ctx.err("No commit of this range has lines of a session.");
  else for (const record of records) ctx.out(JSON.stringify(record));
  return records.length > 0 ? 0 : 3;
}

const FATES: Record<FateRow["fate"], string> = {
  kept: "still there",
  "rewritten-by-assistant": "rewritten by an assistant",
  "rewritten-by-person": "rewritten by a person",
  reverted: "reverted",
  unmerged: "on a branch that is not merged",
  uncommitted: "never committed",
};
const REASONS: Record<Receipt["leftovers"][number]["reason"], string> = {
  uncommitted: "prompts whose lines were never committed",
  unwritten: "prompts that led to no change",
  rounding: "rounding",
};

const hours = (ms: number): string => {
  const minutes = Math.round(ms / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};

const count = (n: number, word: string): string => `${formatCount(n)} ${word}${n === 1 ? "" : "s"}`;

function toText(receipt: Receipt, ctx: CommandContext): string {
  const { total, commits, sessions, models, calls, wastedReads, leftovers, projectMicrodollars, unpriced } = receipt;
  const options = { width: ctx.columns };
  const ids = toShortIds(sessions.map(({ id }) => id));
  const rows = [
    `${receipt.range === "last" ? "Last commit" : receipt.range}: about ${formatMoney(total.microdollars)}, ${formatCount(total.tokens)} tokens, ${hours(total.activeMs)} of work`,
    `${count(commits.length, "commit")} with lines of ${count(sessions.length, "session")}`,
  ];
  if (unpriced.length > 0) rows.push(`Not counted, because no price is known: ${unpriced.map(printable).join(", ")}`);
  if (sessions.length > 0)
    rows.push(
      "",
      formatTable<ReceiptSession>(
        [
          { title: "session", value: ({ title }) => shown(title ?? "(untitled)"), shrink: true, least: 20 },
          { title: "prompts", align: "right", value: ({ prompts }) => formatCount(prompts.length) },
          { title: "cost", align: "right", value: (it) => formatMoney(it.microdollars) },
          { title: "whole session", align: "right", value: (it) => formatMoney(it.sessionMicrodollars) },
          { title: "id", value: ({ id }) => printable(ids.get(id) ?? id) },
        ],
        sessions,
        options,
      ),
    );
  const models_ = models.map(
    ({ model, microdollars }) => `${printable(model ?? "unknown model")} ${formatMoney(microdollars)}`,
  );
  if (models_.length > 0) rows.push("", `Models: ${models_.join(", ")}`);
  const fates = receipt.fates.filter(({ lines }) => lines > 0);
  if (fates.length > 0)
    rows.push(
      "",
      formatTable<FateRow>(
        [
          { title: "lines", align: "right", value: ({ lines }) => formatCount(lines) },
          { title: "cost", align: "right", value: (it) => formatMoney(it.microdollars) },
          { title: "what became of the lines", value: ({ fate }) => FATES[fate] },
        ],
        fates,
        options,
      ),
    );
  rows.push(
    "",
    `Tool calls: ${formatCount(calls.all)}, of which ${formatCount(calls.failed)} failed and ${formatCount(calls.retried)} were repeated`,
  );
  if (wastedReads && wastedReads.reads > 0)
    rows.push(
      `Files read and not used: ${formatCount(wastedReads.reads)}, about ${formatCount(wastedReads.tokens)} tokens`,
    );
  const left = leftovers.filter(({ microdollars }) => microdollars !== 0);
  rows.push("", `The whole project cost about ${formatMoney(projectMicrodollars)}.`);
  if (left.length > 0) rows.push("Of that, no commit has:");
  for (const { reason, microdollars } of left) rows.push(`  ${formatMoney(microdollars)}  ${REASONS[reason]}`);
  return rows.join("\n");
}

/** For a pull request. Names of sessions, titles and prompts are private: they are left out unless they are asked for. */
function toMarkdown(
  receipt: Receipt,
  shown: { titles: boolean; prompts: boolean },
  texts: ReadonlyMap<string, string>,
): string {
  const { total, commits, sessions, calls, wastedReads } = receipt;
  const rows = [
    "### Receipt",
    "",
    `**${formatMoney(total.microdollars)}** for ${formatCount(commits.length)} ${commits.length === 1 ? "commit" : "commits"}: ${formatCount(sessions.length)} ${sessions.length === 1 ? "session" : "sessions"}, ${formatCount(total.tokens)} tokens, ${hours(total.activeMs)} of work.`,
    "",
    "| model | cost | tokens |",
    "|---|--:|--:|",
    ...receipt.models.map(
      (one) => `| ${cell(one.model ?? "unknown")} | ${formatMoney(one.microdollars)} | ${formatCount(one.tokens)} |`,
    ),
    "",
    "| lines by assistants | | cost |",
    "|---|--:|--:|",
    ...receipt.fates
      .filter(({ lines }) => lines > 0)
      .map(
        (one) =>
          `| ${FATES[one.fate]} | ${formatCount(one.lines)} | ${one.fate === "uncommitted" ? "" : formatMoney(one.microdollars)} |`,
      ),
    "",
    `${formatCount(calls.all)} calls, ${formatCount(calls.failed)} failed, ${formatCount(calls.retried)} tried again.${wastedReads ? ` ${formatCount(wastedReads.reads)} reads led to nothing.` : ""}`,
  ];
  if (shown.titles || shown.prompts) {
    rows.push("", "<details><summary>Sessions</summary>", "");
    for (const { id, tool, title, microdollars, prompts } of sessions) {
      rows.push(`- ${formatMoney(microdollars)} ${cell(tool)}${shown.titles && title ? `: ${cell(title)}` : ""}`);
      if (!shown.prompts) continue;
      for (const prompt of prompts) {
        const text = texts.get(`${id} ${prompt.seq}`);
        if (text !== undefined) rows.push(`  - ${formatMoney(prompt.microdollars)}: ${cell(text)}`);
      }
    }
    rows.push("", "</details>");
  }
  rows.push("", "<sub>Made by sessarc from local session logs. Costs are estimates.</sub>");
  return rows.join("\n");
}

/** Prompts without secrets, by session and seq. */
async function promptTexts(ctx: CommandContext, { sessions }: Receipt): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const { id, prompts } of sessions)
    for (const { seq } of prompts) {
      if (seq < 0) continue;
      const { messages } = await ctx.get<{ messages: { seq: number; text: string }[] }>(
        `/sessions/${encodeURIComponent(id)}/messages`,
        { after: seq > 0 ? String(seq - 1) : undefined, limit: "1", redacted: "1" },
        ctx.signal,
      );
      if (messages[0]?.seq === seq) texts.set(`${id} ${seq}`, messages[0].text);
    }
  return texts;
}
