/** How an assistant lets another program check a tool call before it runs. Adapters provide it. */
import type { AdapterEnv } from "sessarc/adapter";

export interface GuardContract {
  /** The settings file for the hook. */
  settings(env: AdapterEnv): string;
  format: "json" | "jsonc" | "toml" | "plugin";
  transport: "command" | "plugin";
  /** What the assistant does when the hook fails. */
  onFailure: "allow" | "block" | "configurable";
}
