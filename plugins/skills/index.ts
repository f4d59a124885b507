/** Skills: one store, links into every tool, versions, upstream, and what the archive knows of their use. */

import { definePlugin, type MaybePromise, type RoutesOf } from "sessarc";
import { commands } from "./commands/index.ts";
import "./errors.ts";
import type { SkillContract } from "./contract.ts";
import type { SkillsOverview } from "./ops/overview.ts";
import type { SkillEvent } from "./ops/shelf.ts";
import { importRoutes } from "./routes/import.ts";
import { linkRoutes } from "./routes/links.ts";
import { skillRoutes } from "./routes/skills.ts";
import { versionRoutes } from "./routes/versions.ts";
import { migrations } from "./schema.ts";
import { createSkills, type SkillOptions, type Skills } from "./skills.ts";

export type { Risk } from "./change/risks.ts";
export type { FileDiff } from "./change/sides.ts";
export type { SkillComparison } from "./ops/compare.ts";
export type { Drift } from "./ops/drift.ts";
export type { GitImport } from "./ops/import.ts";
export type { SkillsOverview } from "./ops/overview.ts";
export type { Published, PublishedSkill } from "./ops/publish.ts";
export type { UpdatePlan, UpstreamCheck } from "./ops/update.ts";
export type { SkillOptions, Skills } from "./skills.ts";
export type { Scan, ScanEntry, Skill, SkillDetail, SkillLink, SkillUse, Snapshot } from "./types.ts";

export const routes = [...skillRoutes, ...importRoutes, ...linkRoutes, ...versionRoutes] as const;

/** A service looks for edits; a command is done before that. */
const WATCH_AFTER_MS = 500;

export default definePlugin((options: SkillOptions | undefined) => ({
  name: "skills",
  dependsOn: ["archive"],
  routes,
  migrations,
  commands,
  setup(kernel) {
    const skills = createSkills(kernel, options);
    kernel.provide("skills", skills);
    kernel.hooks.hook("insights:collect", async (sections, { from }) => {
      sections.skills = await skills.overview(from);
    });
    const timer = setTimeout(() => {
      if (!kernel.address || kernel.closing.aborted || kernel.storage.readOnly) return;
      skills.watch().catch((error: unknown) => kernel.notify("listener:failed", error, { hook: "watch" }));
    }, WATCH_AFTER_MS);
    timer.unref();
    kernel.onClose(() => clearTimeout(timer));
  },
}));

declare module "sessarc" {
  interface AdapterCapabilities {
    skills: SkillContract;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    skills: Skills;
  }
  interface InsightsSections {
    skills: SkillsOverview;
  }
  interface KernelHooks {
    /** A skill of the store changed. */
    "skill:changed": (event: SkillEvent) => MaybePromise<void>;
  }
}
