/** What Codex writes, as far as we read it, and what we know but leave out. */
import { isRecord, toText } from "sessarc";

/** Items of the conversation; before September 2025 they stood unwrapped on their lines. */
export const ITEMS = new Set([
  "message",
  "reasoning",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "local_shell_call",
  "web_search_call",
  "tool_search_call",
  "tool_search_output",
  "image_generation_call",
]);

/** Line types, items and events without anything for the transcript. */
export const KNOWN_LINES = new Set(["world_state", "inter_agent_communication", "inter_agent_communication_metadata"]);
export const KNOWN_ITEMS = new Set([
  "additional_tools",
  "compaction",
  "compaction_summary",
  "compaction_trigger",
  "context_compaction",
  "ghost_snapshot",
  "other",
]);
export const KNOWN_EVENTS = new Set([
  "agent_message_delta",
  "agent_reasoning_raw_content",
  "agent_reasoning_section_break",
  "apply_patch_approval_request",
  "background_event",
  "collab_agent_interaction_begin",
  "collab_agent_interaction_end",
  "collab_agent_spawn_begin",
  "collab_agent_spawn_end",
  "collab_close_begin",
  "collab_close_end",
  "collab_resume_begin",
  "collab_resume_end",
  "collab_waiting_begin",
  "collab_waiting_end",
  "context_compacted",
  "deprecation_notice",
  "dynamic_tool_call_request",
  "dynamic_tool_call_response",
  "elicitation_request",
  "entered_review_mode",
  "exec_approval_request",
  "exec_command_begin",
  "exec_command_output_delta",
  "exited_review_mode",
  "hook_completed",
  "hook_started",
  "image_generation_begin",
  "image_generation_end",
  "item_started",
  "mcp_startup_complete",
  "mcp_startup_update",
  "model_reroute",
  "patch_apply_begin",
  "patch_apply_end",
  "plan_delta",
  "plan_update",
  "request_user_input",
  "session_configured",
  "shutdown_complete",
  "stream_error",
  "stream_info",
  "sub_agent_activity",
  "task_complete",
  "task_started",
  "thread_goal_updated",
  "turn_complete",
  "turn_diff",
  "turn_started",
  "undo_completed",
  "undo_started",
  "view_image_tool_call",
  "warning",
  "web_search_begin",
  "web_search_end",
]);

/** Starts of user-role text that the client wrote and no person typed. */
const INJECTED = [
  "<environment_context>",
  "<environments",
  "<user_instructions>",
  "# AGENTS.md instructions",
  "<INSTRUCTIONS>",
  "<turn_aborted>",
  "<skill",
  "<subagent_notification>",
  "<user_shell_command>",
  "<permissions",
  "<collaboration_mode>",
  "<personality",
  "<apps_instructions",
  "<plugins_instructions",
  "<recommended_plugins",
  "<model_switch",
  "<hook_prompt",
];
/** What the editor puts in front of a typed prompt ends with this heading. */
const IDE_START = "# Context from my IDE setup:";
const IDE_END = "## My request for Codex:";

interface UserPart {
  kind: "user" | "note";
  text: string;
}

/** A user-role message in parts that were typed and parts that were injected; neighbours of one kind are joined. */
export function userParts(content: unknown, kinds: unknown): UserPart[] {
  const parts: UserPart[] = [];
  const add = (kind: UserPart["kind"], text: string): void => {
    const last = parts.at(-1);
    if (text === "") return;
    if (last?.kind === kind) last.text += `\n${text}`;
    else parts.push({ kind, text });
  };
  const items: unknown[] = Array.isArray(content) ? content : [content];
  items.forEach((item, index) => {
    const text = itemText(item);
    if (/^<\/?image\b[^>]*>$/.test(text.slice(0, 200))) return; // the frame around a picture
    const kind = Array.isArray(kinds) ? toText(kinds[index]) : undefined;
    if (kind?.startsWith("user.")) add("user", text);
    else if (kind && kind !== "unknown") add("note", text);
    else if (INJECTED.some((start) => text.trimStart().startsWith(start))) add("note", text);
    else if (text.startsWith(IDE_START) && text.includes(IDE_END)) {
      const at = text.indexOf(IDE_END) + IDE_END.length;
      add("note", text.slice(0, at));
      add("user", text.slice(at).trim());
    } else add("user", text);
  });
  return parts;
}

/**
 * A message between agents: a task is what a child's parent asked of it, everything else is a note. `encrypted_content` may be plain
 * text; what is sealed is left out.
 */
export function agentParts(content: unknown): UserPart[] {
  const items = Array.isArray(content) ? content : [content];
  const texts = items.map((item) => itemText(item) || openText(item)).filter(Boolean);
  const whole = texts.join("\n").replace(/\nPayload:\n+/, "\nPayload:\n");
  const [head = "", payload] = whole.split(/^Payload:\n/m);
  if (!/^Message Type: NEW_TASK$/m.test(head)) return whole === "" ? [] : [{ kind: "note", text: whole }];
  return [{ kind: "user", text: payload?.trim() || whole.trim() }];
}

function openText(item: unknown): string {
  const text = isRecord(item) ? toText(item.encrypted_content) : undefined;
  return text === undefined || (text.length > 60 && /^[\w+/=-]+$/.test(text)) ? "" : text;
}

/** Text of content items, pictures as `[image]`. */
export function contentText(content: unknown): string {
  if (!Array.isArray(content)) return itemText(content);
  return content.map(itemText).filter(Boolean).join("\n");
}

function itemText(item: unknown): string {
  if (typeof item === "string") return item;
  if (!isRecord(item)) return "";
  if (typeof item.text === "string") return item.text;
  return typeof item.type === "string" && item.type.includes("image") ? "[image]" : "";
}

/** A remote's address without user name, password or token. */
export function cleanRemote(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, "$1");
}

/** The time inside a UUID of version 7, in ms. */
export function uuidTime(id: string): number | undefined {
  const hex = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/i.exec(id);
  return hex ? Number.parseInt(`${hex[1]}${hex[2]}`, 16) : undefined;
}
