/** Claude Code's records → events, tokens and the session's facts. */

import {
  BoundedMap,
  isRecord,
  type JsonRecord,
  type SessionRef,
  type SessionSummary,
  type SessionUsage,
  type TokenUsage,
  toIso,
  toList,
  toText,
} from "sessarc";
import { addUsage, createLedger, type LineParser, possible, type Span, toCount, widen } from "sessarc/adapter";
import { repliesOfAgents } from "./agents.ts";
import { createLinks } from "./links.ts";
import { createMessages } from "./messages.ts";
import { createOutputs } from "./outputs.ts";
import { createQueue } from "./queue.ts";
import { CONVERSATION, KNOWN, REPEATED } from "./rows.ts";
import { createSpend, withEntries } from "./spend.ts";

/** uuids of the latest records, to which a summary at the end of a file may point. */
const RECENT = 64;
const UNKNOWN_NAMES = 50;

interface Facts extends Span {
  cwd?: string;
  gitBranch?: string;
  version?: string;
  parent?: string;
  forkedFrom?: string;
  customTitle?: string;
  aiTitle?: string;
  /** Title of a summary whose leaf was found in this file. */
  summary?: string;
}

export function createParser(ref: Pick<SessionRef, "path" | "parent" | "remembered">): LineParser {
  const stem = toStem(ref.path);
  const isAgent = stem.startsWith("agent-");
  const ledger = createLedger();
  const facts: Facts = {};
  const leaves = new BoundedMap<string, string>(RECENT);
  const recent: string[] = [];
  const messages = createMessages(isAgent, createOutputs(ref.path));
  const queue = createQueue();
  const spend = createSpend(ref.remembered);
  const links = createLinks();
  const unknown = new Map<string, number>();

  /** cwd, branch, times and links, which every record of the chain repeats. */
  const envelope = (row: JsonRecord): void => {
    if (typeof row.cwd === "string" && row.cwd !== "") facts.cwd = row.cwd;
    if (typeof row.gitBranch === "string" && row.gitBranch !== "") facts.gitBranch = row.gitBranch;
    if (typeof row.version === "string") facts.version = row.version;
    if (typeof row.uuid === "string") {
      if (leaves.size > 0) claimSummary(row.uuid);
      if (recent.length >= RECENT * 2) recent.splice(0, RECENT);
      recent.push(row.uuid);
    }
    if (typeof row.sessionId !== "string" || row.sessionId === "") return;
    if (isAgent) facts.parent ??= row.sessionId;
    else if (facts.forkedFrom === undefined) {
      const from = isRecord(row.forkedFrom) ? toText(row.forkedFrom.sessionId) : undefined;
      // A copied reply names the session that asked for it.
      const asked = toText(row.requestSessionId);
      if (from) facts.forkedFrom = from;
      else if (asked && asked !== row.sessionId && asked !== stem) facts.forkedFrom = asked;
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
    }
  };

  const count = (row: JsonRecord, message: JsonRecord, at: string | undefined): void => {
    const usage = isRecord(message.usage) ? message.usage : isRecord(row.usage) ? row.usage : undefined;
    const model = toText(message.model) ?? toText(row.model) ?? "unknown";
    if (!usage || model === "<synthetic>") return;
    spend.reply(at);
    const id = toText(message.id);
    const request = toText(row.requestId);
    const key = id && request ? `${id}:${request}` : (id ?? request ?? toText(row.uuid));
    const tier = [usage.speed, usage.service_tier];
    for (const call of callsBeside(usage.iterations, model))
      ledger.add({
        key: key && `${key}#${call.type}:${call.model}`,
        at,
        model: call.model,
        usage: call.usage,
        price: { tier },
      });
    ledger.add({
      key,
      at,
      model,
      usage: toTokens(usage),
      price: {
        tier,
        // Where the model used a tool of the server, one record sums up several calls.
        oneCall: !Array.isArray(usage.iterations) || usage.iterations.length < 2,
      },
    });
  };

  return {
    skip: [REPEATED],
    skipUnless: CONVERSATION,
    row(value) {
      if (!isRecord(value)) return;
      const at = toIso(value.timestamp);
      const message = isRecord(value.message) ? value.message : {};
      switch (value.type) {
        case "user":
          envelope(value);
          widen(facts, at);
          return queue.without(messages.fromUser(value, message, at));
        case "assistant":
          envelope(value);
          widen(facts, at);
          count(value, message, at);
          return messages.fromAssistant(value, message, at);
        case "system": {
          envelope(value);
          widen(facts, at);
          const text = toText(value.content);
          return text ? { kind: "note", text, id: toText(value.uuid), at } : undefined;
        }
        case "attachment":
          envelope(value);
          return queue.without(messages.queued(value, at));
        case "queue-operation": {
          const content = queue.operation(value);
          return content === undefined ? undefined : messages.fromUser({}, { content }, at);
        }
        case "cost-state":
          return spend.total(value, ledger.summary().usage) ?? undefined;
        case "summary":
        case "custom-title":
        case "ai-title":
          return title(value) ?? undefined;
        case undefined:
          // Rows of very early clients carry tokens and nothing else.
          if (isRecord(message.usage) || isRecord(value.usage)) {
            envelope(value);
            count(value, message, at);
            return messages.fromAssistant(value, message, at);
          }
          return note(unknown, "(no type)");
        default:
          if (links.row(value)) return;
          if (typeof value.type === "string" && KNOWN.has(value.type)) return;
          return note(unknown, String(value.type));
      }
    },
    end: () => queue.left().flatMap((content) => messages.fromUser({}, { content }, facts.endedAt)),
    finish(): SessionSummary {
      const logged = ledger.summary();
      const agents = () => repliesOfAgents(ref.path, (path) => createParser({ path }));
      const unlogged = isAgent ? [] : spend.unlogged(facts.forkedFrom !== undefined, agents);
      const { usage, inheritedUsage, slots, classes, replies, evidence } = withEntries(logged, unlogged);
      return {
        title: facts.customTitle ?? facts.aiTitle ?? facts.summary,
        cwd: facts.cwd,
        gitBranch: facts.gitBranch,
        assistantVersion: facts.version,
        parent: ref.parent ?? facts.parent,
        forkedFrom: facts.forkedFrom,
        startedAt: facts.startedAt,
        endedAt: facts.endedAt,
        usage,
        inheritedUsage,
        slots,
        classes,
        replies,
        evidence,
        ...links.facts(),
        remembered: isAgent ? undefined : spend.remembered(),
        skipped: { lines: 0, unknown: Object.fromEntries(unknown) },
      };
    },
  };
}

