import {
  type CommandContext,
  createStyle,
  fitColumns,
  formatAge,
  formatCount,
  isRedacted,
  printable,
  type Style,
  sessionTitle,
  toShortIds,
  UsageError,
  widthOf,
} from "sessarc/terminal";
import type { Session } from "../catalogue/types.ts";
import { toKindWord } from "../search/kinds.ts";
import { numberFlag } from "./_flags.ts";
import { EMPTY, isEmpty, toArgument } from "./_session.ts";

interface SearchAnswer {
  query: string;
  recent: boolean;
  total: { sessions: number; relation: "eq" | "gte" };
  tookMs: number;
  results: { session: Session; project: { name: string } | null; matchCount: number; matches: Match[] }[];
  nextCursor?: string | null;
  damaged: number;
  suggestion: string | null;
  traces: {
    total: number;
    results: { trace: TraceFacts; project: { name: string } | null; matches: Match[] }[];
  } | null;
}
type TraceFacts = { id: string; title: string | null; cwd: string | null; endedAt: string | null; prompts: number };
interface Match {
  seq: number;
  kind: string;
  at: string | null;
  snippet: string;
  ranges: [start: number, end: number][];
}

export async function run(ctx: CommandContext): Promise<number> {
  const without = [ctx.flags.without ?? []].flat().map((word) => ` -"${String(word).replaceAll('"', " ")}"`);
  const query = `${ctx.args.map(asWords).join(" ")}${without.join("")}`.trim();
  if (query === "") throw new UsageError("Give words to look for: `sessarc search <query…>`");
  const limit = String(numberFlag(ctx, "limit", 1, 1000) ?? 20);
  const redacted = isRedacted(ctx) ? "1" : undefined;
  const sort = toSort(ctx.flags.sort);
  const answer = await ctx.get<SearchAnswer>("/search", { q: query, limit, sort, redacted }, ctx.signal);
  if (ctx.json) ctx.answer(answer);
  else await print(ctx, answer);
  return answer.results.length + (answer.traces?.results.length ?? 0) > 0 ? 0 : 3;
}

function toSort(flag: unknown): "relevance" | "recent" {
  if (flag === undefined || flag === "best") return "relevance";
  if (flag === "newest") return "recent";
  throw new UsageError(`--sort is best or newest, not ${JSON.stringify(flag)}`);
}

/** What is a flag in the words of a shell (`"rm -rf"`) is a word here, too; `-tool:x` and `-"two words"` are no flags. */
const asWords = (arg: string): string => arg.replace(/(^|\s)-(?![a-z]+:)([^\s"-][^\s"]*)(?=\s|$)/g, '$1"-$2"');

async function print(ctx: CommandContext, answer: SearchAnswer): Promise<void> {
  const style = createStyle(ctx.colour);
  const width = ctx.columns ?? Number.POSITIVE_INFINITY;
  const ids = toShortIds(answer.results.map(({ session }) => session.id));
  for (const { session, project, matchCount, matches } of answer.results) {
    ctx.out(style.bold(fitColumns(sessionTitle({ ...session, id: "(untitled)" }), width)));
    const id = printable(ids.get(session.id) ?? session.id);
    const facts = [
      formatAge(session.endedAt ?? session.startedAt),
      project && printable(project.name),
      `${formatCount(matchCount)} ${matchCount === 1 ? "match" : "matches"}`,
      id,
    ];
    ctx.out(style.dim(facts.filter(Boolean).join("  ")));
    for (const match of matches) {
      const head = `${id}#${match.seq} ${toKindWord(match.kind)}`;
      ctx.out(`  ${style.dim(head)}  ${highlight(fitMatch(match, width - widthOf(head) - 4), style)}`);
    }
    ctx.out("");
  }
  printTraces(ctx, answer.traces, style);
  const isNothing = answer.results.length === 0 && !answer.traces?.total;
  if (isNothing && (await isEmpty(ctx))) {
    ctx.err(EMPTY);
    return;
  }
  if (answer.suggestion !== null)
    ctx.err(`Nothing fits. Did you mean: sessarc search ${toArgument(answer.suggestion)}`);
  else if (isNothing) ctx.err("Nothing fits. Fewer words find more; `sessarc import` imports what is new.");
  const { sessions, relation } = answer.total;
  const shown = answer.results.length;
  if (answer.damaged > 0)
    ctx.err(
      `${formatCount(answer.damaged)} ${answer.damaged === 1 ? "session" : "sessions"} could not be read: sessarc doctor --fix`,
    );
  if (isNothing) return;
  ctx.err(
    sessions > shown
      ? `${formatCount(shown)} of ${relation === "gte" ? "at least " : ""}${formatCount(sessions)} sessions; --limit shows more`
      : `${formatCount(sessions)} ${sessions === 1 ? "session" : "sessions"}`,
  );
  const [first] = answer.results;
  const [hit] = first?.matches ?? [];
  if (first && hit)
    ctx.err(`\`sessarc show ${ids.get(first.session.id)}#${hit.seq}\` opens the session at that match.`);
}

