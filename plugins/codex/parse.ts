/** Codex's rollout lines → events, tokens and the session's facts. */

import { isRecord, type JsonRecord, type SessionRef, type SessionSummary, toIso, toText } from "sessarc";
import { hash53, type LineParser, type NewEvent, type Span, widen } from "sessarc/adapter";
import { createCalls } from "./calls.ts";
import { createCopy } from "./copy.ts";
import { createLimits } from "./limits.ts";
import type { Origin } from "./origin.ts";
import {
  agentParts,
  cleanRemote,
  contentText,
  ITEMS,
  KNOWN_EVENTS,
  KNOWN_ITEMS,
  KNOWN_LINES,
  userParts,
} from "./rows.ts";
import { createCounter, type TokenPlace } from "./tokens.ts";

const UNKNOWN_NAMES = 50;
/** Texts taken from event twins that may come again as items. */
const TWINS = 8;

interface Facts extends Span {
  /** This thread's own id: the first session_meta's. */
  id?: string;
  title?: string;
  cwd?: string;
  gitBranch?: string;
  gitRemote?: string;
  version?: string | undefined;
  parent?: string;
  forkedFrom?: string;
  model?: string;
  /** Service tier of the turn, and the one that the thread's settings name until they change. */
  tier?: string | undefined;
  setTier?: string | undefined;
  /** A message item was seen: event twins of messages say nothing new then. */
  items?: boolean;
  /** Length and hash of the model's last message. */
  said?: number[];
}

