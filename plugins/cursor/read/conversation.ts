/** Cursor's bubbles -> events and usage: one builder for tabs, old composers and new ones. Pure. */

import {
  isRecord,
  type Json,
  type JsonRecord,
  parseRecord,
  type SessionSummary,
  toJson,
  toList,
  toNumber,
  toRecord,
  toText,
} from "sessarc";
import { createLedger, msToIso, type NewEvent, pathsIn } from "sessarc/adapter";
import { type Conversation, parseJson, toMs } from "../stores/types.ts";

export interface Builder {
  /** `growing`: Cursor is still writing this bubble. `tool`: its tool call, if it is stored beside the bubble. */
  bubble(value: unknown, growing?: boolean, tool?: unknown): Iterable<NewEvent>;
  /** Counts something that could not be read. */
  bad(): void;
  count(what: string): void;
  /** Remembers the absolute paths a tool call names. */
  named(input: Json | undefined): void;
  /** Absolute paths that tool calls named, the first 100. */
  readonly paths: ReadonlySet<string>;
  finish(): SessionSummary;
}

/** Numbers below this are no dates but ms since the conversation began. */
const YEAR_2000 = 946_684_800_000;
const PATHS = 100;

/** Content never makes it throw. */
export function createBuilder(conversation: Conversation): Builder {
  const ledger = createLedger();
  const unknown: Record<string, number> = {};
  const paths = new Set<string>();
  let lines = 0;
  let first = Number.POSITIVE_INFINITY;
  let latest = 0;

  const count = (what: string) => {
    const name = what.slice(0, 60);
    unknown[name] = (unknown[name] ?? 0) + 1;
  };

  function named(input: Json | undefined): void {
    if (paths.size >= PATHS) return;
    for (const path of pathsIn(input)) if (isAbsolute(path) && paths.size < PATHS) paths.add(path);
  }

  function findTime(bubble: JsonRecord): string | undefined {
    const timing = toRecord(bubble.timingInfo);
    const start = toNumber(timing.clientStartTime);
    const relative = start !== undefined && start > 0 && start < YEAR_2000;
    const started =
      relative && conversation.createdAt ? conversation.createdAt + start : relative ? undefined : toMs(start);
    const ms = toMs(bubble.createdAt) ?? started ?? toMs(bubble.timestamp);
    if (ms === undefined) return undefined;
    first = Math.min(first, ms);
    latest = Math.max(latest, ms);
    return msToIso(ms);
  }

  function pay(bubble: JsonRecord, id: string | undefined, at: string | undefined, model: string): void {
    const tokens = toRecord(bubble.tokenCount);
    const usage = { input: tokens.inputTokens, output: tokens.outputTokens };
    // 0/0 is what most bubbles say: no figure, not a free reply.
    if (!(Number(usage.input) > 0) && !(Number(usage.output) > 0)) return;
    ledger.add({ key: id && `${conversation.key}:${id}`, at, model, usage });
  }

  function* tool(
    data: JsonRecord,
    at: string | undefined,
    model: string | undefined,
    growing: boolean,
  ): Generator<NewEvent> {
    const number = toNumber(data.tool);
    const name = toText(data.name) ?? toText(data.toolName) ?? (number === undefined ? "unknown" : `tool_${number}`);
    const input = findInput(data);
    named(input);
    const call = { tool_name: name, tool_use_id: toText(data.toolCallId) };
    const status = toText(data.status);
    const result = data.result ?? undefined;
    const error = data.error ?? undefined;
    const over = status !== undefined && OVER.has(status);
    const done = result !== undefined || error !== undefined || over;
    const use: NewEvent = { kind: "tool_use", ...call, at, model, text: "", tool_input: input };
    yield growing && !done ? { ...use, open: true } : use;
    if (!done) return;
    const answer = toResult(result);
    const is_error =
      error !== undefined || FAILED.has(status ?? "") || data.userDecision === "rejected" || answer.exit !== 0;
    const text = answer.text || (error === undefined ? "" : plain(error));
    yield { kind: "tool_result", ...call, at, text, is_error };
  }

  return {
    paths,
    bad() {
      lines++;
    },
    count,
    named,
    *bubble(value, growing = false, aside) {
      if (!isRecord(value)) {
        lines++;
        return;
      }
      const role = findRole(value.type);
      const id = toText(value.bubbleId) ?? toText(value.id);
      const at = findTime(value);
      if (role === undefined) {
        count(`bubble:${String(value.type)}`);
        return;
      }
      const named = toText(toRecord(value.modelInfo).modelName) ?? toText(value.modelType);
      const model = role === "assistant" ? (named ?? conversation.model) : undefined;
      const open = growing ? { open: true as const } : {};
      if (role === "assistant") pay(value, id, at, model ?? "unknown");
      const thought = findThinking(value);
      if (thought) yield { kind: "thinking", id, at, model, text: thought, ...open };
      // Older replies list the calls they made before they answered.
      for (const old of toList(value.toolResults)) if (isRecord(old)) yield* withId(tool(old, at, model, false), id);
      const text = bubbleText(value);
      if (text) yield { kind: role, id, at, model, text, ...open };
      const former = isRecord(value.toolFormerData) ? value.toolFormerData : aside;
      if (isRecord(former)) yield* withId(tool(former, at, model, growing), id);
    },
    finish() {
      const { usage, slots, replies, evidence } = ledger.summary();
      const begun = conversation.createdAt ?? (Number.isFinite(first) ? first : undefined);
      const ended = Math.max(latest || (conversation.updatedAt ?? 0), begun ?? 0);
      return {
        title: conversation.title,
        cwd: conversation.cwd,
        parent: conversation.parent,
        startedAt: msToIso(begun),
        endedAt: msToIso(ended),
        usage,
        slots,
        replies,
        evidence,
        skipped: { lines, unknown: { ...unknown } },
      };
    },
  };
}

