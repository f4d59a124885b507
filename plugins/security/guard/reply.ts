/** What each assistant understands. Allow is silence: an explicit allow would skip the user's own prompts. */
import type { ToolDecision } from "./guard.ts";
import { ANSWER_TYPE } from "./hook-script.ts";

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

/** The same for a question to the user; undefined for tools that know none: Codex would let the call run and call the hook a failure. */
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
 * The answer to an installed hook: nothing but what the tool knows, because unknown fields make some of them ignore the whole answer
 * and run the call. Its type says whose answer it is.
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
  // Cursor reads an object without `permission` as an error; where its hook does not ask through our script, it gets to see this.
  return client === "cursor" ? signed(null, { status: 204 }) : signed("{}");
}

function blockAnswer(client: string, reason: string): object {
  if (client === "gemini-cli") return { decision: "deny", reason };
  if (client === "claude-code") return { decision: "block", reason, ...blockFields(client, reason) };
  const own = blockFields(client, reason);
  return Object.keys(own).length > 0 ? own : { decision: "block", reason };
}
