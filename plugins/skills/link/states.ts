/** For each tool: does its own folder hold a skill, and does it see the skill through another one. */
import { lstatSync, realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Adapter, AdapterEnv } from "sessarc/adapter";
import { linkRoot } from "../scan/roots.ts";
import type { LinkRow } from "../store/catalog.ts";
import type { SkillLink } from "../types.ts";
import { standingAt } from "./proof.ts";

export interface Tools {
  /**
   * Links of one skill: each tool for the user, and what was linked into projects. `real`: its folder in the store. `edited`: paths of
   * copies that were edited.
   */
  linksOf(skill: string, real: string, rows: readonly LinkRow[], edited: ReadonlySet<string>): SkillLink[];
}

interface Tool {
  name: string;
  /** Where its links go. */
  own: string | undefined;
  /** Every folder of the user it reads. */
  roots: string[];
}

/** Lists each folder once; asking for a skill looks then only at names that are there. */
export async function readTools(adapters: readonly Adapter[], env: AdapterEnv): Promise<Tools> {
  const tools = adapters.flatMap((adapter): Tool[] => {
    const dirs = adapter.skills?.dirs(env).filter((dir) => dir.scope === "user");
    if (!dirs) return [];
    return [
      { name: adapter.name, own: linkRoot(adapter, env, "user"), roots: [...new Set(dirs.map((dir) => dir.path))] },
    ];
  });
  const roots = [...new Set(tools.flatMap((tool) => tool.roots))];
  const names = new Map(
    await Promise.all(roots.map(async (root) => [root, new Set(await readdir(root).catch(() => []))] as const)),
  );
  const shows = (root: string, skill: string, real: string, rows: readonly LinkRow[]): boolean => {
    if (!names.get(root)?.has(skill)) return false;
    const path = join(root, skill);
    const row = rows.find((one) => one.path === path);
    if (row?.kind === "copy" && standingAt(path, row).is === "ours") return true;
    return resolveLinks(path) === real;
  };
  return {
    linksOf(skill, real, rows, edited) {
      const users = tools.flatMap(({ name, own, roots: all }): SkillLink[] => {
        if (own === undefined) return [];
        const path = join(own, skill);
        const row = rows.find((one) => one.path === path);
        const through = all.filter((root) => root !== own && shows(root, skill, real, rows));
        const there = names.get(own)?.has(skill) ?? false;
        return [
          {
            tool: name,
            scope: "user",
            project: null,
            path,
            ...(there ? stateAt(path, row, edited) : { state: "none", mode: null }),
            visibleThrough: [...new Set(through.flatMap((root) => toOwners(root, name, tools)))],
          },
        ];
      });
      const projects = rows
        .filter((row) => row.scope === "project")
        .map(
          (row): SkillLink => ({
            tool: row.tool,
            scope: "project",
            project: row.project_id,
            path: row.path,
            ...stateAt(row.path, row, edited),
            visibleThrough: [],
          }),
        );
      return [...users, ...projects];
    },
  };
}

/** Tools whose links go to this folder; without one, the other tools that read it. */
function toOwners(root: string, asking: string, tools: readonly Tool[]): string[] {
  const owners = tools.filter((tool) => tool.own === root && tool.name !== asking);
  const readers = tools.filter((tool) => tool.roots.includes(root) && tool.name !== asking);
  const names = (owners.length > 0 ? owners : readers).map((tool) => tool.name);
  return names.length > 0 ? names : [asking];
}

function stateAt(
  path: string,
  row: LinkRow | undefined,
  edited: ReadonlySet<string>,
): Pick<SkillLink, "state" | "mode"> {
  const found = standingAt(path, row);
  if (found.is === "nothing") return { state: "none", mode: null };
  if (found.is === "ours") {
    const mode = row?.kind ?? null;
    if (mode === "copy") return { state: edited.has(path) ? "edited" : "linked", mode };
    return { state: resolveLinks(path) === undefined ? "broken" : "linked", mode };
  }
  if (found.kind === "folder") return { state: "directory", mode: null };
  const dangling = found.kind === "link" && resolveLinks(path) === undefined;
  return { state: dangling ? "broken" : "foreign", mode: null };
}

function resolveLinks(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
  } catch {
    return undefined;
  }
}
