/** `sessarc recall`. */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { type CommandContext, printable, UsageError, wrapColumns } from "sessarc/terminal";
import type { Answer } from "./answer/contract.ts";
import { OFFER_ACTIONS } from "./offer/command.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [action = ""] = ctx.args;
  const act = ctx.args.length === 1 && Object.hasOwn(OFFER_ACTIONS, action) ? OFFER_ACTIONS[action] : undefined;
  if (act) return act(ctx);
  const question = ctx.args.join(" ").trim() || undefined;
  const { file, command, error, project, tokens } = texts(ctx);
  if ([question, file, command, error].every((one) => one === undefined))
    throw new UsageError("Ask a question, or pass --file, --command or --error");
  if (tokens !== undefined && !(/^\d{1,4}$/.test(tokens) && Number(tokens) >= 50 && Number(tokens) <= 8_000))
    throw new UsageError(`--tokens takes 50 to 8000, not ${JSON.stringify(tokens)}`);
  const near = await realpath(ctx.cwd).catch(() => ctx.cwd);
  // Sessions name files from their own folder on: only a path that leaves this one is resolved.
  const path = file?.startsWith("..") ? resolve(near, file) : file;
  const query = { q: question, file: path, command, error, project, tokens, near };
  const answer = await ctx.get<Answer>("/recall", query, ctx.signal);
  if (ctx.json) ctx.answer(answer);
  else if (answer.evidence.length > 0) ctx.out(wrapped(printable(answer.text), ctx.columns));
  else if ((await ctx.get<{ total: number }>("/sessions", { limit: "1" }, ctx.signal)).total === 0)
    ctx.err("The archive is empty. `sessarc import` imports what your assistants logged.");
  else ctx.err("Nothing in the archive answers this.");
  return answer.evidence.length > 0 ? 0 : 3;
}

/** A line of evidence is longer than a terminal is wide. */
const wrapped = (text: string, columns = Number.POSITIVE_INFINITY): string =>
  text
    .split("\n")
    .flatMap((line) => wrapColumns(line, columns, /^\d+\. /.test(line) ? "   " : ""))
    .join("\n");

type Flag = "file" | "command" | "error" | "project" | "tokens";

function texts({ flags }: CommandContext): Partial<Record<Flag, string>> {
  const found: Partial<Record<Flag, string>> = {};
  for (const name of ["file", "command", "error", "project", "tokens"] as const) {
    const value = flags[name];
    if (typeof value === "string" && value.trim() !== "") found[name] = value;
  }
  return found;
}
