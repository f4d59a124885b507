/** `sessarc health`. */
import {
  type Column,
  type CommandContext,
  createStyle,
  formatCount,
  formatDuration,
  formatShort,
  formatTable,
  printable,
  toShortIds,
  UsageError,
} from "sessarc/terminal";
import { ADVICE, NAMES, TITLES } from "./advice.ts";
import type { Finding, Waste } from "./health.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [session, ...more] = ctx.args;
  if (more.length > 0) throw new UsageError("`sessarc health` takes one session, or none for all");
  return session === undefined ? all(ctx) : one(ctx, session);
}

async function one(ctx: CommandContext, name: string): Promise<number> {
  const { session } = await ctx.get<{ session: { id: string } }>("/sessions/find", { name });
  const path = `/sessions/${encodeURIComponent(session.id)}`;
  const findings = await ctx.get<Finding[]>(`${path}/health`);
  if (ctx.json) ctx.answer(findings);
  else if (findings.length === 0) ctx.err("Nothing was found in this session.");
  else
    ctx.out(
      formatTable<Finding>(
        [
          { title: "found", value: ({ kind }) => NAMES[kind] },
          ...columns<Finding>(),
          { title: "messages", align: "right", value: ({ seq, last }) => (seq === last ? `${seq}` : `${seq}–${last}`) },
        ],
        findings,
        { head: createStyle(ctx.colour).dim, width: ctx.columns },
      ),
    );
  if (!ctx.json) ctx.err(toContext(await ctx.get<Context>(`${path}/context`)));
  return findings.length > 0 ? 0 : 3;
}

/** Of GET /sessions/:id/context. */
interface Context {
  replies: readonly { model: string; tokens: number }[];
  window: number | null;
}

function toContext({ replies, window }: Context): string {
  const last = replies.at(-1);
  if (!last) return "How full the context was is unknown: the log has no tokens of single replies.";
  const sent = `The last prompt had ${formatCount(last.tokens)} tokens`;
  return window === null
    ? `${sent}; what ${printable(last.model)} takes is unknown.`
    : `${sent} of ${formatCount(window)}.`;
}

async function all(ctx: CommandContext): Promise<number> {
  const limit = typeof ctx.flags.limit === "string" ? ctx.flags.limit : undefined;
  const wastes = await ctx.get<Waste[]>("/health", { after: since(ctx), limit }, ctx.signal);
  if (ctx.json) ctx.answer(wastes);
  else if (wastes.length === 0) ctx.err(await nothing(ctx));
  else {
    const style = createStyle(ctx.colour);
    const ids = toShortIds(wastes.flatMap(({ examples }) => examples.map(({ session }) => session)));
    const parts = [...new Set(wastes.map(({ kind }) => kind))].map((kind) => {
      const rows = wastes.filter((waste) => waste.kind === kind);
      const all: Column<Waste>[] = [
        ...columns<Waste>(),
        { title: "sessions", align: "right", value: ({ sessions }) => formatCount(sessions) },
        { title: "such as", value: ({ examples: [first] }) => (first && ids.get(first.session)) ?? "" },
      ];
      const filled = all.filter(({ value }) => rows.some((row) => value(row) !== ""));
      const table = formatTable(filled, rows, { head: style.dim, width: ctx.columns });
      return `${style.bold(TITLES[kind])}\n${ADVICE[kind]}\n${table}`;
    });
    ctx.out(parts.join("\n\n"));
    ctx.err("`sessarc health <id>` lists the messages, `sessarc resume <id>` goes on with the session.");
  }
  return wastes.length > 0 ? 0 : 3;
}

async function nothing(ctx: CommandContext): Promise<string> {
  const { total } = await ctx.get<{ total: number }>("/sessions", { limit: "1" }, ctx.signal);
  return total === 0
    ? "The archive is empty. `sessarc import` imports what your assistants logged."
    : "No loops, retries, repeated reads, undone edits or long waits were found.";
}

const columns = <T extends Pick<Waste, "tool" | "subject" | "count" | "tokens" | "ms">>(): Column<T>[] => [
  {
    title: "what",
    value: ({ tool, subject }) => printable([tool, subject].filter(Boolean).join(" ")),
    shrink: true,
  },
  { title: "times", align: "right", value: ({ count }) => formatCount(count) },
  { title: "≈ tokens", align: "right", value: ({ tokens }) => (tokens > 0 ? formatShort(tokens) : "") },
  { title: "time", align: "right", value: ({ ms }) => (ms > 0 ? formatDuration(ms) : "") },
];

const DAY = 86_400_000;

/** The start of a local day. */
function since({ flags }: CommandContext): string | undefined {
  const text = flags.since;
  if (text === undefined) return undefined;
  const [, days] = /^(\d{1,4})d$/.exec(String(text)) ?? [];
  const at = days === undefined ? new Date(`${text}T00:00`) : new Date(Date.now() - Number(days) * DAY);
  if (Number.isNaN(at.getTime()))
    throw new UsageError(`--since takes a day as 2026-11-01 or 7d, not ${JSON.stringify(text)}`);
  return at.toISOString();
}
