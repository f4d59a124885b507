/** Records of a CLI log that become a note, and those that say nothing to a reader. */

import { type JsonRecord, toRecord, toText } from "sessarc";
import { toJsonText } from "sessarc/adapter";

type Note = (data: JsonRecord) => string | undefined;

const NOTES: Readonly<Record<string, Note>> = {
  "session.model_change": ({ newModel }) => say("Model changed to", newModel),
  "session.mode_changed": ({ newMode, mode }) => say("Mode changed to", newMode ?? mode),
  "session.compaction_complete": (data) =>
    toText(data.summaryContent) ?? (data.success === false ? undefined : "Conversation compacted"),
  "session.truncation": () => "Earlier messages were cut to fit the context",
  "session.error": ({ message, errorType }) => toText(message) ?? say("Error:", errorType),
  "session.warning": ({ message }) => toText(message),
  "session.info": ({ message }) => toText(message),
  "session.handoff": ({ summary, context }) => toText(summary) ?? toText(context) ?? "Session handed over",
  "session.snapshot_rewind": () => "Rewound to an earlier point",
  "system.notification": ({ content, message }) => toText(content) ?? toText(message),
  "skill.invoked": ({ name, path }) => say("Skill", name ?? path),
  "subagent.started": (data) => say("Sub-agent started:", findAgent(data)),
  "subagent.completed": (data) => say("Sub-agent finished:", findAgent(data)),
  "subagent.failed": (data) =>
    say("Sub-agent failed:", [findAgent(data), toText(data.error)].filter(Boolean).join(": ")),
  abort: ({ reason }) => say("Aborted:", reason) ?? "Aborted",
};

/** Bookkeeping, and the tool's own prompt (`system.message`, 23 KB in each session). */
const SILENT = new RegExp(
  `^(?:${[
    /session\.(start|resume|shutdown|permissions_|idle|usage_|context_|compaction_|checkpoint|title_|workspace_|task_|remote_|background|custom_|mcp|skills|tools|extensions|plan|import|limits?|auto)/,
    /system\.message/,
    /assistant\.(turn_|usage|intent|streaming|message_delta|reasoning_delta|message_start)/,
    /tool\.(execution_(progress|partial)|user_requested)/,
    /hook\./,
    /permission\./,
    /model\./,
    /external_tool\./,
    /user_input\./,
    /elicitation\./,
    /command\./,
    /sampling\./,
    /mcp\./,
    /skill\./,
    /subagent\./,
    /pending_messages/,
    /exit_plan_mode\./,
  ]
    .map((part) => part.source)
    .join("|")})`,
);

/** Text of the note this record makes, if any. */
export function findNote(type: string, data: JsonRecord): string | undefined {
  return Object.hasOwn(NOTES, type) ? NOTES[type]?.(data) : undefined;
}

export function isKnown(type: string): boolean {
  return Object.hasOwn(NOTES, type) || SILENT.test(type);
}

/** A call's result as text: what the model saw, else the error. */
export function resultText(data: JsonRecord): string {
  const result = data.result;
  if (typeof result === "string") return result;
  const { content, detailedContent } = toRecord(result);
  const error = toRecord(data.error);
  return blocks(content) || blocks(detailedContent) || toText(error.message) || toText(data.error) || "";
}

/** A string, or blocks with `text`. */
function blocks(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (!Array.isArray(value)) return toJsonText(value);
  return value.map((part) => toText(toRecord(part).text) ?? toJsonText(part)).join("\n");
}

function say(what: string, value: unknown): string | undefined {
  const text = toText(value);
  return text === undefined ? undefined : `${what} ${text}`;
}

function findAgent(data: JsonRecord): string | undefined {
  return toText(data.agentDisplayName) ?? toText(data.agentName) ?? toText(data.agentId) ?? toText(data.toolCallId);
}
