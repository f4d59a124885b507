/** `sessarc skills …`: each action is a call of the API and its answer in words. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type CommandContext, createStyle, printable, send, UsageError } from "sessarc/terminal";
import type { FoundSkill, GitImport } from "../ops/import.ts";
import type { Deleted } from "../ops/linking.ts";
import type { UpdatePlan } from "../ops/update.ts";
import type { Scan, Skill, SkillDetail, Snapshot } from "../types.ts";
import { init } from "./init.ts";
import { install } from "./install.ts";
import { lock } from "./lock.ts";
import { showPlan } from "./plan.ts";
import { detailText, scanText, skillsText, snapshotsText } from "./text.ts";

const NOTHING = 3;

type Action = (ctx: CommandContext, args: readonly string[]) => Promise<number>;

/** What follows its name, and how many words that is at least and at most. */
const ACTIONS: Readonly<Record<string, { run: Action; takes: string; least: number; most: number }>> = {
  list: { run: list, takes: "", least: 0, most: 0 },
  scan: { run: scan, takes: "", least: 0, most: 0 },
  show: { run: show, takes: "<skill>", least: 1, most: 1 },
  link: { run: link, takes: "<skill> --tool <assistant>", least: 1, most: 1 },
  unlink: { run: unlink, takes: "<skill> --tool <assistant>", least: 1, most: 1 },
  import: { run: importSkill, takes: "<path|address>", least: 0, most: 1 },
  update: { run: update, takes: "<skill>", least: 1, most: 1 },
  restore: { run: restore, takes: "<skill> <snapshot>", least: 1, most: 2 },
  snapshots: { run: snapshots, takes: "<skill>", least: 1, most: 1 },
  tags: { run: tags, takes: "<skill> [tags]", least: 1, most: 51 },
  delete: { run: remove, takes: "<skill>", least: 1, most: 1 },
  init: { run: init, takes: "<name>", least: 1, most: 1 },
  lock: { run: lock, takes: "[skill…]", least: 0, most: 1_000 },
  install: { run: install, takes: "", least: 0, most: 0 },
};

export async function run(ctx: CommandContext): Promise<number> {
  const [name = "list", ...args] = ctx.args;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (!action) throw new UsageError(`\`sessarc skills\` takes no ${JSON.stringify(name)}`);
  if (args.length < action.least || args.length > action.most)
    throw new UsageError(`It takes this: \`${`sessarc skills ${name} ${action.takes}`.trimEnd()}\``);
  if (ctx.flags["dry-run"] === true && name !== "import")
    throw new UsageError(
      `--dry-run is for \`sessarc skills import\`, not for ${name}; update shows its plan without --yes`,
    );
  return action.run(ctx, args);
}

async function list(ctx: CommandContext): Promise<number> {
  const answer = await ctx.get<{ skills: Skill[] }>("/skills");
  if (ctx.json) ctx.out(JSON.stringify(answer));
  else if (answer.skills.length > 0) ctx.out(skillsText(answer.skills, ctx));
  else ctx.err("No skills yet. `sessarc skills scan` shows what your assistants have.");
  return answer.skills.length > 0 ? 0 : NOTHING;
}

async function scan(ctx: CommandContext): Promise<number> {
  const answer = await ctx.get<Scan>("/skills/scan");
  if (ctx.json) ctx.out(JSON.stringify(answer));
  else {
    if (answer.entries.length > 0) ctx.out(scanText(answer, ctx));
    else ctx.err("None of your assistants has a skill.");
    for (const { path, reason } of answer.problems) ctx.err(`${printable(path)} cannot be listed: ${reason}`);
  }
  return answer.entries.length > 0 ? 0 : NOTHING;
}

async function show(ctx: CommandContext, [id = ""]: readonly string[]): Promise<number> {
  const skill = await ctx.get<SkillDetail>(`/skills/${encodeURIComponent(id)}`);
  ctx.out(ctx.json ? JSON.stringify(skill) : detailText(skill, ctx));
  return 0;
}

