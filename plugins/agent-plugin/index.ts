/** The agent plugin: recall and the bridge to the hub as one install for each assistant, and plugins of others as skills and servers. */
import { definePlugin, defineRoute, type RoutesOf } from "sessarc";
import type { Command } from "sessarc/terminal";
import * as v from "valibot";
import "./errors.ts";
import { importPlugin, showPlugin } from "./import.ts";
import { createPluginInstaller, type PluginInstaller } from "./install.ts";

export type { ImportedPlugin, ShownPlugin } from "./import.ts";
export type { PluginInstaller, PluginPlan, PluginStatus } from "./install.ts";

const tool = v.pipe(v.string(), v.minLength(1), v.maxLength(200));
const path = v.pipe(v.string(), v.minLength(1), v.maxLength(4_096));

export const routes = [
  defineRoute({
    method: "GET",
    path: "/agent-plugin",
    summary: "Assistants that can have the plugin, and whether they have it",
    handler: ({ kernel }) => kernel.inject("agent-plugin").status(),
  }),
  defineRoute({
    method: "POST",
    path: "/agent-plugin/install",
    summary: "Puts the plugin where an assistant reads it; `dryRun` shows the files and writes nothing",
    body: v.strictObject({ tool, dryRun: v.optional(v.boolean(), false) }),
    handler: ({ kernel, body }) => {
      const installer = kernel.inject("agent-plugin");
      return body.dryRun ? installer.plan(body.tool) : installer.install(body.tool);
    },
  }),
  defineRoute({
    method: "POST",
    path: "/agent-plugin/uninstall",
    summary: "Removes exactly what was installed",
    body: v.strictObject({ tool }),
    handler: ({ kernel, body }) => kernel.inject("agent-plugin").uninstall(body.tool),
  }),
  defineRoute({
    method: "GET",
    path: "/agent-plugin/foreign",
    summary:
      "What an Agent Plugin in a folder of this machine has: skills, servers, and what is not taken with the reason",
    query: v.object({ path }),
    handler: ({ kernel, query }) => showPlugin(kernel, query.path),
  }),
  defineRoute({
    method: "POST",
    path: "/agent-plugin/foreign",
    status: 201,
    summary: "Takes its skills into the store and its servers into the hub, as they were shown (`digest`)",
    body: v.strictObject({ path, digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "is not a SHA-256")) }),
    handler: ({ kernel, body }) => importPlugin(kernel, body.path, body.digest),
  }),
] as const;

const command: Command = {
  name: "agent-plugin",
  summary: "One install of recall and the hub for an assistant",
  group: "tools",
  example: "install --tool claude-code --dry-run",
  usage: "[build <folder> | install --tool t | uninstall --tool t]",
  options: {
    tool: { type: "string" },
    form: { type: "string" },
    "dry-run": { type: "boolean" },
  },
  help: {
    tool: "The assistant",
    form: "Of build: agent-plugin (the open format), claude-marketplace, or an assistant",
    "dry-run": "Show the files, and write none",
  },
  operands: ["build", "install", "uninstall"],
  load: () => import("./command.ts"),
};

export default definePlugin({
  name: "agent-plugin",
  dependsOn: ["skills", "mcp-hub"],
  routes,
  commands: [command],
  setup(kernel) {
    kernel.provide("agent-plugin", createPluginInstaller(kernel));
  },
});

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    "agent-plugin": PluginInstaller;
  }
}
