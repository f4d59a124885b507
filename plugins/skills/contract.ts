/** Where a tool keeps skills, and how its logs say that one was used: what this plugin asks of adapters. */

import type { SessionEvent } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";

interface SkillDir {
  path: string;
  scope: "user" | "project" | "system";
}

export interface SkillContract {
  /** Paths of scope `project` are relative to the project. Links go to the first of each scope. */
  dirs(env: AdapterEnv): SkillDir[];
  /**
   * The skill that an event asks for by name: a call of the tool's own, a note. With a leading slash when it may be a command of the
   * tool as well. That a `SKILL.md` is read is seen without it.
   */
  used?(event: SessionEvent): string | undefined;
}
