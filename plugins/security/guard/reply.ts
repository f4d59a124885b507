/** The guard's answers in the format of each assistant. Allow has no output, because an explicit allow would skip the assistant's own prompts. */
import type { ToolDecision } from "./guard.ts";
import { ANSWER_TYPE } from "./install/hook-script.ts";

/** The assistant's fields for a block: added to the API's answer, or the whole answer to an installed hook. */
export function blockFields(client: string, reason: string): Record<string, unknown> {
  switch (client) {
    case "claude-code":
    case "codex":
    case "qwen":
    case "grok":
    case "droid":
    case "kimi":
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

/** The fields for a question to the user; undefined for assistants that cannot ask. Codex would run the call and report the hook as failed. */
export function askFields(client: string, why: string): Record<string, unknown> | undefined {
  switch (client) {
    case "claude-code":
      return {
        hookSpecificOutput: {
          hookEventName: "PreToolUse",
          permissionDecision: "ask",
          permissionDecisionReason: why,
        },
      };
    case "cursor":
      return { permission: "ask", user_message: why, agent_message: why };
    case "copilot":
      return { permissionDecision: "ask", permissionDecisionReason: why };
    default:
      return undefined;
  }
}

/**
 * The answer to an installed hook. It has only fields that the assistant knows, because some ignore an answer with unknown fields
 * and run the call. Its content type marks it as the guard's.
 */
export function answerHook(
  client: string,
  { decision, reason, ask }: ToolDecision,
  prove?: (text: string) => string | undefined,
): Response {
  const signed = (text: string | null, init: ResponseInit = {}) => {
    const proof = prove?.(text ?? "");
    const type = proof === undefined ? ANSWER_TYPE : `${ANSWER_TYPE}; proof=${proof}`;
    return new Response(text, { ...init, headers: { "content-type": type } });
  };
  if (decision === "block") return signed(JSON.stringify(blockAnswer(client, reason ?? "Blocked by sessarc")));
  const asks = ask === null ? undefined : askFields(client, ask);
  if (asks) return signed(JSON.stringify(asks));
  // Cursor treats an object without `permission` as an error. Without the script, as on Windows, it gets this answer itself.
  return client === "cursor" ? signed(null, { status: 204 }) : signed("{}");
}

function blockAnswer(client: string, reason: string): object {
  if (["gemini-cli", "crush", "vibe"].includes(client)) return { decision: "deny", reason };
  if (client === "claude-code") return { decision: "block", reason, ...blockFields(client, reason) };
  const own = blockFields(client, reason);
  return Object.keys(own).length > 0 ? own : { decision: "block", reason };
}
