/** The guard's hook in Gemini CLI. stdout must be JSON only; exit code 2 blocks, any other failure lets the call run. */
import { join } from "node:path";
import { isRecord } from "sessarc";
import type { Adapter, AdapterEnv } from "sessarc/adapter";

/** The time limit is in milliseconds, where others take seconds. */
const entry = ({ command, tools = "*" }: { command: string; tools?: string }) => ({
  matcher: tools,
  hooks: [{ name: "sessarc", type: "command", command, timeout: 10_000 }],
});

export const guard = (home: (env: AdapterEnv) => string): NonNullable<Adapter["guard"]> => ({
  settings: (env) => join(home(env), "settings.json"),
  format: "jsonc",
  recognises: ({ hook_event_name, hookEventName }) => (hook_event_name ?? hookEventName) === "BeforeTool",
  list: ["hooks", "BeforeTool"],
  entry,
  deny: (reason) => ({ decision: "deny", reason }),
  waiting: [
    { reports: "notification", list: ["hooks", "Notification"] },
    { reports: "answer", list: ["hooks", "AfterAgent"] },
    { reports: "ended", list: ["hooks", "SessionEnd"] },
  ],
  // Before a tool runs its model reads nothing; the answer of the hook after it is added to the result.
  context: {
    start: {
      list: ["hooks", "SessionStart"],
      entry: ({ command }) => ({ hooks: [{ name: "sessarc", type: "command", command, timeout: 10_000 }] }),
    },
    call: { list: ["hooks", "AfterTool"], entry },
  },
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
