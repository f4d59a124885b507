/** Rules: lines for a project's instructions, from mistakes that recur in its sessions. */
import { definePlugin, defineRoute, type RoutesOf } from "sessarc";
import type { Command } from "sessarc/terminal";
import * as v from "valibot";
import "./errors.ts";
import type { InstructionsContract } from "./contract.ts";
import type { ProofPlan } from "./prove/prove.ts";
import { migrations } from "./schema.ts";
import { type AcceptedLine, createInstructions, type Instructions, type RuleOverview } from "./service.ts";

export type { InstructionsContract } from "./contract.ts";
export type { Effect, Happened } from "./effect.ts";
export type { Evidence } from "./find/finding.ts";
export type { Proof, Trial, TrialRun } from "./proof.ts";
export type { Proposal } from "./proposal.ts";
export type { ProofPlan } from "./prove/prove.ts";
export type { ProofRequest } from "./prove/run.ts";
export type { AcceptedLine, AcceptedRule, DismissedRule, Instructions, RuleOverview } from "./service.ts";

const text = v.pipe(v.string(), v.minLength(1));
const line = v.pipe(v.string(), v.nonEmpty("is empty"), v.maxLength(10_000, "is too long"));
/** A proposal; its project is given by its id. */
const rule = { id: text, project: text };

export const routes = [
  defineRoute({
    method: "GET",
    path: "/rules/proposals",
    summary:
      "Lines for the instructions of projects, from mistakes that recur; accepted lines with what became of them",
    query: v.object({ project: v.optional(v.string()) }),
    handler: async ({ kernel, query: { project } }): Promise<RuleOverview> =>
      kernel
        .inject("instructions")
        .overview(project === undefined ? undefined : await kernel.inject("archive").projectIds(project)),
  }),
  defineRoute({
    method: "POST",
    path: "/rules/accept",
    summary: "Writes the line of a proposal into the project's instructions, with a backup",
    body: v.strictObject({
      ...rule,
      /** Only says what would be written. */
      dryRun: v.optional(v.boolean()),
    }),
    handler: ({ kernel, body: { id, project, dryRun } }): Promise<AcceptedLine> =>
      kernel.inject("instructions").accept(id, project, dryRun === true),
  }),
  defineRoute({
    method: "POST",
    path: "/rules/dismiss",
    summary: "Proposes a line no more",
    body: v.strictObject(rule),
    handler: ({ kernel, body: { id, project } }) => kernel.inject("instructions").dismiss(id, project),
  }),
  defineRoute({
    method: "DELETE",
    path: "/rules/dismissed/:id",
    summary: "Proposes a dismissed line again",
    handler: ({ kernel, params: { id } }) => kernel.inject("instructions").proposeAgain(id),
  }),
  defineRoute({
    method: "POST",
    path: "/rules/undo",
    summary: "Takes an accepted line out of the instructions again",
    body: v.strictObject({ id: text }),
    handler: ({ kernel, body: { id } }) => kernel.inject("instructions").undo(id),
  }),
  defineRoute({
    method: "GET",
    path: "/rules/proof",
    summary: "Which old prompts a proof would give to an assistant, and their price; the last proof",
    query: v.object(rule),
    handler: ({ kernel, query: { id, project } }): Promise<ProofPlan> =>
      kernel.inject("instructions").proofPlan(id, project),
  }),
  defineRoute({
    method: "POST",
    path: "/rules/proof",
    summary:
      "Begins a proof: two old prompts with the line and without it, in a sandbox, by an assistant that the user names; needs the exact command as confirmCommand",
    body: v.strictObject({
      ...rule,
      command: line,
      confirmCommand: v.optional(v.unknown()),
      network: v.optional(v.boolean()),
      env: v.optional(v.pipe(v.array(v.string()), v.maxLength(50, "are more than 50"))),
      readable: v.optional(v.pipe(v.array(line), v.maxLength(50, "are more than 50"))),
      allowUnisolated: v.optional(v.boolean()),
      timeoutMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(100), v.maxValue(3_600_000))),
    }),
    handler: ({ kernel, body: { id, project, ...request } }) =>
      kernel.inject("instructions").startProof(id, project, request),
  }),
  defineRoute({
    method: "POST",
    path: "/rules/proof/stop",
    summary: "Ends a proof that is under way",
    body: v.strictObject({ id: text }),
    handler: ({ kernel, body: { id } }) => kernel.inject("instructions").stopProof(id),
  }),
] as const;

const command: Command = {
  name: "rules",
  summary: "Lines for AGENTS.md from mistakes that recur, with evidence",
  group: "cost",
  usage: "[--project p]\n--prove N --with '<command>' [--yes]\n--accept N [--dry-run] [--yes]\n--dismiss N\n--undo N",
  options: {
    project: { type: "string", short: "p" },
    accept: { type: "string" },
    dismiss: { type: "string" },
    undo: { type: "string" },
    prove: { type: "string" },
    with: { type: "string" },
    network: { type: "boolean" },
    env: { type: "string", multiple: true },
    readable: { type: "string", multiple: true },
    "allow-unisolated": { type: "boolean" },
    "dry-run": { type: "boolean" },
    yes: { type: "boolean", short: "y" },
  },
  help: {
    project: "Only this project: its name, path or id",
    accept: "Write the line with this number or id into the project's instructions, which are backed up first",
    dismiss: "Do not propose the line with this number or id any more",
    undo: "Take the accepted line with this number or id out again, or propose a dismissed one again",
    prove:
      "Give two old prompts to your assistant in a sandbox, with the line and without it; the price is shown first",
    with: "With --prove: the command that runs your assistant; a prompt is on its standard input and in SESSARC_PROMPT",
    network: "With --prove: let the command reach the network",
    env: "With --prove: a variable of your environment that the command gets (may repeat)",
    readable: "With --prove: a folder the command may read, such as its program's (may repeat)",
    "allow-unisolated": "With --prove: run with your own rights where the machine has no isolation",
    "dry-run": "With --accept: only show what would be written",
    yes: "Do it without asking",
  },
  operands: [],
  current: (flags) => flags["dry-run"] !== true,
  load: () => import("./command.ts"),
};

export default definePlugin({
  name: "rules",
  dependsOn: ["archive", "insights", "security", "replay"],
  routes,
  migrations,
  commands: [command],
  setup(kernel) {
    kernel.provide("instructions", createInstructions(kernel));
  },
});

declare module "sessarc" {
  interface AdapterCapabilities {
    instructions: InstructionsContract;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    instructions: Instructions;
  }
}
