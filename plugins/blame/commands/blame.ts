/** `sessarc blame <file>[:line|:from-to]`. */
import { dirname, resolve } from "node:path";
import {
  type CommandContext,
  createStyle,
  formatAge,
  formatMoney,
  isRedacted,
  oneLine,
  printable,
  toShortIds,
  UsageError,
} from "sessarc/terminal";
import { type TraceRecord, toTraceRecord } from "../authorship/agent-trace.ts";
import type { LineOrigins, WriterDetail } from "../reasons.ts";
import { inFolder } from "./_project.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [named, ...more] = ctx.args;
  if (named === undefined || more.length > 0) throw new UsageError("Name one file: sessarc blame <file>[:line]");
  const { file, from, to } = placeIn(named);
  const porcelain = ctx.flags.porcelain === true;
  const query = {
    path: resolve(ctx.cwd, file),
    at: typeof ctx.flags.at === "string" ? ctx.flags.at : undefined,
    from: from?.toString(),
    to: to?.toString(),
    headers: porcelain ? "1" : undefined,
    redacted: isRedacted(ctx) ? "1" : undefined,
  };
  const answer = await ctx.get<LineOrigins>("/git/writers", query, ctx.signal).catch((error: unknown) => {
    throw inFolder(error, dirname(query.path), "Name a file of a git repository.");
  });
  if (ctx.json) ctx.answer(answer);
  else if (!answer.lines) ctx.err(`${answer.path} is binary or larger than 2 MiB.`);
  else if (ctx.flags.format === "agent-trace") ctx.out(JSON.stringify(toRecord(answer)));
  else if (porcelain) ctx.out(toPorcelain(answer));
  else if (answer.lines.length === 0) ctx.err(`${printable(answer.path)} has no such line.`);
  else ctx.out(toText(answer, ctx));
  return answer.lines && answer.lines.length > 0 ? 0 : 3;
}

/** The lines that were asked for, by their numbers in the version of the answer. */
function toRecord({ commit, at, path, lines, writers }: LineOrigins): TraceRecord {
  const authors = new Map<string, { session: string; model: string | null; lines: number[] }>();
  for (const { number, writer } of lines ?? []) {
    const found = writer === null ? undefined : writers[writer];
    if (!found) continue;
    const { sessionId: session, model } = found;
    const key = `${session} ${model}`;
    const one = authors.get(key) ?? { session, model, lines: [] };
    authors.set(key, one);
    one.lines.push(number);
  }
  return toTraceRecord({ hash: commit, at }, new Map([[path, [...authors.values()]]]));
}

/** `src/a.ts:3-9`. A name that itself ends so is reached by a range after it. */
function placeIn(text: string): { file: string; from?: number; to?: number } {
  const match = /^(.+?):(\d+)(?:-(\d+))?$/.exec(text);
  if (!match?.[1]) return { file: text };
  const from = Number(match[2]);
  const to = match[3] === undefined ? from : Number(match[3]);
  if (from < 1 || to < from) throw new UsageError(`Lines count from 1, and a range goes up: ${text}`);
  return { file: match[1], from, to };
}

const NOBODY = "written by no archived session";

