/** Where skills are looked for: what the adapters say, each place once, in an order that does not change. */
import { join } from "node:path";
import type { Adapter, AdapterEnv } from "sessarc/adapter";
import type { Scope } from "../types.ts";

export interface SkillRoot {
  path: string;
  scope: Scope;
  /** Tools that read it; the first is named in answers. */
  tools: string[];
  project: string | null;
}

/** A project with a folder. */
export interface ProjectFolder {
  id: string;
  path: string;
}

type Adapters = Iterable<Adapter>;

/** The user's places first, then those of the projects by path; tools in the order of their plugins. */
export function skillRoots(adapters: Adapters, env: AdapterEnv, projects: readonly ProjectFolder[]): SkillRoot[] {
  const roots = new Map<string, SkillRoot>();
  const add = (tool: string, path: string, scope: Scope, project: string | null) => {
    const known = roots.get(path);
    if (!known) roots.set(path, { path, scope, tools: [tool], project });
    else if (!known.tools.includes(tool)) known.tools.push(tool);
  };
  const all = [...adapters].filter((adapter) => adapter.skills);
  for (const { name, skills } of all)
    for (const dir of skills?.dirs(env) ?? []) if (dir.scope === "user") add(name, dir.path, "user", null);
  const sorted = [...projects].sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const project of sorted)
    for (const { name, skills } of all)
      for (const dir of skills?.dirs(env) ?? [])
        if (dir.scope === "project") add(name, join(project.path, dir.path), "project", project.id);
  return [...roots.values()];
}

/** The folder of a tool that links go to: the first it names. */
export function linkRoot(adapter: Adapter, env: AdapterEnv, scope: Scope, project?: ProjectFolder): string | undefined {
  const dir = adapter.skills?.dirs(env).find((one) => one.scope === scope);
  if (!dir) return undefined;
  return scope === "user" ? dir.path : project && join(project.path, dir.path);
}
