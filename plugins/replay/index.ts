/** Replay: a session gone through again, step by step, in a sandbox. */
import { definePlugin, type RoutesOf } from "sessarc";
import "./errors.ts";
import type { ReplayContract } from "./contract.ts";
import type { ReplayOptions } from "./options.ts";
import { createReplay, type Replay } from "./replay.ts";
import { replayRoutes } from "./routes.ts";
import { migrations } from "./schema.ts";

export type { EndState } from "./end-state.ts";
export type { ReplayOptions } from "./options.ts";
export type { PlanReport, Replay, SandboxInfo, StepView } from "./replay.ts";
export type { StepReport } from "./report.ts";
export type { Preview } from "./steps/preview.ts";
export type { StepRequest } from "./steps/step.ts";
export type { RerunPlan, RerunRequest, RerunResult, Trial, TrialRequest } from "./with/rerun.ts";

export const routes = [...replayRoutes] as const;

export default definePlugin((options: ReplayOptions | undefined) => ({
  name: "replay",
  dependsOn: ["archive"],
  routes,
  migrations,
  commands: [
    {
      name: "replay",
      summary: "Goes through a session again in a sandbox",
      usage: '<session> [--plan|--to n|--all-edits|--with "<command>"]',
      options: {
        plan: { type: "boolean" },
        to: { type: "string" },
        "all-edits": { type: "boolean" },
        confirm: { type: "string", multiple: true },
        "allow-unisolated": { type: "boolean" },
        with: { type: "string" },
        "follow-up": { type: "string" },
        network: { type: "boolean" },
        env: { type: "string", multiple: true },
        readable: { type: "string", multiple: true },
      },
      help: {
        plan: "The steps, and what of them can be replayed; nothing is made",
        to: "In a fresh sandbox, go up to this message; commands are asked for one by one",
        "all-edits": "In a fresh sandbox, do every edit that worked when it was recorded, leave commands out",
        confirm: "Run this exact command without asking (may repeat)",
        "allow-unisolated": "Run commands with your own rights where the machine has no isolation",
        with: "Give the session's prompts to this command, one run for each, on its standard input",
        "follow-up": "With --with: the command for the second and later prompts",
        network: "With --with: let the command reach the network",
        env: "With --with: a variable of your environment that the command gets (may repeat)",
        readable: "With --with: a folder the command may read, such as its program's (may repeat)",
      },
      current: () => true,
      load: () => import("./commands/replay.ts"),
    },
  ],
  setup(kernel) {
    const replay = createReplay(kernel, options);
    kernel.provide("replay", replay);
    kernel.hooks.hook("status:collect", (status) => {
      const found = replay.triedIsolation;
      status.isolation = found
        ? { kind: found.kind, reason: found.kind === "none" ? found.reason : null }
        : { kind: "unknown", reason: "not needed yet" };
    });
    kernel.hooks.hook("kernel:ready", () => void replay.sweep());
  },
}));

declare module "sessarc" {
  interface AdapterCapabilities {
    replay: ReplayContract;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    replay: Replay;
  }
}
