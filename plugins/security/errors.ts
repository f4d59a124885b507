/** Error codes of rules, exports and the guard. None of them may hold a value that was found. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    RULE_NOT_FOUND: { id: string };
    RULE_READ_ONLY: { id: string; why: string };
    RULE_INVALID: { reason: string };
    EXPORT_LEAKS: { rules: readonly string[] };
    LEAK_NOT_FOUND: { id: string };
    LEAK_NOT_REVOKED: { id: string };
    GUARD_TOOL_UNKNOWN: { tool: string; known: readonly string[] };
    GUARD_WAITING_UNKNOWN: { tool: string; known: readonly string[] };
    GUARD_OFFER_UNKNOWN: { tool: string; known: readonly string[] };
    GUARD_FAILURE_FIXED: { tool: string; only: "allow" | "block" };
  }
}

export const errors = defineErrors({
  RULE_NOT_FOUND: {
    status: 404,
    why: ({ id }) => `No rule ${id}`,
    fix: () => "GET /security/rules lists the rules.",
  },
  RULE_READ_ONLY: {
    status: 409,
    why: ({ id, why }) => `Rule ${id} ${why}`,
    fix: () => "Disable it instead: PATCH { enabled: false }.",
  },
  RULE_INVALID: { status: 400, why: ({ reason }) => `The rule cannot be used: ${reason}` },
  EXPORT_LEAKS: {
    status: 422,
    why: ({ rules }) =>
      `The finished document still showed a value found by ${rules.join(", ")}; nothing was written or shared`,
    fix: () => "Disable that rule, or add an allow rule for the value when it is no secret, and try again.",
  },
  LEAK_NOT_REVOKED: {
    status: 409,
    why: ({ id }) => `Secret ${id} is not marked as revoked, so it is not removed`,
    fix: () => "Revoke it where it is valid, then mark it as revoked in the dashboard (Tools, Secrets).",
  },
  LEAK_NOT_FOUND: {
    status: 404,
    why: ({ id }) => `No session holds a secret with the fingerprint ${id}`,
    fix: () => "List the secrets: GET /api/security/leaks?state=all.",
  },
  GUARD_TOOL_UNKNOWN: {
    status: 422,
    why: ({ tool }) => `There is no guard for "${tool}"`,
    fix: ({ known }) => `Use one of ${known.join(", ")}.`,
  },
  GUARD_WAITING_UNKNOWN: {
    status: 422,
    why: ({ tool }) => `No hook of "${tool}" is known that reports that it waits`,
    fix: ({ known }) => `Leave out --waiting, or use one of ${known.join(", ")}.`,
  },
  GUARD_OFFER_UNKNOWN: {
    status: 422,
    why: ({ tool }) => `No hook of "${tool}" is known whose answer the model reads`,
    fix: ({ known }) => `Use one of ${known.join(", ")}.`,
  },
  GUARD_FAILURE_FIXED: {
    status: 422,
    why: ({ tool, only }) =>
      `A hook of "${tool}" that cannot ask ${only === "allow" ? "lets the call run" : "blocks the call"}, whatever is chosen`,
    fix: ({ only }) => `Install with --on-failure ${only}.`,
  },
});
