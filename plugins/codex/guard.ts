/** The guard's hook in Codex, whose user has to trust each hook. An answer with a field that it does not know lets the call run. */
import { dirname, join } from "node:path";
import { isRecord } from "sessarc";
import type { Adapter, AdapterEnv } from "sessarc/adapter";
import { trustProblem } from "./trust.ts";

export const guard = (home: (env: AdapterEnv) => string): NonNullable<Adapter["guard"]> => ({
  settings: (env) => join(home(env), "hooks.json"),
  format: "json",
  instead: { settings: (env) => join(home(env), "config.toml"), format: "toml", where: /^\s*\[+\s*hooks\b/m },
  recognises: ({ hook_event_name, hookEventName, turn_id }) =>
    (hook_event_name ?? hookEventName) === "PreToolUse" && turn_id !== undefined,
  entry: ({ command }) => ({ hooks: [{ type: "command", command, timeout: 10 }] }),
  // Earlier versions know no SessionEnd.
  waiting: [
    { reports: "permission", list: ["hooks", "PermissionRequest"] },
    { reports: "answer", list: ["hooks", "Stop"] },
  ],
  context: { start: { list: ["hooks", "SessionStart"] }, call: { list: ["hooks", "PreToolUse"] } },
  async problems(state) {
    const config = await state.read(join(dirname(state.path), "config.toml"), "toml");
    const { features } = config;
    if (isRecord(features) && (features.hooks === false || features.codex_hooks === false))
      return ["Hooks are switched off in config.toml (`features`)"];
    const untrusted = await trustProblem(state, config);
    return untrusted === undefined ? [] : [untrusted];
  },
});
