/** `sessarc receipt --notes [range]`, formerly `sessarc notes write [range]`. */
import { exec } from "sessarc/files";
import { type CommandContext, send, UsageError } from "sessarc/terminal";
import type { NotesWritten } from "../authorship/routes.ts";
import { askProject } from "./_project.ts";
import { plural } from "./_text.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [word, range, ...more] = ctx.args;
  if (word !== "write" || more.length > 0) throw new UsageError("Say what to do: sessarc receipt --notes [range]");
  return writeNotes(ctx, range);
}

export async function writeNotes(ctx: CommandContext, range: string | undefined): Promise<number> {
  const convert = ctx.flags.convert === true;
  if (convert && range !== undefined) throw new UsageError("--convert takes no range");
  const body = { range, prompts: ctx.flags.prompts === true, convert };
  let folder = ctx.cwd;
  const written = await askProject(ctx, ctx.flags.project, (project, path) => {
    folder = path ?? folder;
    return send<NotesWritten>(ctx, "POST", `/projects/${encodeURIComponent(project)}/git-notes`, body, ctx.signal);
  });
  const { ref, commits, merged, disagreeing, converted } = written;
  if (ctx.json) ctx.answer(written);
  else if (commits.length === 0)
    ctx.err(
      convert ? "No commit has a note under refs/notes/sessarc." : "No commit of this range has lines of a session.",
    );
  else {
    ctx.out(`${plural(commits.length, "note")} under ${ref}`);
    if (converted > 0) ctx.out(`${plural(converted, "note")} under refs/notes/sessarc removed`);
    if (merged > 0)
      ctx.out(
        `${plural(merged, "commit")} already had a note of git-ai: its lines are unchanged, the others were added${
          disagreeing > 0 ? `. For ${plural(disagreeing, "line")} it names another session than the archive` : ""
        }`,
      );
    ctx.err(`\`git log --notes=${ref.slice("refs/notes/".length)}\` shows them.`);
  }
  if (commits.length === 0) return 3;
  if (ctx.flags.push === true) return pushNotes(ctx, folder, ref);
  if (!ctx.json) ctx.err(`They stay in this repository. To share them: git push <remote> ${ref}`);
  return 0;
}

const PUSH_MS = 120_000;

/** From this terminal, with the user's own git, keys and helpers; the service has none of these. */
async function pushNotes(ctx: CommandContext, folder: string, ref: string): Promise<number> {
  const options = { cwd: folder, env: ctx.env.env, timeoutMs: PUSH_MS, signal: ctx.signal };
  const git = async (...args: string[]) => {
    const { code, stdout, stderr } = await exec("git", args, options);
    return { code, text: `${stdout}`.trim(), reason: `${stderr}`.trim() };
  };
  const branch = await git("symbolic-ref", "--quiet", "--short", "HEAD");
  const named = await git("config", "--get", `branch.${branch.text}.remote`);
  const remote = named.code === 0 && named.text !== "" ? named.text : "origin";
  const { code, reason } = await git("push", "--quiet", remote, `${ref}:${ref}`);
  if (code !== 0) {
    ctx.err(`The notes were written, but git could not push them to ${remote}: ${reason}`);
    return 1;
  }
  if (!ctx.json) ctx.err(`Pushed to ${remote}`);
  return 0;
}
