/** `sessarc receipt --notes [range]`, formerly `sessarc notes write [range]`. */
import { type CommandContext, send, UsageError } from "sessarc/terminal";
import type { NotesWritten } from "../receipt/routes.ts";
import { askProject } from "./_project.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [word, range = "last", ...more] = ctx.args;
  if (word !== "write" || more.length > 0) throw new UsageError("Say what to do: sessarc receipt --notes [range]");
  return writeNotes(ctx, range);
}

export async function writeNotes(ctx: CommandContext, range: string): Promise<number> {
  const body = { range, prompts: ctx.flags.prompts === true };
  const { ref, commits } = await askProject(ctx, ctx.flags.project, (project) =>
    send<NotesWritten>(ctx, "POST", `/projects/${encodeURIComponent(project)}/git-notes`, body, ctx.signal),
  );
  if (ctx.json) ctx.answer({ ref, commits });
  else if (commits.length === 0) ctx.err("No commit of this range has lines of a session.");
  else {
    ctx.out(`${commits.length} ${commits.length === 1 ? "note" : "notes"} under ${ref}`);
    ctx.err(`They stay in this repository. \`git log --notes=${ref.slice("refs/notes/".length)}\` shows them.`);
  }
  return commits.length > 0 ? 0 : 3;
}
