/** The first start over an archive without sessions: imports everything there is, says in one sentence what that is, and asks once about login. */
import { planLogin, readAsked, readLogin, writeAsked, writeLogin } from "../background/login.ts";
import type { Kernel } from "../contract/kernel.ts";
import { formatCount, formatDay, formatMoney } from "../terminal/format.ts";
import { accepted, readFrames } from "../terminal/frames.ts";
import { createProgress, type ProgressState } from "../terminal/progress.ts";
import { createStyle } from "../terminal/style.ts";
import { toMessage } from "../utils/async.ts";
import type { CoreContext } from "./context.ts";

type Frame =
  | ({ type: "progress" } & ProgressState)
  | { type: "done"; imported: number; failed: readonly unknown[] }
  | { type: "error"; message: string }
  | { type: "session" };

interface Rescue {
  states: { dying: number };
  /** Deleted sessions of which the prompts are left. */
  traces: { sessions: number; prompts: number };
}

interface Usage {
  totals: { cost: { microdollars: number } | null };
}

const DAY_MS = 86_400_000;

/** Whether the archive has no session: it is new, or an import never came about. */
export async function isEmpty(kernel: Kernel): Promise<boolean> {
  const { total } = await ask<{ total: number }>(kernel, "/sessions?limit=1");
  return total === 0;
}

/** Imports all logs while the service answers, and reports the outcome. What fails is reported and leaves the service running. */
export async function runFirst(kernel: Kernel, ctx: CoreContext): Promise<void> {
  try {
    const { tools } = await ask<{ tools: { label: string; sessions: number }[] }>(kernel, "/scan?projects=0");
    const found = tools.filter((tool) => tool.sessions > 0);
    if (found.length === 0) {
      ctx.err("No logs of any assistant were found. `sessarc --demo` shows sample data.");
      // From the first import on the service follows what is written: an assistant may be installed later.
      await importAll(kernel, ctx);
      for (const line of toTraces(await ask<Rescue>(kernel, "/rescue"))) ctx.err(line);
      return;
    }
    const style = createStyle(ctx.tty && ctx.colour);
    const list = found.map((tool) => `${tool.label} ${formatCount(tool.sessions)}`).join(", ");
    ctx.err(`Importing ${style.bold(list)}. Leave some out: ${kernel.address?.url ?? ""}import`);
    await importAll(kernel, ctx);
    if (!kernel.closing.aborted) ctx.err(await sentence(kernel));
  } catch (error) {
    if (!kernel.closing.aborted)
      ctx.err(`The first import did not end: ${toMessage(error)}. \`sessarc import\` goes on with it.`);
  }
}

async function importAll(kernel: Kernel, ctx: CoreContext): Promise<void> {
  const progress = createProgress({
    tty: ctx.tty,
    write: ctx.errRaw,
    ...(ctx.io.stderr.columns !== undefined && { columns: ctx.io.stderr.columns }),
  });
  try {
    const response = await kernel.fetch("/api/import", {
      method: "POST",
      headers: { accept: "text/event-stream", "content-type": "application/json" },
      body: JSON.stringify({ all: true }),
    });
    for await (const frame of readFrames<Frame>(await accepted(response), kernel.closing)) {
      if (frame.type === "progress") progress.update(frame);
      else if (frame.type === "error") throw new Error(frame.message);
      else if (frame.type === "done" && frame.failed.length > 0) {
        progress.clear();
        ctx.err(`${formatCount(frame.failed.length)} logs could not be read: sessarc import names them`);
      }
    }
  } finally {
    progress.clear();
  }
}

/** `312 sessions of 4 assistants are safe. 37 would have been deleted this week. They cost about $412, $38 this week.`, and what was deleted before. */
async function sentence(kernel: Kernel): Promise<string> {
  const week = formatDay(new Date(Date.now() - 6 * DAY_MS));
  const [sessions, projects, all, recent, rescue] = await Promise.all([
    ask<{ total: number }>(kernel, "/sessions?limit=1&subagents=0"),
    ask<{ tools: string[] }[]>(kernel, "/projects?git=0"),
    ask<Usage>(kernel, "/usage?by=tool"),
    ask<Usage>(kernel, `/usage?by=tool&from=${week}`),
    ask<Rescue>(kernel, "/rescue"),
  ]);
  const tools = new Set(projects.flatMap((project) => project.tools)).size;
  const parts = [
    `${count(sessions.total, "session")} of ${count(tools, "assistant")} ${sessions.total === 1 ? "is" : "are"} safe.`,
  ];
  const { dying } = rescue.states;
  if (dying > 0) parts.push(`${formatCount(dying)} would have been deleted this week.`);
  const cost = all.totals.cost?.microdollars ?? 0;
  if (cost > 0)
    parts.push(
      `They cost about ${formatMoney(cost)}, ${formatMoney(recent.totals.cost?.microdollars ?? 0)} this week.`,
    );
  return [...parts, ...toTraces(rescue)].join(" ");
}

/** `497 sessions were deleted before sessarc came; 5,621 of their prompts are back.` */
function toTraces({ traces: { sessions, prompts } }: Rescue): string[] {
  if (sessions === 0) return [];
  const were = sessions === 1 ? "was" : "were";
  return [
    `${count(sessions, "session")} ${were} deleted before sessarc came; ${formatCount(prompts)} of ${sessions === 1 ? "its" : "their"} prompts ${prompts === 1 ? "is" : "are"} back.`,
  ];
}

/**
 * Asks once, in a terminal, whether to start at login. True: yes, and the entry is written; the service is to go on without the terminal.
 * `args`: what `serve` is started with then.
 */
export async function askAboutLogin(ctx: CoreContext, args: readonly string[]): Promise<boolean> {
  const { dataDir } = ctx.config;
  if (!ctx.io.ask || (await readLogin(dataDir)) || (await readAsked(dataDir))) return false;
  const answer = await ctx.io.ask("Keep sessarc running, and start it at login? [y/N] ");
  if (answer === undefined) return false;
  await writeAsked(dataDir);
  if (!/^y(es)?$/i.test(answer.trim())) {
    ctx.err("Not now: `sessarc start --at-login` does it later.");
    return false;
  }
  const plan = await planLogin(dataDir, args, ctx.env);
  await writeLogin(dataDir, plan, ctx.env);
  ctx.err(`Starts at login: ${plan.path}. \`sessarc stop --at-login\` takes that back.`);
  return true;
}

const count = (n: number, what: string) => `${formatCount(n)} ${what}${n === 1 ? "" : "s"}`;

async function ask<T>(kernel: Kernel, path: string): Promise<T> {
  return (await accepted(await kernel.fetch(`/api${path}`))).json() as Promise<T>;
}
