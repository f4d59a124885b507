/** `sessarc notes write [range]`. */
import { type CommandContext, send, UsageError } from "sessarc/terminal";
import type { NotesWritten } from "../receipt/routes.ts";
import { readProject } from "./_project.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [word, range = "last", ...more] = ctx.args;
  if (word !== "write" || more.length > 0) throw new UsageError("Say what to do: sessarc notes write [range]");
  const project = await readProject(ctx, ctx.flags.project);
  const { ref, commits } = await send<NotesWritten>(
    ctx,
    "POST",
    `/projects/${encodeURIComponent(project)}/git-notes`,
    { range, prompts: ctx.flags.prompts === true },
    ctx.signal,
  );
  if (ctx.json) ctx.answer({ ref, commits });
  else if (commits.length === 0) ctx.err("No commit of this range has lines of a session.");
  else {
    ctx.out(`${commits.length} ${commits.length === 1 ? "note" : "notes"} under ${ref}`);
    ctx.err(`They stay in this repository. \`git log --notes=${ref.slice("refs/notes/".length)}\` shows them.`);
  }
  return commits.length > 0 ? 0 : 3;
}
