/** How a tool lets another program look at a tool call before it runs: what the guard asks of adapters. */
import type { AdapterEnv } from "sessarc";

export interface GuardContract {
  /** Where the hook is written. */
  settings(env: AdapterEnv): string;
  format: "json" | "jsonc" | "toml" | "plugin";
  transport: "command" | "plugin";
  /** What the tool does when the hook fails. */
  onFailure: "allow" | "block" | "configurable";
}
