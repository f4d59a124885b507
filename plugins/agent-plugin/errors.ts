/** Error codes of the agent plugin. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    AGENT_PLUGIN_TOOL_UNKNOWN: { tool: string; known: readonly string[] };
    AGENT_PLUGIN_IN_THE_WAY: { path: string };
    AGENT_PLUGIN_INVALID: { path: string; reason: string };
    AGENT_PLUGIN_CHANGED: { path: string };
    AGENT_PLUGIN_DAMAGED: { path: string };
  }
}

defineErrors({
  AGENT_PLUGIN_TOOL_UNKNOWN: {
    status: 404,
    why: ({ tool }) => `The plugin has no form for ${tool}`,
    fix: ({ known }) => `Name one of ${known.join(", ")}.`,
  },
  AGENT_PLUGIN_IN_THE_WAY: {
    status: 409,
    why: ({ path }) => `${path} is there and is not sessarc's`,
    fix: () => "Move it away, then install again.",
  },
  AGENT_PLUGIN_INVALID: {
    status: 422,
    why: ({ path, reason }) => `${path} is not an Agent Plugin: ${reason}`,
    fix: () => "Ask its author for a plugin that follows Agent Plugins 1.0 (https://agent-plugins.org).",
  },
  AGENT_PLUGIN_CHANGED: {
    status: 409,
    why: ({ path }) => `${path} holds something else than was shown`,
    fix: () => "Show it again (`--dry-run`), then import what it shows.",
  },
  AGENT_PLUGIN_DAMAGED: {
    status: 422,
    why: ({ path }) => `The original of ${path} is gone from the backups or was changed`,
    fix: () => "Remove the plugin's folder by hand.",
  },
});
