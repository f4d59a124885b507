/** What is used of what is installed, and what was asked for in vain. */
import { normalName } from "../content/names.ts";
import { byPlainName, type UsedName } from "../usage/use.ts";
import { listSkills, scanAll } from "./list.ts";
import type { Shelf } from "./shelf.ts";

interface UsedSkill {
  name: string;
  /** Id of the stored skill. */
  skill: string | null;
  invocations: number;
  failures: number;
  sessions: number;
  lastUsedAt: string | null;
}

interface IdleSkill {
  name: string;
  skill: string | null;
  /** Its folder: in the store, or of an assistant. */
  path: string;
  tools: string[];
}

export interface SkillsOverview {
  used: UsedSkill[];
  /** Installed, and no session of the range asked for it. */
  neverUsed: IdleSkill[];
  /** Sessions asked for it by name, and it is not installed. */
  notInstalled: UsedSkill[];
}

/** `since`: ms; uses before do not count. */
export async function readOverview(shelf: Shelf, since: number | undefined): Promise<SkillsOverview> {
  const [names, skills, { entries }] = [await shelf.use.names(since), await listSkills(shelf), await scanAll(shelf)];
  const installed = new Map<string, IdleSkill>();
  const stored = new Map(skills.map((skill) => [normalName(skill.name), skill]));
  for (const skill of skills) {
    const linked = skill.links.filter((link) => link.state === "linked");
    const tools = [...new Set(linked.map((link) => link.tool))];
    installed.set(normalName(skill.name), {
      name: skill.name,
      skill: skill.id,
      path: shelf.places.pathOf(skill.id),
      tools,
    });
  }
  for (const { name, path, tools, class: kind } of entries) {
    const key = normalName(name);
    const known = installed.get(key);
    if (known) known.tools = [...new Set([...known.tools, ...tools])];
    else if (kind !== "broken") installed.set(key, { name, skill: null, path, tools });
  }
  const used: UsedSkill[] = [];
  const notInstalled: UsedSkill[] = [];
  for (const [key, uses] of await byPlainName(names)) {
    const here = installed.get(key);
    // What was typed after a slash may be a command of the tool: only for an installed skill it counts.
    const certain = here ? uses : uses.filter((use) => !use.name.startsWith("/"));
    if (certain.length === 0) continue;
    const one = sum(here?.name ?? certain[0]?.name ?? key, stored.get(key)?.id ?? null, certain);
    (here ? used : notInstalled).push(one);
    installed.delete(key);
  }
  return { used: used.sort(byUse), neverUsed: [...installed.values()], notInstalled: notInstalled.sort(byUse) };
}

function sum(name: string, skill: string | null, uses: readonly UsedName[]): UsedSkill {
  const total: UsedSkill = { name, skill, invocations: 0, failures: 0, sessions: 0, lastUsedAt: null };
  for (const use of uses) {
    total.invocations += use.invocations;
    total.failures += use.failures;
    total.sessions += use.sessions;
    if (use.lastUsedAt !== null && use.lastUsedAt > (total.lastUsedAt ?? "")) total.lastUsedAt = use.lastUsedAt;
  }
  return total;
}

const byUse = (a: UsedSkill, b: UsedSkill) => b.invocations - a.invocations || (a.name < b.name ? -1 : 1);
