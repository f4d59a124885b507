/** The guard's answers in the assistant's format. Allow has no output, because an explicit allow would skip the assistant's own prompts. */
import type { JsonRecord } from "sessarc";
import type { GuardContract } from "./contract.ts";
import type { ToolDecision } from "./guard.ts";
import { ANSWER_TYPE, type HookEvent } from "./install/hook-script.ts";

/** The assistant's fields for a decision; undefined where the call runs, or the assistant is not known. */
export function findFields(
  contract: GuardContract | undefined,
  { decision, reason, ask }: ToolDecision,
): JsonRecord | undefined {
  if (!contract || contract.format === "file") return undefined;
  if (decision === "block") return (contract.deny ?? usualDeny)(reason ?? DEFAULT_REASON);
  return ask === null ? undefined : contract.ask?.(ask);
}

/** The assistant's fields for a text that its model reads. */
export function findContext(
  contract: GuardContract | undefined,
  event: HookEvent,
  text: string,
): JsonRecord | undefined {
  const hook = contract && contract.format !== "file" ? contract.context?.[event] : undefined;
  if (!hook || text === "") return undefined;
  return hook.answer
    ? hook.answer(text)
    : { hookSpecificOutput: { hookEventName: hook.list.at(-1) ?? "", additionalContext: text } };
}

const DEFAULT_REASON = "Blocked by sessarc";

const usualDeny = (reason: string): JsonRecord => ({
  hookSpecificOutput: {
    hookEventName: "PreToolUse",
    permissionDecision: "deny",
    permissionDecisionReason: reason,
  },
});

/**
 * The answer to an installed hook. It has only fields that the assistant knows, because some ignore an answer with unknown fields
 * and run the call. Its content type marks it as the guard's.
 */
export function answerHook(
  contract: GuardContract | undefined,
  decision: ToolDecision,
  context: string,
  prove?: (text: string) => string | undefined,
): Response {
  const fields = findFields(contract, decision);
  const blocked = { decision: "block", reason: decision.reason ?? DEFAULT_REASON };
  const said =
    fields ??
    (decision.decision === "block"
      ? blocked
      : contract?.format === "file"
        ? {}
        : findContext(contract, "call", context));
  return answerFields(said, prove);
}

/** An answer to an installed hook: the assistant's fields, or nothing. */
export function answerFields(said: JsonRecord | undefined, prove?: (text: string) => string | undefined): Response {
  // A command prints nothing to let a call run: an assistant may take an object without its fields for an error.
  const text = said === undefined ? null : JSON.stringify(said);
  const proof = prove?.(text ?? "");
  const type = proof === undefined ? ANSWER_TYPE : `${ANSWER_TYPE}; proof=${proof}`;
  return new Response(text, { status: text === null ? 204 : 200, headers: { "content-type": type } });
}
