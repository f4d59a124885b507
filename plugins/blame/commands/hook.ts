/** `sessarc receipt --hook install|uninstall`, and what the hook runs: `sessarc receipt --message <file>`. */
import { resolve } from "node:path";
import { cliFile, exec, quoted } from "sessarc/files";
import { type CommandContext, printable, UsageError } from "sessarc/terminal";
import { createHooks } from "../hook/install.ts";
import type { StagedSession } from "../hook/staged.ts";

const GIT_MS = 10_000;
/** Sessions named in one message. */
const MOST = 5;

/** From this terminal, or from git's hook: with the user's own git, and the index of the commit that is made. */
async function git(ctx: CommandContext, ...args: string[]): Promise<{ code: number | null; text: string }> {
  const options = { cwd: ctx.cwd, env: ctx.env.env, timeoutMs: GIT_MS, signal: ctx.signal };
  const { code, stdout } = await exec("git", args, options);
  return { code, text: `${stdout}`.replace(/\n$/, "") };
}

export async function runHook(ctx: CommandContext, what: unknown): Promise<number> {
  const { code, text: path } = await git(
    ctx,
    ...["rev-parse", "--path-format=absolute", "--git-path", "hooks/prepare-commit-msg"],
  );
  if (code !== 0) throw new UsageError(`${ctx.cwd} is not in a git repository`);
  const hooks = createHooks(ctx.path("files", "backups", "git-hooks"));
  if (what === "install") {
    const words = [process.execPath, cliFile(), "receipt", "--data-dir", ctx.config.dataDir, "--message"];
    const changed = await hooks.install({ path, command: words.map((word) => quoted(word)).join(" ") });
    if (ctx.json) ctx.answer(changed);
    else {
      ctx.out(printable(`${path} names session and assistant in commit messages (Assisted-by)`));
      if (changed.backupPath !== null)
        ctx.out(printable(`What was in it still runs; a copy is in ${changed.backupPath}`));
    }
    return 0;
  }
  if (what !== "uninstall") throw new UsageError("--hook takes install or uninstall");
  const changed = await hooks.uninstall(path);
  if (ctx.json) ctx.answer({ path, ...changed });
  else ctx.out(printable(changed.removed ? `Removed from ${path}` : `${path} has nothing of sessarc`));
  return changed.removed ? 0 : 3;
}

/** Adds a line `Assisted-by` to the message for each session that wrote staged lines. */
export async function runMessage(ctx: CommandContext, file: string): Promise<number> {
  // What a merge brings has its own commits.
  if ((await git(ctx, "rev-parse", "--verify", "--quiet", "MERGE_HEAD")).code === 0) return 0;
  const { code, text: tree } = await git(ctx, "write-tree");
  if (code !== 0) throw new UsageError(`${ctx.cwd} has no commit in preparation`);
  const query = { path: `${ctx.cwd}/.`, tree };
  const { sessions } = await ctx.get<{ sessions: StagedSession[] }>("/git/staged", query, ctx.signal);
  if (sessions.length === 0) return 3;
  const trailers = sessions.slice(0, MOST).flatMap((one) => ["--trailer", toTrailer(one)]);
  const args = ["interpret-trailers", "--in-place", "--if-exists", "addIfDifferent", ...trailers];
  return (await git(ctx, ...args, resolve(ctx.cwd, file))).code === 0 ? 0 : 1;
}

/** The form of the Linux kernel, `<agent>:<model>`, and the session. */
const toTrailer = ({ tool, model, session }: StagedSession) =>
  `Assisted-by: ${tool}${model === null ? "" : `:${model}`} [session ${session}]`.replaceAll(/\s+/g, " ");
