/** Error codes of the status line. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    STATUSLINE_TOOL_UNKNOWN: { tool: string; reason: string; known: readonly string[] };
    STATUSLINE_TAKEN: { path: string };
  }
}

export const errors = defineErrors({
  STATUSLINE_TOOL_UNKNOWN: {
    status: 422,
    why: ({ tool, reason }) => `${tool} has no status line that sessarc can fill: ${reason}`,
    fix: ({ known }) => `Use one of ${known.join(", ")}.`,
  },
  STATUSLINE_TAKEN: {
    status: 409,
    why: ({ path }) => `${path} has another status line`,
    fix: () => "Install with --replace; uninstalling puts the other one back.",
  },
});