function toText(answer: LineOrigins, ctx: CommandContext): string {
  const style = createStyle(ctx.colour);
  const lines = answer.lines ?? [];
  const width = String(lines.at(-1)?.number ?? 1).length;
  const letters = answer.writers.map((_, i) => toLetter(i));
  const column = Math.max(1, ...letters.map((letter) => letter.length));
  const rows = lines.map(({ number, text, writer, evidence }) => {
    const letter = writer === null ? "·" : (letters[writer] ?? "");
    const mark = evidence === "part" ? "~" : evidence === "near" ? "+" : " ";
    return `${letter.padEnd(column)}${mark} ${String(number).padStart(width)}  ${printable(text)}`;
  });
  const ids = toShortIds(answer.writers.map(({ sessionId }) => sessionId));
  const legend = answer.writers.map((writer, i) =>
    describe(letters[i] ?? "", writer, ids.get(writer.sessionId) ?? writer.sessionId, style),
  );
  const noted = lines.filter((line) => line.noted !== null);
  for (const name of new Set(
    noted.map((line) => clip([line.noted?.tool, line.noted?.model].filter(Boolean).join(" "), 80)),
  ))
    legend.push(`·  a note of git-ai names ${name}`);
  const unknown = lines.filter(({ writer }) => writer === null).length;
  if (unknown > 0) legend.push(`·  ${NOBODY} (${unknown} ${unknown === 1 ? "line" : "lines"})`);
  if (lines.some(({ evidence }) => evidence === "part")) legend.push("~  the session wrote a part of the line");
  if (lines.some(({ evidence }) => evidence === "near"))
    legend.push("+  a bracket or a blank line among lines of the session");
  return [...rows, "", ...legend].join("\n");
}

/** `id`: of the session, as the list of sessions prints it. */
function describe(letter: string, writer: WriterDetail, id: string, style: ReturnType<typeof createStyle>): string {
  const { seq, at, name, model, title, prompt, cost, reads } = writer;
  const facts = [formatAge(at), model, `${name} in message ${seq}`, `sessarc show ${id}#${seq}`];
  const rows = [`${letter}  ${clip(title ?? "(untitled)", 80)}`, `   ${facts.filter(Boolean).join(" · ")}`];
  const price = cost && cost.unpriced.length === 0 ? ` (${formatMoney(cost.microdollars)})` : "";
  if (prompt) rows.push(`   Prompt${price}: ${clip(prompt.text, 200)}`);
  if (prompt?.answers) rows.push(`   In reply to: ${clip(prompt.answers.text, 300)}`);
  for (const read of reads.slice(0, 5))
    rows.push(style.dim(`   Because of message ${read.seq}, ${read.tool_name}: ${clip(read.reason, 160)}`));
  return rows.join("\n");
}

const clip = (text: string, most: number): string => {
  const line = oneLine(printable(text));
  return line.length > most ? `${line.slice(0, most)}…` : line;
};

/** A … Z, AA … */
const toLetter = (n: number): string =>
  (n >= 26 ? toLetter(Math.floor(n / 26) - 1) : "") + String.fromCharCode(65 + (n % 26));

/** The form of `git blame --porcelain`; headers of the writer come with each line that has one, after those of the commit. */
function toPorcelain({ lines, commits, writers, headers }: LineOrigins): string {
  const rows: string[] = [];
  const seen = new Set<number>();
  for (const [i, line] of (lines ?? []).entries()) {
    const commit = commits[line.commit];
    const before = lines?.[i - 1];
    const starts = !before || before.commit !== line.commit || before.original + 1 !== line.original;
    let size = 1;
    if (starts)
      for (let j = i + 1; ; j++, size++) {
        const next = lines?.[j];
        if (!next || next.commit !== line.commit || next.original !== line.original + size) break;
      }
    rows.push(`${commit?.hash} ${line.original} ${line.number}${starts ? ` ${size}` : ""}`);
    if (!seen.has(line.commit)) {
      seen.add(line.commit);
      rows.push(...(headers?.[line.commit] ?? []), `filename ${commit?.path}`);
    }
    const writer = line.writer === null ? undefined : writers[line.writer];
    if (writer) {
      rows.push(`sessarc-session ${writer.sessionId}`, `sessarc-seq ${writer.seq}`);
      rows.push(`sessarc-tool ${writer.name}`, `sessarc-evidence ${line.evidence}`);
      if (writer.model) rows.push(`sessarc-model ${clip(writer.model, 200)}`);
      if (writer.prompt) rows.push(`sessarc-prompt ${writer.prompt.seq}`);
      if (writer.cost) rows.push(`sessarc-prompt-microdollars ${writer.cost.microdollars}`);
    }
    rows.push(`\t${line.text}`);
  }
  return rows.join("\n");
}
