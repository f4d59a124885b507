/** The guard's hook in Claude Code. Strict JSON: with one comment in it the tool drops the whole file. */
import { join } from "node:path";
import type { JsonRecord } from "sessarc";
import type { Adapter, AdapterEnv } from "sessarc/adapter";

/** `home`: the folder with its settings. */
export const guard = (home: (env: AdapterEnv) => string): NonNullable<Adapter["guard"]> => ({
  settings: (env) => join(home(env), "settings.json"),
  format: "json",
  recognises: ({ hook_event_name, hookEventName, turn_id, conversation_id, toolName }) =>
    (hook_event_name ?? hookEventName) === "PreToolUse" && !turn_id && !conversation_id && !toolName,
  deny: (reason) => ({ decision: "block", reason, ...toolUse("deny", reason) }),
  ask: (why) => toolUse("ask", why),
  waiting: [
    { reports: "notification", list: ["hooks", "Notification"] },
    { reports: "answer", list: ["hooks", "Stop"] },
    { reports: "ended", list: ["hooks", "SessionEnd"] },
  ],
  context: { start: { list: ["hooks", "SessionStart"] }, call: { list: ["hooks", "PreToolUse"] } },
  problems: async ({ env, settings, read }) => [
    ...switches(settings, "settings.json"),
    ...switches(await read(managed(env), "json"), "the managed settings"),
  ],
});

const toolUse = (permissionDecision: "deny" | "ask", permissionDecisionReason: string) => ({
  hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason },
});

function switches(settings: JsonRecord, where: string): string[] {
  const problems: string[] = [];
  if (settings.disableAllHooks === true) problems.push(`\`disableAllHooks\` is set in ${where}: no hook runs`);
  if (settings.allowManagedHooksOnly === true)
    problems.push(`\`allowManagedHooksOnly\` is set in ${where}: this hook does not run`);
  return problems;
}

function managed({ env, platform }: AdapterEnv): string {
  if (platform === "darwin") return "/Library/Application Support/ClaudeCode/managed-settings.json";
  if (platform === "win32") return join(env.PROGRAMDATA || "C:\\ProgramData", "ClaudeCode", "managed-settings.json");
  return "/etc/claude-code/managed-settings.json";
}
