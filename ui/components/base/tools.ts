/** Names, initials and hues of the assistants, and the six kinds of messages. */
import { shallowReactive } from "vue";
import type { Key } from "../../i18n/index.ts";

/** Those with their own hue in `tokens.css`, named as their adapters name them: they are shown before the service has reported any. */
const LABELS: Record<string, string> = {
  "claude-code": "Claude Code",
  codex: "Codex CLI",
  cursor: "Cursor",
  opencode: "OpenCode",
  "gemini-cli": "Gemini CLI",
  copilot: "GitHub Copilot",
};
export const TOOLS = Object.keys(LABELS);

/** Labels of all adapters, plugins' included, as the service reports them. */
const reported = shallowReactive<Record<string, string>>({});
export function learnLabels(labels: Readonly<Record<string, string>>): void {
  Object.assign(reported, labels);
}
export const toolLabel = (tool: string): string => LABELS[tool] ?? reported[tool] ?? tool;

/** The assistants without repetition: those with a hue of their own first, the others by label. */
export function inOrder(tools: Iterable<string>): string[] {
  const seen = new Set(tools);
  const others = [...seen].filter((tool) => !TOOLS.includes(tool));
  others.sort((a, b) => toolLabel(a).localeCompare(toolLabel(b)));
  return [...TOOLS.filter((tool) => seen.has(tool)), ...others];
}

/** Two letters: "Claude Code" CC, "OpenCode" OC, "Codex CLI" Co: that it is a command says nothing. */
export function toolInitials(tool: string): string {
  const words = toolLabel(tool)
    .replace(/ CLI$/, "")
    .match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? [tool];
  const [first = "", second] = words;
  return second === undefined ? first.slice(0, 2) : first.slice(0, 1) + second.slice(0, 1).toUpperCase();
}

/** A hue of its own for each name, the same at every start; `--tool-light` follows the theme. */
export function toolColor(tool: string): string {
  if (tool === "") return "var(--tool-other)";
  if (tool in LABELS) return `var(--tool-${tool})`;
  let hash = 0;
  for (const letter of tool) hash = (hash * 31 + letter.charCodeAt(0)) % 360;
  return `oklch(var(--tool-light) 0.11 ${hash})`;
}

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
