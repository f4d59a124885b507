/** The guard's hook in Gemini CLI. stdout must be JSON only; exit code 2 blocks, any other failure lets the call run. */
import { join } from "node:path";
import { isRecord } from "sessarc";
import type { Adapter, AdapterEnv } from "sessarc/adapter";

export const guard = (home: (env: AdapterEnv) => string): NonNullable<Adapter["guard"]> => ({
  settings: (env) => join(home(env), "settings.json"),
  format: "jsonc",
  recognises: ({ hook_event_name, hookEventName }) => (hook_event_name ?? hookEventName) === "BeforeTool",
  list: ["hooks", "BeforeTool"],
  // In milliseconds, where others take seconds.
  entry: ({ command }) => ({ matcher: "*", hooks: [{ name: "sessarc", type: "command", command, timeout: 10_000 }] }),
  deny: (reason) => ({ decision: "deny", reason }),
  waiting: [
    { reports: "notification", list: ["hooks", "Notification"] },
    { reports: "answer", list: ["hooks", "AfterAgent"] },
    { reports: "ended", list: ["hooks", "SessionEnd"] },
  ],
  problems({ settings }) {
    const [hooks, config, tools] = [settings.hooks, settings.hooksConfig, settings.tools].map((one) =>
      isRecord(one) ? one : {},
    );
    if ([hooks?.enabled, config?.enabled, tools?.enableHooks].includes(false))
      return ["Hooks are switched off in settings.json"];
    const isDisabled = [hooks?.disabled, config?.disabled].some(
      (list) => Array.isArray(list) && list.includes("sessarc"),
    );
    return isDisabled ? ["The hook is on the list of disabled hooks"] : [];
  },
});
