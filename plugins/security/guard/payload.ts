/** Reads a tool call from the payload of a hook, in the spellings of all assistants. */
import { isRecord, type Json } from "sessarc";

export interface ToolCall {
  /** The assistant; "unknown" if neither the hook nor the payload names it. */
  client: string;
  /** Its tools that search show names, unless the call asks for the lines. */
  namesFound?: boolean;
  tool_name: string;
  tool_input: Json;
  /** Content that the assistant sends with a read. */
  content: string | null;
  cwd: string | null;
  sessionId: string | null;
  callId: string | null;
}

/** Returns undefined if the payload has no call. `recognise` names the assistant of a payload whose hook does not. */
export function readPayload(
  body: Record<string, Json>,
  client: string | undefined,
  recognise: (body: Record<string, Json>) => string | undefined,
): ToolCall | undefined {
  const event = text(body.hook_event_name) ?? text(body.hookEventName);
  const named =
    text(body.tool_name) ?? text(body.toolName) ?? (isRecord(body.tool) ? text(body.tool.name) : text(body.tool));
  const input = toInput(body.tool_input ?? body.toolInput ?? body.toolArgs ?? body.arguments ?? body.args);
  if (named === undefined && event === undefined && input === undefined) return undefined;
  return {
    client: client ?? recognise(body) ?? "unknown",
    tool_name: named ?? event ?? "unknown",
    tool_input: input ?? ownFields(body),
    content: text(body.content) ?? null,
    ...readSession(body),
    callId: text(body.tool_use_id) ?? text(body.toolCallId) ?? text(body.call_id) ?? null,
  };
}

/** The session of a hook's payload, and its folder. */
export const readSession = (body: Record<string, Json>): Pick<ToolCall, "cwd" | "sessionId"> => ({
  cwd: text(body.cwd) ?? (Array.isArray(body.workspace_roots) ? (text(body.workspace_roots[0]) ?? null) : null),
  sessionId: text(body.session_id) ?? text(body.sessionId) ?? text(body.conversation_id) ?? null,
});

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** Some tools send their arguments as a JSON string. */
function toInput(value: Json | undefined): Json | undefined {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    const input = JSON.parse(value) as Json;
    // The value is nested deeper than a request may be, so its text is checked instead.
    return isShallow(input, DEPTH) ? input : value;
  } catch {
    // The value is plain text, such as a patch.
    return value;
  }
}

const DEPTH = 64;

function isShallow(value: Json, left: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return left > 0 && Object.values(value).every((part) => isShallow(part, left - 1));
}

const ENVELOPE = new Set([
  "hook_event_name",
  "hookEventName",
  "session_id",
  "sessionId",
  "conversation_id",
  "generation_id",
  "cwd",
  "workspace_roots",
  "transcript_path",
  "permission_mode",
  "content",
  "timestamp",
  "cursor_version",
  "user_email",
  "model",
  "tool_use_id",
  "tool_name",
  "toolName",
]);

/** Some events (a shell command, a file read) have their arguments beside the envelope. */
function ownFields(body: Record<string, Json>): Json {
  return Object.fromEntries(Object.entries(body).filter(([key]) => !ENVELOPE.has(key))) as Json;
}
