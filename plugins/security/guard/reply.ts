/** What each assistant understands. Allow is silence: an explicit allow would skip the user's own prompts. */
import type { ToolDecision } from "./guard.ts";

/** The own fields of a tool for a block; added to our answer, or all of it when an installed hook asks. */
export function blockFields(client: string, reason: string): Record<string, unknown> {
  switch (client) {
    case "claude-code":
    case "codex":
      return {
        hookSpecificOutput: {
          hookEventName: "PreToolUse",
          permissionDecision: "deny",
          permissionDecisionReason: reason,
        },
      };
    case "cursor":
      return { permission: "deny", user_message: reason, agent_message: reason };
    case "copilot":
      return { permissionDecision: "deny", permissionDecisionReason: reason };
    default:
      return {};
  }
}

/**
 * The answer to an installed hook: nothing but what the tool knows, because unknown fields make some of them ignore the whole answer
 * and run the call.
 */
export function hookAnswer(client: string, { decision, reason }: ToolDecision): unknown {
  // Cursor reads an object without `permission` as an error; nothing at all is fine everywhere but there is no JSON to parse then.
  if (decision !== "block") return client === "cursor" ? undefined : {};
  const why = reason ?? "Blocked by sessarc";
  if (client === "gemini-cli") return { decision: "deny", reason: why };
  if (client === "claude-code") return { decision: "block", reason: why, ...blockFields(client, why) };
  const own = blockFields(client, why);
  return Object.keys(own).length > 0 ? own : { decision: "block", reason: why };
}