/** Tokens of a record of usage, or of one of its iterations. */
function toTokens(usage: JsonRecord): Record<keyof TokenUsage, unknown> {
  const split = isRecord(usage.cache_creation) ? usage.cache_creation : undefined;
  const long = toCount(split?.ephemeral_1h_input_tokens);
  return {
    input: usage.input_tokens,
    output: usage.output_tokens,
    cacheWrite5m: Math.max(
      toCount(split?.ephemeral_5m_input_tokens),
      toCount(usage.cache_creation_input_tokens) - possible(long),
    ),
    cacheWrite1h: long,
    cacheRead: usage.cache_read_input_tokens,
  };
}

/** Calls that the sums of a reply leave out: those of an advisor, which has a model of its own, and compactions on the server. One entry a kind and model. */
function callsBeside(iterations: unknown, model: string): { type: string; model: string; usage: TokenUsage }[] {
  const calls = new Map<string, { type: string; model: string; usage: SessionUsage }>();
  for (const one of toList(iterations)) {
    if (!isRecord(one) || typeof one.type !== "string" || !BESIDE.has(one.type)) continue;
    const own = toText(one.model) ?? model;
    const name = `${one.type} ${own}`;
    const call = calls.get(name) ?? { type: one.type, model: own, usage: {} };
    calls.set(name, call);
    addUsage(call.usage, "", toTokens(one));
  }
  return [...calls.values()].flatMap(({ usage, ...call }) => (usage[""] ? [{ ...call, usage: usage[""] }] : []));
}

const BESIDE: ReadonlySet<string> = new Set(["advisor_message", "compaction"]);

/** Counts an unknown record type. */
function note(unknown: Map<string, number>, type: string): undefined {
  const name = type.slice(0, 64);
  if (unknown.has(name) || unknown.size < UNKNOWN_NAMES) unknown.set(name, (unknown.get(name) ?? 0) + 1);
}

export function toStem(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  return name.endsWith(".jsonl") ? name.slice(0, -6) : name;
}

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