/** `title`: of the thread in the assistant's index, where that has one; `origin`: what it may have copied from its parent. */
export function createParser(ref: Pick<SessionRef, "title">, origin?: Origin): LineParser {
  const facts: Facts = {};
  const copy = createCopy(origin);
  const tokens = createCounter();
  const limits = createLimits();
  const calls = createCalls();
  const twins: string[] = [];
  const unknown = new Map<string, number>();

  const meta = (payload: JsonRecord, at: string | undefined): void => {
    const id = toText(payload.id);
    if (facts.id !== undefined) {
      if (id && id !== facts.id) copy.begin(id);
      else facts.version = toText(payload.cli_version) ?? facts.version;
      return;
    }
    facts.id = id ?? "";
    facts.version = toText(payload.cli_version);
    facts.cwd = toText(payload.cwd) ?? facts.cwd;
    if (isRecord(payload.git)) {
      facts.gitBranch = toText(payload.git.branch);
      const remote = toText(payload.git.repository_url);
      if (remote) facts.gitRemote = cleanRemote(remote);
    }
    const spawned = isRecord(payload.source) && isRecord(payload.source.subagent) ? payload.source.subagent : {};
    const spawn = isRecord(spawned.thread_spawn) ? spawned.thread_spawn : {};
    facts.parent = toText(payload.parent_thread_id) ?? toText(spawn.parent_thread_id);
    facts.forkedFrom = toText(payload.forked_from_id);
    const began = toIso(payload.timestamp);
    widen(facts, began);
    copy.own(payload, began ?? at);
  };

  const place = (row: JsonRecord, line: { offset: number }, at: string | undefined, thread?: string): TokenPlace => {
    const foreign = thread !== undefined && thread !== facts.id;
    return {
      at,
      model: facts.model ?? "unknown",
      thread: thread ?? (copy.state.active ? (copy.state.from ?? facts.parent ?? "parent") : (facts.id ?? "")),
      position: typeof row.ordinal === "number" ? row.ordinal : line.offset,
      inherited: foreign || (thread === undefined && copy.state.active),
      tier: facts.tier,
    };
  };

  const message = (item: JsonRecord, at: string | undefined): NewEvent[] => {
    if (twins.length === 0) facts.items = true;
    const id = toText(item.id);
    if (item.role === "assistant") {
      const text = contentText(item.content);
      facts.said = [text.length, hash53(text)];
      return text === "" || twins.includes(text) ? [] : [said(text, at, id)];
    }
    if (item.role !== "user") {
      const text = contentText(item.content);
      return text === "" ? [] : [{ kind: "note", text, id, at }];
    }
    const passed = item.internal_chat_message_metadata_passthrough;
    const parts = userParts(item.content, isRecord(passed) ? passed.content_item_kinds : undefined);
    return parts.flatMap(({ kind, text }) => (kind === "user" && twins.includes(text) ? [] : [{ kind, text, id, at }]));
  };

  const said = (text: string, at: string | undefined, id?: string): NewEvent => {
    return { kind: "assistant", text, id, at, model: facts.model };
  };

  const thought = (text: string, at: string | undefined, id?: string): NewEvent => {
    return { kind: "thinking", text, id, at, model: facts.model };
  };

  const item = (value: JsonRecord, at: string | undefined): NewEvent[] | NewEvent | undefined => {
    switch (value.type) {
      case "message":
        return message(value, at);
      case "agent_message":
        return agentParts(value.content).map((part) => ({ ...part, id: toText(value.id), at }));
      case "reasoning": {
        const text = contentText(value.summary) || contentText(value.content);
        return text === "" || twins.includes(text) ? undefined : thought(text, at, toText(value.id));
      }
      case "function_call":
        return calls.use(value, toText(value.name) ?? "function", value.arguments, at, facts.model);
      case "custom_tool_call": {
        const event = calls.use(value, toText(value.name) ?? "custom", undefined, at, facts.model);
        if (event && typeof value.input === "string") event.tool_input = value.input;
        return event;
      }
      case "local_shell_call":
        return calls.use(value, "local_shell", value.action, at, facts.model);
      case "web_search_call":
        return calls.use(value, "web_search", value.action ?? null, at, facts.model);
      case "tool_search_call":
        return calls.use(value, "tool_search", value.arguments, at, facts.model);
      case "image_generation_call":
        return calls.use(value, "image_generation", { prompt: toText(value.revised_prompt) ?? "" }, at, facts.model);
      case "function_call_output":
      case "custom_tool_call_output":
      case "tool_search_output":
        return calls.result(value, at);
      default:
        if (value.type === undefined && isMessage(value)) return message(value, at);
        if (typeof value.type !== "string" || !KNOWN_ITEMS.has(value.type)) unseen(`response_item/${value.type}`);
        return undefined;
    }
  };

  /** The same text as an item's; taken only where a file has no message items. */
  const twin = (kind: "user" | "assistant" | "thinking", text: string, at: string | undefined): NewEvent[] => {
    if (facts.items || text === "") return [];
    twins.push(text);
    if (twins.length > TWINS) twins.shift();
    if (kind === "assistant") return [said(text, at)];
    if (kind === "thinking") return [thought(text, at)];
    return userParts(text, undefined).map((part) => ({ ...part, at }));
  };

  /** The summary, unless the model's own message just before has said it. */
  const compaction = (summary = ""): string => {
    const [length = 0, hash] = facts.said ?? [];
    const repeats = length > 0 && length <= summary.length && hash53(summary.slice(-length)) === hash;
    return summary === "" || repeats ? "Context compacted" : summary;
  };

  const note = (text: string, at: string | undefined): NewEvent => ({ kind: "note", text, at });

  const event = (payload: JsonRecord, at: string | undefined): NewEvent[] | NewEvent | undefined => {
    switch (payload.type) {
      case "user_message":
        return twin("user", toText(payload.message) ?? "", at);
      case "agent_message":
        return twin("assistant", toText(payload.message) ?? "", at);
      case "agent_reasoning":
        return twin("thinking", toText(payload.text) ?? "", at);
      case "item_completed":
        return isRecord(payload.item) ? completed(payload.item, at) : undefined;
      case "mcp_tool_call_begin":
      case "mcp_tool_call_end":
        return calls.server(payload, at, facts.model);
      case "exec_command_end":
        calls.keepExit(payload.call_id, payload.exit_code);
        return undefined;
      case "turn_aborted":
        return note(`Turn aborted: ${toText(payload.reason) ?? "unknown reason"}`, at);
      case "thread_rolled_back":
        return note(`Rolled back ${Number(payload.num_turns) || 0} turns`, at);
      case "thread_name_updated":
        facts.title = toText(payload.thread_name) ?? facts.title;
        return undefined;
      case "error":
        return note(toText(payload.message) ?? "Error", at);
      default:
        if (typeof payload.type !== "string" || !KNOWN_EVENTS.has(payload.type)) unseen(`event_msg/${payload.type}`);
        return undefined;
    }
  };

  const completed = (value: JsonRecord, at: string | undefined): NewEvent[] | undefined => {
    if (value.type === "UserMessage") return twin("user", contentText(value.content), at);
    if (value.type === "AgentMessage") return twin("assistant", contentText(value.content), at);
    if (value.type === "Reasoning") return twin("thinking", contentText(value.summary_text), at);
    if (value.type === "CommandExecution") calls.keepExit(value.id, value.exit_code);
    return calls.nested(value, at, facts.model);
  };

  /** The tier is in no count of tokens: what the settings name holds until they change. */
  const settings = ({ thread_id, thread_settings }: JsonRecord): void => {
    const thread = toText(thread_id);
    if (!isRecord(thread_settings) || copy.state.active || (thread !== undefined && thread !== facts.id)) return;
    facts.setTier = toText(thread_settings.service_tier);
    facts.tier = facts.setTier;
    facts.model ??= toText(thread_settings.model);
  };

  const unseen = (type: string): void => {
    const name = type.slice(0, 64);
    if (unknown.has(name) || unknown.size < UNKNOWN_NAMES) unknown.set(name, (unknown.get(name) ?? 0) + 1);
  };

  return {
    row(row, line) {
      if (!isRecord(row)) return;
      const at = toIso(row.timestamp);
      const payload = isRecord(row.payload) ? row.payload : {};
      if (row.type === "session_meta") return meta(payload, at) ?? undefined;
      copy.step(row, payload, at);
      if (!copy.state.active) widen(facts, at);
      if (row.type === "token_usage_record") {
        tokens.record(payload, place(row, line, at, toText(payload.thread_id)));
      } else if (row.type === "turn_context") {
        facts.model = toText(payload.model) ?? facts.model;
        facts.tier = toText(payload.service_tier) ?? facts.setTier;
        facts.cwd ??= toText(payload.cwd);
      } else if (row.type === "event_msg" && payload.type === "token_count") {
        tokens.event(payload.info, place(row, line, at));
        limits.add(payload.rate_limits, at);
      } else if (row.type === "event_msg" && payload.type === "thread_settings_applied") {
        settings(payload);
      } else if (copy.state.active) {
        return; // the parent's messages are in the parent's file
      } else if (row.type === "response_item") {
        return item(payload, at);
      } else if (row.type === "event_msg") {
        return event(payload, at);
      } else if (row.type === "compacted") {
        return note(compaction(toText(payload.message)), at);
      } else if (typeof row.type === "string" && ITEMS.has(row.type)) {
        return item(row, at);
      } else if (row.type === undefined && typeof row.id === "string" && facts.id === undefined) {
        meta(row, at);
      } else if (row.record_type === undefined && !(typeof row.type === "string" && KNOWN_LINES.has(row.type))) {
        unseen(String(row.type));
      }
    },
    finish(): SessionSummary {
      const { usage, inheritedUsage, slots, classes, replies, evidence } = tokens.summary();
      return {
        title: ref.title ?? facts.title,
        cwd: facts.cwd,
        gitBranch: facts.gitBranch,
        gitRemote: facts.gitRemote,
        assistantVersion: facts.version,
        parent: facts.parent,
        forkedFrom: facts.forkedFrom,
        startedAt: facts.startedAt,
        endedAt: facts.endedAt,
        usage,
        inheritedUsage,
        slots,
        classes,
        replies,
        evidence,
        limits: limits.list(),
        skipped: { lines: 0, unknown: Object.fromEntries(unknown) },
      };
    },
  };
}

const isMessage = (value: JsonRecord) => typeof value.role === "string" && value.content !== undefined;
