/** How Codex 0.169 names a hook that its user trusts: computed here, as the tests' own count. */
import { createHash } from "node:crypto";

interface Hook {
  type: string;
  command: string;
  timeout?: number;
  statusMessage?: string;
}

export function toTrustHash(group: { matcher?: string }, hook: Hook, event = "pre_tool_use"): string {
  const { command, timeout = 600, statusMessage } = hook;
  const handler = { async: false, command, statusMessage, timeout, type: "command" };
  const identity = JSON.stringify({ event_name: event, hooks: [handler], matcher: group.matcher });
  return `sha256:${createHash("sha256").update(identity).digest("hex")}`;
}
