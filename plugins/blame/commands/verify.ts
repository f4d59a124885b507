/** `sessarc verify [commit|branch|base..head|last]`. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type CommandContext, formatCount, formatMoney, formatTable, send, UsageError } from "sessarc/terminal";
import type { CheckOutcome } from "../verify/checks.ts";
import { KEY_FILE, type VerifyAnswer } from "../verify/routes.ts";
import { checkEnvelope, type Envelope, readPublicKey } from "../verify/statement.ts";
import type { LineCounts, VerifiedCommit, VerifiedSession } from "../verify/verify.ts";
import { inFolder } from "./_project.ts";
import { cell, plural, shown } from "./_text.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [range = "last", ...more] = ctx.args;
  if (more.length > 0) throw new UsageError("Name one range: sessarc verify <commit|branch|base..head|last>");
  const { check, key, format = "text", project } = ctx.flags;
  if (typeof check === "string") return checkFile(ctx, check, key);
  if (key !== undefined) throw new UsageError("--key needs --check");
  const place = typeof project === "string" ? { project } : { path: `${ctx.cwd}/.` };
  try {
    if (format === "in-toto") return await printStatement(ctx, { ...place, range });
    const found = await ctx.get<VerifyAnswer>("/git/verify", { ...place, range }, ctx.signal);
    if (ctx.json) ctx.answer(found);
    else if (format === "md") ctx.out(toMarkdown(found, ctx.flags.titles === true));
    else if (format === "sarif") ctx.out(JSON.stringify(toSarif(found), null, 2));
    else ctx.out(toText(found, ctx));
    if (format !== "text" || ctx.json) for (const problem of found.problems) ctx.err(problem);
    return found.problems.length > 0 ? 1 : found.commits.length > 0 ? 0 : 3;
  } catch (error) {
    throw inFolder(error, ctx.cwd, "Run it in a git repository, or name a project: --project <name>.");
  }
}

async function printStatement(ctx: CommandContext, body: object): Promise<number> {
  const { envelope } = await send<{ envelope: Envelope }>(ctx, "POST", "/git/attest", body, ctx.signal);
  if (ctx.json) ctx.answer(envelope);
  else ctx.out(JSON.stringify(envelope));
  return 0;
}

/** Without the service: a file, and the key of this machine or the one that is named. */
async function checkFile(ctx: CommandContext, file: string, key: unknown): Promise<number> {
  const envelope = await readFile(resolve(ctx.cwd, file), "utf8");
  const pem = await readFile(typeof key === "string" ? resolve(ctx.cwd, key) : ctx.path(KEY_FILE), "utf8");
  const { subject, predicate } = checkEnvelope(envelope, readPublicKey(pem));
  if (ctx.json) ctx.answer({ valid: true, subject, total: predicate.total });
  else ctx.out(`Valid: ${plural(subject.length, "commit")}, ${sentence(predicate.total)}`);
  return 0;
}

const sumOf = ({ assistant, mixed, person, unknown }: LineCounts) => assistant + mixed + person + unknown;

/** "120 added lines: 80 % by assistants, 15 % by people, 5 % unknown". */
function sentence(counts: LineCounts): string {
  const all = sumOf(counts);
  const part = (count: number, words: string) => (count > 0 ? [`${percent(count, all)} ${words}`] : []);
  const parts = [
    ...part(counts.assistant, "by assistants"),
    ...part(counts.mixed, "by both"),
    ...part(counts.person, "by people"),
    ...part(counts.unknown, "unknown"),
  ];
  return `${plural(all, "added line")}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`;
}

/** Never 0 % or 100 % of what is not none or all. */
function percent(count: number, all: number): string {
  const share = Math.round((count / all) * 100);
  if (share === 0) return "<1 %";
  return share === 100 && count < all ? ">99 %" : `${share} %`;
}

const OUTCOMES: Record<CheckOutcome, string> = {
  passed: "passed",
  failed: "failed",
  stale: "before the last change",
  none: "not run",
};

const money = ({ microdollars }: VerifiedSession) => (microdollars === null ? "no price" : formatMoney(microdollars));