async function link(ctx: CommandContext, [id = ""]: readonly string[]): Promise<number> {
  const { copy, again } = ctx.flags;
  const target = await readTarget(ctx);
  const mode = copy ? "copy" : "symlink";
  return answerLinks(
    ctx,
    await post<Skill>(ctx, id, "link", { ...target, mode, ...(again && { again: true }) }),
    target,
  );
}

async function unlink(ctx: CommandContext, [id = ""]: readonly string[]): Promise<number> {
  const target = await readTarget(ctx);
  return answerLinks(ctx, await post<Skill>(ctx, id, "unlink", target), target);
}

function answerLinks(ctx: CommandContext, skill: Skill, { tool }: { tool: string }): number {
  if (ctx.json) ctx.out(JSON.stringify(skill));
  else
    for (const one of skill.links.filter((other) => other.tool === tool))
      ctx.out(`${printable(skill.id)}: ${one.state === "linked" ? "linked" : "not linked"} at ${printable(one.path)}`);
  return 0;
}

async function readTarget(ctx: CommandContext) {
  const { tool, project } = ctx.flags;
  if (typeof tool !== "string") throw new UsageError("Say which assistant: `--tool claude-code`");
  if (typeof project !== "string") return { tool };
  const projects = await ctx.get<{ id: string; path: string | null }[]>("/projects");
  const found = projects.find((one) => one.id === project || one.path === project);
  return { tool, scope: "project" as const, project: found?.id ?? project };
}

async function importSkill(ctx: CommandContext, [from]: readonly string[]): Promise<number> {
  const { self, ref, path, "dry-run": dryRun } = ctx.flags;
  if ((from === undefined) !== Boolean(self))
    throw new UsageError("Import one thing: a scanned folder, an address, or --self");
  const isAddress =
    from !== undefined &&
    (/^[a-z]{2,}:/i.test(from) ||
      /^[\w.-]+@[\w.-]+:/.test(from) ||
      ref !== undefined ||
      path !== undefined ||
      isShort(ctx, from));
  if (!isAddress) {
    const folder = resolve(ctx.cwd, from ?? "");
    if (from !== undefined && existsSync(join(folder, "plugin.json")))
      return (await import("./plugin.ts")).importPlugin(ctx, folder);
    if (dryRun) return showFound(ctx, self ? undefined : resolve(ctx.cwd, from ?? ""));
    const skill = self
      ? await send<Skill>(ctx, "POST", "/skills/import", { self: true })
      : await importLocal(ctx, resolve(ctx.cwd, from ?? ""));
    if (ctx.json) ctx.out(JSON.stringify(skill));
    else {
      ctx.out(`Imported ${printable(skill.id)}`);
      const { warnings } = await ctx.get<SkillDetail>(`/skills/${encodeURIComponent(skill.id)}`);
      for (const warning of warnings) ctx.err(printable(warning));
      if (skill.links.every((one) => one.state !== "linked"))
        ctx.err(`No assistant sees it yet: sessarc skills link ${skill.id} --tool claude-code`);
    }
    return 0;
  }
  const answer = await send<GitImport>(ctx, "POST", "/skills/github", {
    url: from,
    ...(ref !== undefined && { ref }),
    ...(path !== undefined && { path }),
    ...(dryRun && { dryRun }),
  });
  if (ctx.json) ctx.out(JSON.stringify(answer));
  else {
    for (const one of answer.found) ctx.out(`${printable(one.name)}  ${printable(one.path)}  ${one.files} files`);
    for (const one of answer.imported) ctx.out(`Imported ${printable(one.id)} at ${answer.commit.slice(0, 12)}`);
    for (const one of answer.skipped) ctx.err(`Skipped ${printable(one.path || "the root")}: ${printable(one.reason)}`);
  }
  return answer.imported.length + answer.found.length > 0 ? 0 : 1;
}

/** What an import of a folder would take. */
async function showFound(ctx: CommandContext, path: string | undefined): Promise<number> {
  const found = await ctx.get<FoundSkill>("/skills/preview", { path });
  if (ctx.json) ctx.out(JSON.stringify({ found: [found], imported: [], skipped: [] }));
  else {
    ctx.out(`${printable(found.name)}  ${printable(found.path)}  ${found.files} files`);
    for (const warning of found.warnings) ctx.err(printable(warning));
  }
  return 0;
}

