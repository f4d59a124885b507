/** Assistants that run a command for their status line, and those that do not. */
import { join } from "node:path";
import type { AdapterEnv } from "sessarc";

export interface StatusTool {
  tool: string;
  label: string;
  settings(env: AdapterEnv): string;
}

const folder = (env: AdapterEnv, variable: string, name: string) => env.env[variable] || join(env.home, name);

/** Both take `statusLine` with the same fields. */
export const STATUS_TOOLS: readonly StatusTool[] = [
  {
    tool: "claude-code",
    label: "Claude Code",
    settings: (env) => join(folder(env, "CLAUDE_CONFIG_DIR", ".claude"), "settings.json"),
  },
  {
    tool: "copilot",
    label: "Copilot CLI",
    settings: (env) => join(folder(env, "COPILOT_HOME", ".copilot"), "settings.json"),
  },
];

/** Why others cannot. */
const WITHOUT: Readonly<Record<string, string>> = {
  codex: "Codex draws its line from built-in items (tui.status_line) and runs no command",
  "gemini-cli": "Gemini CLI's footer shows built-in items and runs no command",
};

export const reasonOf = (tool: string): string => WITHOUT[tool] ?? "it runs no command for one, as far as is known";