const OVER = new Set(["completed", "error", "cancelled", "rejected", "failed"]);
const FAILED = new Set(["error", "cancelled", "rejected", "failed"]);

function* withId(drafts: Iterable<NewEvent>, id: string | undefined): Generator<NewEvent> {
  for (const draft of drafts) yield { ...draft, id };
}

function findRole(type: unknown): "user" | "assistant" | undefined {
  if (type === 1 || type === "user") return "user";
  return type === 2 || type === "ai" || type === "assistant" ? "assistant" : undefined;
}

function findThinking(bubble: JsonRecord): string | undefined {
  const thinking = bubble.thinking;
  return toText(thinking) ?? toText(toRecord(thinking).text);
}

function bubbleText(bubble: JsonRecord): string | undefined {
  return toText(bubble.text) ?? toText(bubble.rawText) ?? richText(bubble.richText) ?? richText(bubble.initText);
}

/** The text of the editor's own document (Lexical), where a prompt has no plain text. */
function richText(value: unknown): string | undefined {
  const document = typeof value === "string" ? parseRecord(value) : value;
  const out: string[] = [];
  const visit = (node: unknown, depth: number) => {
    if (!isRecord(node) || depth > 32) return;
    if (typeof node.text === "string") out.push(node.text);
    for (const child of toList(node.children)) visit(child, depth + 1);
    if (node.type === "paragraph") out.push("\n");
  };
  visit(toRecord(document).root, 0);
  return toText(out.join("").trim());
}

/** `rawArgs` is what the model wrote; `params` what Cursor made of it. */
function findInput(data: JsonRecord): Json | undefined {
  for (const value of [data.rawArgs, data.params, data.args]) {
    if (isRecord(value)) return toJson(value);
    const parsed = parseJson(value);
    if (isRecord(parsed) && Object.keys(parsed).length > 0) return toJson(parsed);
  }
  return toText(data.rawArgs) ?? toText(data.params) ?? toJson(data.args);
}

/** A result is JSON text around the one thing it says; that is taken out where it is known. */
function toResult(result: unknown): { text: string; exit: number } {
  const fields = isRecord(result) ? result : parseRecord(result);
  const exit = toNumber(fields?.exitCodeV2) ?? toNumber(fields?.exitCode) ?? 0;
  const inner = fields && (toText(fields.contents) ?? toText(fields.output));
  return { text: inner ?? plain(result), exit };
}

function plain(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

const isAbsolute = (path: string) => path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path);
