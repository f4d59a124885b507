/** Which project a command is about. */
import { realpath } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { ApiError, type CommandContext } from "sessarc/terminal";

/** Asks about the project of this id or name, else about the one around this folder. Its errors name folders, not ids. */
export async function askProject<T>(
  ctx: CommandContext,
  wanted: unknown,
  ask: (project: string, path: string | null) => Promise<T>,
): Promise<T> {
  const project = await readProject(ctx, wanted);
  try {
    return await ask(project.id, project.path);
  } catch (error) {
    throw inFolder(error, project.path ?? project.name, "Name a project that is in one: --project <name>.");
  }
}

/** NO_REPOSITORY in the words of a terminal; any other error as it is. */
export function inFolder(error: unknown, folder: string, fix: string): unknown {
  if (!(error instanceof ApiError) || error.code !== "NO_REPOSITORY") return error;
  const { status, code } = error;
  return new ApiError({ status, code, message: `${folder} is not in a git repository`, fix });
}

interface Named {
  id: string;
  name: string;
  path: string | null;
}

async function readProject(ctx: CommandContext, wanted: unknown): Promise<Named> {
  const name = typeof wanted === "string" ? wanted : ".";
  const projects = await ctx.get<Named[]>("/projects", { git: "0" }, ctx.signal);
  const named = projects.find(({ id, name: own }) => id === name || own.toLowerCase() === name.toLowerCase());
  if (named) return named;
  const path = resolve(ctx.cwd, name);
  // A missing folder has no project around it.
  const folder = await realpath(path).catch(() => (typeof wanted === "string" ? undefined : path));
  const around = projects
    .filter(({ path: own }) => own !== null && (folder === own || own === path || folder?.startsWith(own + sep)))
    .sort((a, b) => (b.path?.length ?? 0) - (a.path?.length ?? 0));
  if (around[0]) return around[0];
  if (typeof wanted === "string") return { id: wanted, name: wanted, path: null };
  throw new ApiError({
    status: 404,
    code: "PROJECT_NOT_FOUND",
    message: `No session of the archive worked in ${path}`,
    fix: "Run it in the folder of a project, or name one: --project <name>. `sessarc projects` lists them.",
  });
}