function toText(found: VerifyAnswer, ctx: CommandContext): string {
  const { commits, sessions, secrets, total, rewritten, problems, notesOnly } = found;
  const options = { width: ctx.columns };
  const rows = [`${plural(commits.length, "commit")}, ${sentence(total)}`];
  if (notesOnly)
    rows.push("No session of this repository is archived.", "Only git notes and commit messages were read.");
  if (rewritten > 0) rows.push(`${plural(rewritten, "line")} by assistants rewritten or reverted since`);
  if (commits.length > 0)
    rows.push(
      "",
      formatTable<VerifiedCommit>(
        [
          { title: "commit", value: ({ hash }) => hash.slice(0, 8) },
          { title: "assistant", align: "right", value: ({ assistant }) => formatCount(assistant) },
          { title: "both", align: "right", value: ({ mixed }) => formatCount(mixed) },
          { title: "person", align: "right", value: ({ person }) => formatCount(person) },
          { title: "unknown", align: "right", value: ({ unknown }) => formatCount(unknown) },
          { title: "subject", value: ({ subject }) => shown(subject), shrink: true },
        ],
        commits,
        options,
      ),
    );
  for (const { trailer, hash } of commits)
    if (trailer) rows.push(`${hash.slice(0, 8)} is an assistant's by its message: ${shown(trailer.trailer)}`);
  if (sessions.length > 0)
    rows.push(
      "",
      formatTable<VerifiedSession>(
        [
          { title: "lines", align: "right", value: ({ lines }) => formatCount(lines) },
          { title: "cost", align: "right", value: money },
          { title: "tests", value: ({ checks }) => OUTCOMES[checks.tests] },
          { title: "types", value: ({ checks }) => OUTCOMES[checks.types] },
          { title: "session", value: ({ title, id }) => shown(title ?? id), shrink: true },
        ],
        sessions,
        options,
      ),
    );
  rows.push(
    "",
    secrets.length === 0 ? "No secret in added lines" : `${plural(secrets.length, "secret")} in added lines`,
  );
  for (const { path, line, rule, confidence } of secrets)
    rows.push(`  ${shown(path)}:${line}  ${shown(rule)} (${confidence})`);
  if (problems.length > 0) rows.push("", ...problems);
  return rows.join("\n");
}

/** For a pull request: short, no prompts; titles of sessions only on request. */
function toMarkdown({ commits, sessions, secrets, total, problems }: VerifyAnswer, titles: boolean): string {
  const rows = [
    "### Who wrote this",
    "",
    `${plural(commits.length, "commit")}, ${sentence(total)}.`,
    "",
    "| commit | assistant | both | person | unknown |",
    "|---|--:|--:|--:|--:|",
    ...commits.map(
      (one) =>
        `| ${one.hash.slice(0, 8)} | ${formatCount(one.assistant)} | ${formatCount(one.mixed)} | ${formatCount(one.person)} | ${formatCount(one.unknown)} |`,
    ),
  ];
  if (sessions.length > 0)
    rows.push(
      "",
      `| assistant | models | lines | cost | tests | types |${titles ? " session |" : ""}`,
      `|---|---|--:|--:|---|---|${titles ? "---|" : ""}`,
      ...sessions.map(
        (one) =>
          `| ${cell(one.tool)} | ${cell(one.models.join(", "))} | ${formatCount(one.lines)} | ${money(one)} | ${OUTCOMES[one.checks.tests]} | ${OUTCOMES[one.checks.types]} |${titles ? ` ${cell(one.title ?? "")} |` : ""}`,
      ),
    );
  rows.push(
    "",
    secrets.length === 0 ? "No secret in added lines." : `**${plural(secrets.length, "secret")} in added lines.**`,
  );
  for (const { path, line, rule } of secrets) rows.push(`- ${cell(path)}:${line} ${cell(rule)}`);
  for (const problem of problems) rows.push("", `**${cell(problem)}**`);
  rows.push("", "<sub>Made by sessarc from session logs, git notes and commit messages.</sub>");
  return rows.join("\n");
}

const LEVELS = { definite: "error", probable: "warning", possible: "note" } as const;

/** SARIF 2.1.0 of the secrets: code hosts show them beside the lines. */
function toSarif({ secrets }: VerifyAnswer): object {
  const ids = [...new Set(secrets.map(({ rule }) => rule))];
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "sessarc",
            informationUri: "https://github.com/sessarc/sessarc",
            rules: ids.map((id) => ({ id, shortDescription: { text: id } })),
          },
        },
        results: secrets.map(({ rule, confidence, path, line, commit }) => ({
          ruleId: rule,
          ruleIndex: ids.indexOf(rule),
          level: LEVELS[confidence],
          message: { text: `${rule} in a line that commit ${commit.slice(0, 8)} added` },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: path.split("/").map(encodeURIComponent).join("/") },
                region: { startLine: Math.max(1, line) },
              },
            },
          ],
        })),
      },
    ],
  };
}
