/** The guard's hook in Copilot CLI. A command hook blocks the call with any exit code but 0, and lets it run on a timeout; http hooks must be https. */
import { dirname, join } from "node:path";
import type { Adapter, AdapterEnv } from "sessarc/adapter";

/** `home`: the folder of the command line. */
export const guard = (home: (env: AdapterEnv) => string): NonNullable<Adapter["guard"]> => ({
  label: "Copilot CLI",
  settings: (env) => join(home(env), "hooks", "sessarc.json"),
  format: "json",
  recognises: ({ toolName, toolArgs }) => toolName !== undefined || toolArgs !== undefined,
  namesFound: true,
  root: { version: 1 },
  list: ["hooks", "preToolUse"],
  entry: ({ command, platform }) => ({ type: "command", [shellOn(platform)]: command, timeoutSec: 10 }),
  deny: (reason) => ({ permissionDecision: "deny", permissionDecisionReason: reason }),
  ask: (why) => ({ permissionDecision: "ask", permissionDecisionReason: why }),
  waiting: (
    [
      ["notification", "notification"],
      ["agentStop", "answer"],
      ["sessionEnd", "ended"],
    ] as const
  ).map(([event, reports]) => ({
    reports,
    list: ["hooks", event],
    entry: ({ command, platform }) => ({ type: "command", [shellOn(platform)]: command }),
  })),
  async problems({ settings, path, read }) {
    const config = await read(join(dirname(dirname(path)), "config.json"), "json");
    return settings.disableAllHooks === true || config.disableAllHooks === true ? ["`disableAllHooks` is set"] : [];
  },
});

const shellOn = (platform: NodeJS.Platform) => (platform === "win32" ? "powershell" : "bash");
