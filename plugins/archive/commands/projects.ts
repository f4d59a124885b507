import {
  type Column,
  type CommandContext,
  createStyle,
  formatAge,
  formatCount,
  formatTable,
  printable,
} from "sessarc/terminal";
import type { Project } from "../catalogue/types.ts";
import { textFlag } from "./_flags.ts";
import { nothingListed } from "./_session.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const wanted = ctx.args.join(" ").trim().toLowerCase();
  const tool = textFlag(ctx, "tool");
  const git = ctx.flags.git === true;
  const all = await ctx.get<Project[]>("/projects", { git: git ? undefined : "0" }, ctx.signal);
  if (tool !== undefined) await checkTool(ctx, tool, all);
  const projects = all.filter(
    (project) =>
      (tool === undefined || project.tools.includes(tool)) &&
      [project.name, project.path ?? "", project.id].some((text) => text.toLowerCase().includes(wanted)),
  );
  if (ctx.json) ctx.answer(projects);
  else if (projects.length === 0) ctx.err(await nothingListed(ctx, "project"));
  else ctx.out(table(ctx, projects, git));
  return projects.length > 0 ? 0 : 3;
}

/** A tool without projects may still be one: the service knows. */
async function checkTool(ctx: CommandContext, tool: string, projects: readonly Project[]): Promise<void> {
  if (projects.some((project) => project.tools.includes(tool))) return;
  await ctx.get("/sessions", { tool, limit: "1" }, ctx.signal);
}

/** Columns from which counts and assistants have room beside the path. */
const WIDE = 120;

function table(ctx: CommandContext, projects: readonly Project[], git: boolean): string {
  const wide = ctx.columns === undefined || ctx.columns >= WIDE;
  const columns: (Column<Project> | false)[] = [
    { title: "age", align: "right", value: (it) => formatAge(it.lastActiveAt) },
    { title: "name", value: (it) => printable(it.name), shrink: true },
    { title: "sessions", align: "right", value: (it) => formatCount(it.sessionCount) },
    wide && { title: "messages", align: "right", value: (it) => formatCount(it.messageCount) },
    wide && { title: "assistants", value: (it) => it.tools.join(" "), shrink: true },
    git && { title: "git", value: toGit },
    { title: "path", value: (it) => printable(it.path ?? "(no folder)"), shrink: true },
    { title: "id", value: (it) => it.id },
  ];
  return formatTable(
    columns.filter((column) => column !== false),
    projects,
    { head: createStyle(ctx.colour).dim, width: ctx.columns },
  );
}

/** `main*`: the branch, or the commit of a detached head; a star for changes. */
function toGit({ git }: Project): string {
  if (!git || "timedOut" in git) return "";
  return printable(`${git.branch ?? git.head?.slice(0, 8) ?? ""}${git.dirty ? "*" : ""}`);
}
