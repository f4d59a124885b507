import { EVENT_KINDS, type SessionEvent } from "sessarc";
import { describeLeftOut } from "sessarc/adapter";
import {
  ApiError,
  type CommandContext,
  createStyle,
  fitColumns,
  formatCount,
  formatMoney,
  isRedacted,
  printable,
  type Style,
  sessionTitle,
  UsageError,
  wrapColumns,
} from "sessarc/terminal";
import type { EarlierText, LinkedFact, Session } from "../catalogue/types.ts";
import { findKind, toKindWord } from "../search/kinds.ts";
import { numberFlag } from "./_flags.ts";
import { computeCost, findSession } from "./_session.ts";

interface Page {
  session: Session;
  project: { name: string } | null;
  messages: SessionEvent[];
  total: number;
  nextCursor?: string | null;
}

const PAGE = 500;

export async function run(ctx: CommandContext): Promise<number> {
  const [wanted, ...rest] = ctx.args;
  if (wanted === undefined || rest.length > 0) throw new UsageError("Name one session: `sessarc show <session>`");
  const kinds = readKinds(ctx.flags.kinds);
  const limit = numberFlag(ctx, "limit", 1);
  const version = text(numberFlag(ctx, "earlier"));
  const redacted = isRedacted(ctx) ? "1" : undefined;
  const { found, from } = await findMessage(ctx, wanted, redacted);
  if (from !== undefined && ctx.flags.after !== undefined)
    throw new UsageError(`--after and the message #${from} exclude each other`);
  const after = from === undefined ? numberFlag(ctx, "after") : from === 0 ? undefined : from - 1;
  if ("trace" in found) return showTrace(ctx, found.trace, from);
  const { id } = found;
  const wish = { kinds, version, after, limit, redacted };
  return ctx.json ? printJson(ctx, id, wish) : printText(ctx, id, wish);
}

/** A session, or the message of one as a search prints it: `9b6cab91#38`. The ids of some assistants end so, too. */
async function findMessage(ctx: CommandContext, wanted: string, redacted: string | undefined) {
  try {
    return { found: await find(ctx, wanted, redacted), from: undefined };
  } catch (error) {
    const [, name, seq] = /^(.+)#(\d{1,9})$/.exec(wanted) ?? [];
    if (name === undefined || !isMissing(error)) throw error;
    return { found: await find(ctx, name, redacted), from: Number(seq) };
  }
}

async function find(ctx: CommandContext, name: string, redacted: string | undefined) {
  return findSession(ctx, name).catch(async (error: unknown) => {
    if (!isMissing(error)) throw error;
    const trace = await ctx.get<TraceAnswer>(`/traces/${encodeURIComponent(name)}`, { redacted }).catch(() => {
      throw error;
    });
    return { trace };
  });
}

const isMissing = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

/** A session of which only the prompts are left. */
interface TraceAnswer {
  trace: { id: string; title: string | null; cwd: string | null };
  messages: { seq: number; at: string | null; text: string }[];
  commits: { hash: string; at: string; subject: string }[];
}

function showTrace(ctx: CommandContext, answer: TraceAnswer, from = 0): number {
  if (ctx.json) {
    ctx.answer(answer);
    return 0;
  }
  const style = createStyle(ctx.colour);
  const { trace, messages, commits } = answer;
  ctx.out(style.bold(printable(trace.title ?? trace.id)));
  ctx.out(style.dim(`${trace.id}  ${printable(trace.cwd ?? "")}`.trim()));
  ctx.out("Its log was deleted before it was archived: only the prompts are left.");
  for (const { seq, at, text } of messages.filter((message) => message.seq >= from))
    ctx.out(toText({ seq, kind: "user", text, ...(at && { at }) }, style));
  if (commits.length > 0) ctx.out(style.bold("Commits of that time"));
  for (const { hash, at, subject } of commits)
    ctx.out(`  ${hash.slice(0, 9)}  ${at.slice(0, 10)}  ${printable(subject)}`);
  return 0;
}

interface Wish {
  kinds: string | undefined;
  version: string | undefined;
  after: number | undefined;
  limit: number | undefined;
  redacted: string | undefined;
}

async function printJson(ctx: CommandContext, id: string, { after, limit, ...rest }: Wish): Promise<number> {
  const page = await ctx.get<Page>(messages(id), { ...rest, after: text(after), limit: text(limit) });
  // What is redacted comes in pages.
  while (limit === undefined && page.nextCursor) {
    const next = await ctx.get<Page>(messages(id), { ...rest, after: page.nextCursor });
    page.messages.push(...next.messages);
    page.nextCursor = next.nextCursor ?? null;
  }
  ctx.answer(page);
  return 0;
}

async function printText(ctx: CommandContext, id: string, wish: Wish): Promise<number> {
  const { after, limit, ...rest } = wish;
  const style = createStyle(ctx.colour);
  let left = limit ?? Number.POSITIVE_INFINITY;
  let from = after;
  let first = true;
  while (left > 0) {
    const size = Math.min(PAGE, left);
    const page = await ctx.get<Page>(messages(id), { ...rest, after: text(from), limit: String(size) });
    if (first) ctx.out(heading(page, await readEarlier(ctx, page.session), style, ctx.columns));
    first = false;
    for (const message of page.messages) ctx.out(toText(message, style));
    if (from === after && page.messages.length === 0) ctx.err(nothingShown(page, wish));
    left -= page.messages.length;
    const last = page.messages.at(-1);
    if (!last || !page.nextCursor) break;
    from = last.seq;
  }
  return 0;
}

