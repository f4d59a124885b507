/** Which skill an event uses: named as its tool names it, or by the file that is read. */

import { BoundedMap, type SessionEvent, toRecord } from "sessarc";
import { type Adapter, pathsIn } from "sessarc/adapter";
import type { SessionFacts } from "../catalogue/types.ts";

/** The name of the skill, undefined for the many events that use none. With a leading slash when it may be a plain command. */
type SkillOf = (event: SessionEvent) => string | undefined;

/** `…/skills/<name>/SKILL.md`; those that an assistant brings along lie in hidden folders and are left out. */
const READ = /(?:^|[\\/])skills[\\/](?:[^\\/\s"']+[\\/])?([^\\/.\s"'][^\\/\s"']{0,199})[\\/]SKILL\.md(?![\w-])/;
const HIDDEN = /[\\/]skills[\\/]\./;
const MAX_COMMAND = 4_000;
const MAX_ASKED = 64;

/** Counts uses of skills into `facts`, failed ones too; `finish` leaves there what a later part of the session goes on from. */
export function countSkills(facts: SessionFacts, adapter: Pick<Adapter, "skills" | "tools">) {
  const findSkill = skillReader(adapter);
  /** Calls whose result is still out, by id. */
  const asked = new BoundedMap(MAX_ASKED, Object.entries(facts.asked ?? {}));
  const counts = new Map(Object.entries(facts.skills ?? {}));

  const use = (event: SessionEvent, skill: string) => {
    const [calls, failures, last] = counts.get(skill) ?? [0, 0, null];
    const at = Date.parse(event.at ?? "");
    counts.set(skill, [calls + 1, failures, Number.isNaN(at) ? last : Math.max(last ?? 0, at)]);
    if (event.kind !== "tool_use" || event.tool_use_id === undefined) return;
    asked.set(event.tool_use_id, skill);
  };

  return {
    add(event: SessionEvent): void {
      const skill = findSkill(event);
      if (skill !== undefined) use(event, skill);
      else if (asked.size > 0 && event.kind === "tool_result" && event.tool_use_id !== undefined) {
        const count = counts.get(asked.get(event.tool_use_id) ?? "");
        if (count && event.is_error) count[1]++;
        asked.delete(event.tool_use_id);
      }
    },
    finish(): void {
      // As own keys, whatever the names are: they come from logs.
      if (counts.size > 0) facts.skills = Object.fromEntries(counts);
      if (asked.size > 0) facts.asked = Object.fromEntries(asked);
      else delete facts.asked;
    },
  };
}

function skillReader({ skills, tools = {} }: Pick<Adapter, "skills" | "tools">): SkillOf {
  return (event) => {
    const named = skills?.used?.(event);
    if (named !== undefined) return named.slice(0, 200);
    if (event.kind !== "tool_use" || event.tool_name === undefined || !Object.hasOwn(tools, event.tool_name)) return;
    const role = tools[event.tool_name];
    if (role === "read") return pathsIn(event.tool_input, role).map(nameIn).find(Boolean);
    if (role !== "shell") return undefined;
    return Object.values(toRecord(event.tool_input))
      .flat()
      .map((part) => (typeof part === "string" ? nameIn(part.slice(0, MAX_COMMAND)) : undefined))
      .find(Boolean);
  };
}

/** Nearly no path or command belongs to a skill: a cheap test comes before either expression. */
const nameIn = (text: string): string | undefined =>
  text.includes("SKILL.md") && !HIDDEN.test(text) ? READ.exec(text)?.[1] : undefined;
