import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { type CommandContext, createStyle, formatTable, printable, send, UsageError } from "sessarc/terminal";
import { BUILDS } from "./forms.ts";
import { type PluginPlan, type PluginStatus, writeForm } from "./install.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const [action, folder] = ctx.args;
  if (action === undefined) return status(ctx);
  if (action === "build") return build(ctx, folder);
  if (action === "install") return install(ctx, readTool(ctx));
  if (action === "uninstall") return uninstall(ctx, readTool(ctx));
  throw new UsageError(`\`sessarc agent-plugin\` takes no ${JSON.stringify(action)}`);
}

function readTool({ flags }: CommandContext): string {
  if (typeof flags.tool !== "string") throw new UsageError("Say which assistant: `--tool claude-code`");
  return flags.tool;
}

async function status(ctx: CommandContext): Promise<number> {
  const all = await ctx.get<PluginStatus[]>("/agent-plugin");
  if (ctx.json) ctx.out(JSON.stringify(all));
  else {
    const here = all.filter(({ installed, present }) => installed || present);
    const others = all.filter((one) => !here.includes(one));
    if (here.length > 0) ctx.out(table(ctx, here));
    if (others.length > 0)
      ctx.err(`Not on this machine, as far as is known: ${others.map(({ tool }) => printable(tool)).join(", ")}`);
    const next = here.find(({ installed, outdated }) => !installed || outdated);
    if (next)
      ctx.err(
        `\`sessarc agent-plugin install --tool ${printable(next.tool)}\` installs it; --dry-run only shows the files.`,
      );
  }
  return 0;
}

const table = (ctx: CommandContext, rows: readonly PluginStatus[]): string =>
  formatTable(
    [
      { title: "assistant", value: ({ tool }) => printable(tool) },
      { title: "what", value: ({ what }) => (what === "plugin" ? "plugin" : "skill alone") },
      {
        title: "state",
        value: ({ installed, outdated }) => (outdated ? "outdated" : installed ? "installed" : "not installed"),
      },
      { title: "where", value: ({ folder }) => printable(folder ?? "by its own command"), shrink: true },
    ],
    rows,
    { head: createStyle(ctx.colour).dim, width: ctx.columns },
  );

/** Writes a form into a folder; needs no service. */
async function build(ctx: CommandContext, folder: string | undefined): Promise<number> {
  if (folder === undefined) throw new UsageError("Name the folder to write: `sessarc agent-plugin build plugin`");
  const form = typeof ctx.flags.form === "string" ? ctx.flags.form : "agent-plugin";
  const files = Object.hasOwn(BUILDS, form) ? BUILDS[form] : undefined;
  if (!files) throw new UsageError(`--form is one of ${Object.keys(BUILDS).join(", ")}`);
  const target = resolve(ctx.cwd, folder);
  const there = await readdir(target).catch((error: NodeJS.ErrnoException) =>
    error.code === "ENOENT" ? [] : undefined,
  );
  if (!there || there.length > 0) throw new UsageError(`${printable(target)} is not an empty folder`);
  const paths = Object.keys(files);
  if (ctx.flags["dry-run"] !== true) await writeForm(target, files);
  if (ctx.json) ctx.out(JSON.stringify({ folder: target, files: paths }));
  else {
    for (const path of paths) ctx.out(printable(path));
    if (ctx.flags["dry-run"] !== true) ctx.err(`Wrote ${paths.length} files to ${printable(target)}`);
  }
  return 0;
}

async function install(ctx: CommandContext, tool: string): Promise<number> {
  const dryRun = ctx.flags["dry-run"] === true;
  const plan = await send<PluginPlan>(ctx, "POST", "/agent-plugin/install", { tool, dryRun });
  if (ctx.json) ctx.out(JSON.stringify(plan));
  else {
    for (const { path, change } of plan.files) ctx.out(`${change.padEnd(8)}${printable(path)}`);
    if (dryRun) ctx.err("Nothing was written. Without --dry-run these files are.");
    if (plan.commands.length > 0) ctx.err(`${printable(tool)} takes it by its own command:`);
    for (const line of plan.commands) ctx.err(`  ${printable(line)}`);
    if (!plan.onPath) ctx.err("`sessarc` is not on the PATH, and the plugin starts it: npm install -g sessarc");
  }
  return 0;
}

async function uninstall(ctx: CommandContext, tool: string): Promise<number> {
  const answer = await send<{ removed: boolean; commands: string[] }>(ctx, "POST", "/agent-plugin/uninstall", { tool });
  if (ctx.json) ctx.out(JSON.stringify(answer));
  else {
    ctx.out(answer.removed ? `Removed it from ${printable(tool)}` : `It was not installed for ${printable(tool)}`);
    if (answer.commands.length > 0) ctx.err(`${printable(tool)} forgets its own copy with:`);
    for (const line of answer.commands) ctx.err(`  ${printable(line)}`);
  }
  return 0;
}