function printTraces(ctx: CommandContext, traces: SearchAnswer["traces"], style: Style): void {
  if (!traces || traces.total === 0) return;
  const [are, logs] = traces.total === 1 ? ["session", "log was"] : ["sessions", "logs were"];
  ctx.out(style.bold(`Only the prompts are left of ${formatCount(traces.total)} ${are}, whose ${logs} deleted:`));
  for (const { trace, project, matches } of traces.results) {
    const facts = [trace.id, project?.name ?? trace.cwd ?? "", trace.endedAt?.slice(0, 10) ?? ""];
    ctx.out(
      style.dim(
        facts
          .filter(Boolean)
          .map((fact) => oneLine(printable(fact)))
          .join("  "),
      ),
    );
    for (const match of matches) ctx.out(`  ${style.dim(`#${match.seq}`)}  ${highlight(match, style)}`);
  }
  ctx.out("");
}

/** Characters before a match that say what it is about. */
const BEFORE = 20;

/** The part of the snippet around its first match that fits. */
function fitMatch(match: Match, columns: number): Match {
  const snippet = match.snippet.replace(/\s/g, " ");
  if (widthOf(snippet) <= columns) return { ...match, snippet };
  const [first = 0, last = 0] = match.ranges[0] ?? [];
  const start = last <= columns - 1 ? 0 : toStart(snippet, first);
  const head = start > 0 ? "…" : "";
  const text = fitColumns(head + snippet.slice(start), Math.max(BEFORE, columns));
  const end = text.endsWith("…") ? text.length - 1 : text.length;
  const ranges = match.ranges
    .map(([from, to]): [number, number] => [from - start + head.length, Math.min(to - start + head.length, end)])
    .filter(([from, to]) => from >= head.length && from < to);
  return { ...match, snippet: text, ranges };
}

/** Some characters before the match: where a word begins, else a folder of a path. */
function toStart(snippet: string, first: number): number {
  const from = Math.max(0, first - BEFORE);
  const before = snippet.slice(from, first);
  const space = before.indexOf(" ");
  const folder = before.search(/[/\\]/);
  return from === 0 ? 0 : from + (space >= 0 ? space + 1 : folder >= 0 ? folder + 1 : 0);
}

/** The snippet on one line with its matches marked; nothing in it can steer the terminal. */
function highlight({ snippet, ranges }: Match, style: Style): string {
  let text = "";
  let at = 0;
  for (const [start, end] of ranges) {
    text += oneLine(printable(snippet.slice(at, start)));
    text += style.mark(oneLine(printable(snippet.slice(start, end))));
    at = end;
  }
  return text + oneLine(printable(snippet.slice(at)));
}

/** The ends stay: a match is cut out of a line. */
const oneLine = (text: string) => text.replace(/\s+/g, " ");