/** A folder that the scan lists, else any other folder. */
async function importLocal(ctx: CommandContext, path: string): Promise<Skill> {
  const { entries } = await ctx.get<Scan>("/skills/scan");
  const scanned = entries.some((one) => one.path === path || one.aliases.some((alias) => alias.path === path));
  return send<Skill>(ctx, "POST", "/skills/import", scanned ? { path } : { folder: path });
}

/** `owner/name`, and no folder of that name here. */
const isShort = (ctx: CommandContext, from: string) =>
  /^[A-Za-z0-9][\w.-]*\/[\w.-]+$/.test(from) && !existsSync(resolve(ctx.cwd, from));

async function update(ctx: CommandContext, [id = ""]: readonly string[]): Promise<number> {
  const { yes, conflicts } = ctx.flags;
  if (conflicts !== undefined && conflicts !== "mine" && conflicts !== "upstream")
    throw new UsageError("--conflicts takes `mine` or `upstream`");
  const plan = await post<UpdatePlan>(ctx, id, "update", {});
  const wanted = Boolean(yes) && plan.problem === null && plan.commit !== plan.recorded;
  const done = wanted
    ? await post<UpdatePlan>(ctx, id, "update", { commit: plan.commit, ...(conflicts && { conflicts }) })
    : plan;
  if (ctx.json) ctx.out(JSON.stringify(done));
  else showPlan(ctx, id, done);
  return done.problem === null ? 0 : 1;
}

async function restore(ctx: CommandContext, [id = "", snapshot]: readonly string[]): Promise<number> {
  if (snapshot === undefined) return snapshots(ctx, [id]);
  const skill = await post<Skill>(ctx, id, "restore", { snapshot });
  ctx.out(ctx.json ? JSON.stringify(skill) : `Restored ${printable(skill.id)}`);
  return 0;
}

async function snapshots(ctx: CommandContext, [id = ""]: readonly string[]): Promise<number> {
  const answer = await ctx.get<{ snapshots: Snapshot[] }>(`/skills/${encodeURIComponent(id)}/snapshots`);
  if (ctx.json) ctx.out(JSON.stringify(answer));
  else {
    ctx.out(snapshotsText(answer.snapshots, ctx));
    ctx.err(createStyle(ctx.colour).dim(`sessarc skills restore ${printable(id)} <snapshot>`));
  }
  return 0;
}

/** Shows the tags of a skill, or sets them to the ones given. */
async function tags(ctx: CommandContext, [id = "", ...wanted]: readonly string[]): Promise<number> {
  const path = `/skills/${encodeURIComponent(id)}`;
  const clear = ctx.flags.clear === true;
  if (clear && wanted.length > 0) throw new UsageError("Give tags, or --clear to remove all of them");
  const skill =
    wanted.length > 0 || clear
      ? await send<Skill>(ctx, "PATCH", path, { tags: wanted })
      : await ctx.get<SkillDetail>(path);
  ctx.out(ctx.json ? JSON.stringify({ id: skill.id, tags: skill.tags }) : skill.tags.map(printable).join("\n"));
  return 0;
}

/** Unlinks and forgets a skill. Its snapshots stay: `restore` brings it back. */
async function remove(ctx: CommandContext, [id = ""]: readonly string[]): Promise<number> {
  const files = ctx.flags["remove-files"] === true;
  const answer = await send<Deleted>(
    ctx,
    "DELETE",
    `/skills/${encodeURIComponent(id)}${files ? "?removeFiles=1" : ""}`,
  );
  if (ctx.json) ctx.out(JSON.stringify(answer));
  else {
    ctx.out(`Deleted ${printable(id)}: ${answer.unlinked} links removed${files ? ", and its files" : ""}`);
    for (const { path, reason } of answer.left) ctx.err(`Left at ${printable(path)}: ${printable(reason)}`);
    if (answer.snapshot !== null) ctx.err(`sessarc skills restore ${printable(id)} ${answer.snapshot} brings it back`);
  }
  return 0;
}

const post = <T>(ctx: CommandContext, id: string, action: string, body: unknown) =>
  send<T>(ctx, "POST", `/skills/${encodeURIComponent(id)}/${action}`, body);
