/** Claude Code's records → events, tokens and the session's facts. */
import {
  createLedger,
  isJson,
  isRecord,
  type Json,
  type JsonRecord,
  type LineParser,
  type SessionEvent,
  type SessionRef,
  type SessionSummary,
  type Span,
  toIso,
  toText,
  widen,
} from "sessarc";
import { contentText, KNOWN, splitUserText } from "./rows.ts";

/** uuids of the latest records, to which a summary at the end of a file may point. */
const RECENT = 64;
const OPEN_CALLS = 512;
const UNKNOWN_NAMES = 50;

interface State extends Span {
  cwd?: string;
  gitBranch?: string;
  parent?: string;
  forkedFrom?: string;
  customTitle?: string;
  aiTitle?: string;
  /** Title of a summary whose leaf was found in this file. */
  summary?: string;
  /** Leaf uuid → title, of summaries whose leaf was not seen yet: often they belong to another session. */
  leaves: Record<string, string>;
  recent: string[];
  /** Tool calls without a result yet: id → name. */
  calls: Record<string, string>;
  unknown: Record<string, number>;
  ledger: Json;
}

/** `state` is a former `snapshot()`. */
export function createParser(ref: Pick<SessionRef, "path" | "parent">, state?: Json): LineParser {
  const past = isState(state) ? state : undefined;
  const stem = stemOf(ref.path);
  const isAgent = stem.startsWith("agent-");
  const ledger = createLedger(past?.ledger);
  const facts: Omit<State, "leaves" | "recent" | "calls" | "unknown" | "ledger"> = past ? pickFacts(past) : {};
  const leaves = new Map(Object.entries(past?.leaves ?? {}));
  const recent = past ? [...past.recent] : [];
  const calls = new Map(Object.entries(past?.calls ?? {}));
  const unknown = new Map(Object.entries(past?.unknown ?? {}));

  /** cwd, branch, times and links, which every record of the chain repeats. */
  const envelope = (row: JsonRecord): void => {
    if (typeof row.cwd === "string" && row.cwd !== "") facts.cwd = row.cwd;
    if (typeof row.gitBranch === "string" && row.gitBranch !== "") facts.gitBranch = row.gitBranch;
    if (typeof row.uuid === "string") {
      if (leaves.size > 0) claimSummary(row.uuid);
      if (recent.length >= RECENT * 2) recent.splice(0, RECENT);
      recent.push(row.uuid);
    }
    if (typeof row.sessionId !== "string" || row.sessionId === "") return;
    if (isAgent) facts.parent ??= row.sessionId;
    else if (facts.forkedFrom === undefined) {
      const from = isRecord(row.forkedFrom) ? toText(row.forkedFrom.sessionId) : undefined;
      if (from) facts.forkedFrom = from;
      else if (row.sessionId !== stem && isUuid(stem) && isUuid(row.sessionId)) facts.forkedFrom = row.sessionId;
    }
  };

  const claimSummary = (uuid: string): void => {
    const title = leaves.get(uuid);
    if (title === undefined) return;
    facts.summary = title;
    leaves.delete(uuid);
  };

  const title = (row: JsonRecord): void => {
    if (row.type === "custom-title") facts.customTitle = toText(row.customTitle) ?? facts.customTitle;
    else if (row.type === "ai-title") facts.aiTitle = toText(row.aiTitle) ?? facts.aiTitle;
    else if (typeof row.leafUuid === "string" && typeof row.summary === "string" && row.summary !== "") {
      leaves.set(row.leafUuid, row.summary);
      if (recent.includes(row.leafUuid)) claimSummary(row.leafUuid);
      if (leaves.size > RECENT) leaves.delete(leaves.keys().next().value ?? "");
    }
  };

  const count = (row: JsonRecord, message: JsonRecord, at: string | undefined): void => {
    const usage = isRecord(message.usage) ? message.usage : isRecord(row.usage) ? row.usage : undefined;
    const model = toText(message.model) ?? toText(row.model) ?? "unknown";
    if (!usage || model === "<synthetic>") return;
    const id = toText(message.id);
    const request = toText(row.requestId);
    const key = id && request ? `${id}:${request}` : (id ?? request ?? toText(row.uuid));
    const split = isRecord(usage.cache_creation) ? usage.cache_creation : undefined;
    const short = number(split?.ephemeral_5m_input_tokens);
    const long = number(split?.ephemeral_1h_input_tokens);
    ledger.add({
      key,
      at,
      model,
      usage: {
        input: usage.input_tokens,
        output: usage.output_tokens,
        cacheWrite5m: Math.max(short, number(usage.cache_creation_input_tokens) - long),
        cacheWrite1h: long,
        cacheRead: usage.cache_read_input_tokens,
      },
    });
  };

  const fromUser = (row: JsonRecord, message: JsonRecord, at: string | undefined): SessionEvent[] => {
    const events: SessionEvent[] = [];
    const id = toText(row.uuid);
    // Text that no person typed: flagged by the client, or a sub-agent's task inside its parent's file.
    const injected = row.isMeta === true || row.isCompactSummary === true || (row.isSidechain === true && !isAgent);
    const typed: string[] = [];
    const take = (text: string): void => {
      if (text === "") return;
      const split = injected ? { notes: [text], typed: "" } : splitUserText(text);
      for (const note of split.notes) events.push({ seq: 0, kind: "note", text: note, id, at });
      if (split.typed !== "") typed.push(split.typed);
    };
    if (typeof message.content === "string") take(message.content);
    for (const block of Array.isArray(message.content) ? message.content : []) {
      if (typeof block === "string") take(block);
      else if (!isRecord(block)) continue;
      else if (block.type === "text") take(typeof block.text === "string" ? block.text : "");
      else if (block.type === "image" || block.type === "document") typed.push("[image]");
      else if (typeof block.type === "string" && block.type.endsWith("tool_result")) events.push(result(block, id, at));
    }
    if (typed.length > 0) events.push({ seq: 0, kind: injected ? "note" : "user", text: typed.join("\n"), id, at });
    return events;
  };

  const fromAssistant = (row: JsonRecord, message: JsonRecord, at: string | undefined): SessionEvent[] => {
    const events: SessionEvent[] = [];
    const id = toText(row.uuid);
    const model = toText(message.model);
    const said = (text: string): void => {
      if (text === "") return;
      const event: SessionEvent = { seq: 0, kind: "assistant", text, id, at, model };
      if (row.isApiErrorMessage === true) event.is_error = true;
      events.push(event);
    };
    if (typeof message.content === "string") said(message.content);
    for (const block of Array.isArray(message.content) ? message.content : []) {
      if (!isRecord(block)) continue;
      if (block.type === "text") said(typeof block.text === "string" ? block.text : "");
      else if (block.type === "thinking" || block.type === "redacted_thinking") {
        const text = toText(block.thinking);
        if (text) events.push({ seq: 0, kind: "thinking", text, id, at, model });
      } else if (block.type === "tool_use" || block.type === "server_tool_use" || block.type === "mcp_tool_use") {
        const name = toText(block.name);
        const call = toText(block.id);
        if (call && name) remember(call, name);
        const input = isJson(block.input) ? block.input : undefined;
        events.push({
          seq: 0,
          kind: "tool_use",
          text: "",
          id,
          at,
          model,
          tool_name: name,
          tool_use_id: call,
          tool_input: input,
        });
      } else if (block.type === "image") said("[image]");
      else if (typeof block.type === "string" && block.type.endsWith("tool_result")) events.push(result(block, id, at));
    }
    return events;
  };

  const remember = (call: string, name: string): void => {
    calls.set(call, name);
    if (calls.size > OPEN_CALLS) calls.delete(calls.keys().next().value ?? "");
  };

  const result = (block: JsonRecord, id: string | undefined, at: string | undefined): SessionEvent => {
    const call = toText(block.tool_use_id);
    const event: SessionEvent = { seq: 0, kind: "tool_result", text: contentText(block.content), id, at };
    if (call) {
      event.tool_use_id = call;
      event.tool_name = calls.get(call);
      calls.delete(call);
    }
    if (typeof block.is_error === "boolean") event.is_error = block.is_error;
    return event;
  };

  /** A prompt typed while the assistant was at work is only found as an attachment. */
  const queued = (row: JsonRecord, at: string | undefined): SessionEvent[] => {
    if (!isRecord(row.attachment) || row.attachment.type !== "queued_command") return [];
    const content = row.attachment.prompt;
    return fromUser({ uuid: row.uuid, isMeta: row.attachment.isMeta === true }, { content }, at);
  };

  return {
    row(value) {
      if (!isRecord(value)) return;
      const at = toIso(value.timestamp);
      const message = isRecord(value.message) ? value.message : {};
      switch (value.type) {
        case "user":
          envelope(value);
          widen(facts, at);
          return fromUser(value, message, at);
        case "assistant":
          envelope(value);
          widen(facts, at);
          count(value, message, at);
          return fromAssistant(value, message, at);
        case "system": {
          envelope(value);
          widen(facts, at);
          const text = toText(value.content);
          return text ? { seq: 0, kind: "note", text, id: toText(value.uuid), at } : undefined;
        }
        case "attachment":
          envelope(value);
          return queued(value, at);
        case "summary":
        case "custom-title":
        case "ai-title":
          return title(value) ?? undefined;
        case undefined:
          // Rows of very early clients carry tokens and nothing else.
          if (isRecord(message.usage) || isRecord(value.usage)) {
            envelope(value);
            count(value, message, at);
            return fromAssistant(value, message, at);
          }
          return note(unknown, "(no type)");
        default:
          if (typeof value.type === "string" && KNOWN.has(value.type)) return;
          return note(unknown, String(value.type));
      }
    },
    finish(): SessionSummary {
      const { usage, inheritedUsage, slots, replies, evidence } = ledger.summary();
      return {
        title: facts.customTitle ?? facts.aiTitle ?? facts.summary,
        cwd: facts.cwd,
        gitBranch: facts.gitBranch,
        parent: ref.parent ?? facts.parent,
        forkedFrom: facts.forkedFrom,
        startedAt: facts.startedAt,
        endedAt: facts.endedAt,
        usage,
        inheritedUsage,
        slots,
        replies,
        evidence,
        skipped: { lines: 0, unknown: Object.fromEntries(unknown) },
      };
    },
    snapshot() {
      const state: State = {
        ...facts,
        leaves: Object.fromEntries(leaves),
        recent: recent.slice(-RECENT),
        calls: Object.fromEntries(calls),
        unknown: Object.fromEntries(unknown),
        ledger: ledger.snapshot(),
      };
      const json: unknown = JSON.parse(JSON.stringify(state));
      return isJson(json) ? json : null;
    },
  };
}

/** Counts a record type nobody knows. */
function note(unknown: Map<string, number>, type: string): undefined {
  const name = type.slice(0, 64);
  if (unknown.has(name) || unknown.size < UNKNOWN_NAMES) unknown.set(name, (unknown.get(name) ?? 0) + 1);
}

function number(value: unknown): number {
  const count = typeof value === "string" ? Number(value) : value;
  return typeof count === "number" && Number.isFinite(count) && count > 0 ? count : 0;
}

function pickFacts({ leaves, recent, calls, unknown, ledger, ...facts }: State) {
  return facts;
}

function isState(state: Json | undefined): state is Json & State {
  return isRecord(state) && "ledger" in state && "recent" in state;
}

export function stemOf(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  return name.endsWith(".jsonl") ? name.slice(0, -6) : name;
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
