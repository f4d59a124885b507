/** Which project a command is about. */
import { realpath } from "node:fs/promises";
import { resolve, sep } from "node:path";
import type { CommandContext } from "sessarc/terminal";

/** The project of this id or name, else the one around this folder. */
export async function readProject(ctx: CommandContext, wanted: unknown): Promise<string> {
  const name = typeof wanted === "string" ? wanted : ".";
  const projects = await ctx.get<{ id: string; name: string; path: string | null }[]>(
    "/projects",
    { git: "0" },
    ctx.signal,
  );
  const named = projects.find(({ id, name: own }) => id === name || own.toLowerCase() === name.toLowerCase());
  if (named) return named.id;
  const path = resolve(ctx.cwd, name);
  const folder = await realpath(path).catch(() => path);
  const around = projects
    .filter(({ path }) => path !== null && (folder === path || folder.startsWith(path + sep)))
    .sort((a, b) => (b.path?.length ?? 0) - (a.path?.length ?? 0));
  return around[0]?.id ?? name;
}
