/** Names and hues of the assistants, and the six kinds of messages. */
import type { Key } from "../../i18n/index.ts";

const LABELS: Record<string, string> = {
  "claude-code": "Claude Code",
  codex: "Codex",
  cursor: "Cursor",
  opencode: "OpenCode",
  "gemini-cli": "Gemini CLI",
  copilot: "GitHub Copilot",
};
export const TOOLS = Object.keys(LABELS);
export const toolLabel = (tool: string): string => LABELS[tool] ?? tool;
export const toolColor = (tool: string): string => (tool in LABELS ? `var(--tool-${tool})` : "var(--tool-other)");

export const KINDS = ["user", "assistant", "thinking", "tool_use", "tool_result", "note"] as const;
export type Kind = (typeof KINDS)[number];
export const kindColor = (kind: Kind): string => `var(--kind-${kind})`;
export const kindIcon: Record<Kind, string> = {
  user: "user-round",
  assistant: "bot",
  thinking: "brain",
  tool_use: "wrench",
  tool_result: "corner-down-right",
  note: "sticky-note",
};
export const kindWord: Record<Kind, Key> = {
  user: "kind.user",
  assistant: "kind.assistant",
  thinking: "kind.thinking",
  tool_use: "kind.tool_use",
  tool_result: "kind.tool_result",
  note: "kind.note",
};