function nothingShown({ total }: Page, { kinds, after }: Wish): string {
  if (total === 0) return "This session has no messages.";
  const ofKinds = kinds === undefined ? "" : " of these kinds";
  return `No message${ofKinds}${after === undefined ? "" : ` from #${after + 1} on`}; the session has ${formatCount(total)}.`;
}

const messages = (id: string) => `/sessions/${encodeURIComponent(id)}/messages`;
const text = (n: number | undefined) => (n === undefined ? undefined : String(n));

async function readEarlier(ctx: CommandContext, { id, earlierTexts }: Session): Promise<EarlierText[]> {
  if (earlierTexts === 0) return [];
  return (await ctx.get<{ earlier: EarlierText[] }>(`/sessions/${encodeURIComponent(id)}`)).earlier;
}

function heading(
  { session, project, total }: Page,
  earlier: readonly EarlierText[],
  style: Style,
  columns = Number.POSITIVE_INFINITY,
): string {
  const facts = [
    session.id,
    project?.name,
    session.startedAt?.slice(0, 16).replace("T", " "),
    session.models.join(", "),
    `${total} messages`,
    `cost ${computeCost(session)}`,
  ];
  const kept = earlier.map(
    ({ version, messages, ownMessages, replacedAt }) =>
      `Earlier text of ${messages} messages, ${ownMessages} of them no longer in the log since ${replacedAt.slice(0, 10)}: --earlier ${version}\n`,
  );
  const lines = [...loggedLines(session), ...kept].join("");
  return `${style.bold(fitColumns(sessionTitle(session), columns))}\n${style.dim(wrapColumns(printable(facts.filter(Boolean).join("  ")), columns).join("\n"))}\n${style.dim(lines)}`;
}

/** What the log states beside its messages. */
function loggedLines({
  usage,
  loggedCost,
  unlogged,
  figuresRefused,
  figuresLeftOut,
  links,
  logTags,
}: Session): string[] {
  const lines: string[] = [];
  if (loggedCost !== null && Object.keys(usage).length > 0)
    lines.push(`The assistant states a cost of ${formatMoney(loggedCost)}`);
  if (unlogged)
    lines.push(`${formatCount(Object.values(unlogged).reduce((sum, n) => sum + n, 0))} more tokens are in no message`);
  if (figuresLeftOut !== null) lines.push(describeLeftOut(figuresLeftOut));
  if (figuresRefused !== null) lines.push(`Tokens and cost are not counted: the adapter reported ${figuresRefused}`);
  for (const link of links) lines.push(linkLine(link));
  if (logTags.length > 0) lines.push(`Tags: ${logTags.join(", ")}`);
  return lines.map((line) => `${printable(line)}\n`);
}

function linkLine(link: LinkedFact): string {
  switch (link.kind) {
    case "continued-in":
      return `Continued in ${link.sessionId}`;
    case "derived-from":
      return `Derived from ${link.sessionId}`;
    case "pull-request":
      return `Pull request ${link.url}`;
    case "relocated":
      return `Moved to ${link.path}`;
    case "worktree":
      return `Worktree ${link.path}${link.branch ? ` (${link.branch})` : ""}`;
  }
}

function toText(message: SessionEvent, style: Style): string {
  const time = message.at ? ` ${message.at.slice(11, 19)}` : "";
  const paint = { user: style.green, assistant: style.blue, tool_use: style.yellow } as Partial<
    Record<string, (t: string) => string>
  >;
  const name = message.tool_name ? ` ${printable(message.tool_name)}` : "";
  const failed = message.is_error ? ` ${style.red("failed")}` : "";
  const head = `${(paint[message.kind] ?? style.dim)(`${toKindWord(message.kind)}${name}`)}${failed}${style.dim(`${time} #${message.seq}`)}`;
  const body = toBody(message);
  const shown = message.kind === "thinking" || message.kind === "note" ? style.dim(body) : body;
  return `${head}\n${shown}${message.truncated ? `\n${style.dim("(cut at the storage limit)")}` : ""}\n`;
}

function toBody(message: SessionEvent): string {
  const input = message.tool_input;
  const shown = input === undefined ? "" : typeof input === "string" ? input : JSON.stringify(input, null, 2);
  return printable([message.text, shown].filter(Boolean).join("\n"));
}

function readKinds(flag: unknown): string | undefined {
  if (typeof flag !== "string") return undefined;
  const kinds = flag.split(",").map(findKind);
  const unknown = kinds.indexOf(undefined);
  if (unknown >= 0)
    throw new UsageError(
      `Unknown kind ${JSON.stringify(flag.split(",")[unknown])}; there are ${EVENT_KINDS.map(toKindWord).join(", ")}`,
    );
  return kinds.join(",");
}
