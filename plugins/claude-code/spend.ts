/**
 * What a session spent beyond its logged replies: compactions, titles and other calls the client made for itself. It is known only
 * from the client's own running total (`cost-state`), which covers the sub-agents too and goes on in a fork.
 */
import {
  addUsage,
  isRecord,
  type JsonRecord,
  type LedgerSummary,
  type SessionUsage,
  slotOf,
  type TokenUsage,
  toCount,
  toIso,
  toText,
  type UsageEntry,
} from "sessarc/adapter";

/** A total as it stood in the log. */
interface Mark {
  total: SessionUsage;
  /** Counted from replies up to there. */
  logged: SessionUsage;
  /** Of the last reply before it. */
  at?: string | undefined;
}

export interface Spend {
  first?: Mark | undefined;
  last?: Mark | undefined;
  /** Of the last reply seen. */
  at?: string | undefined;
  /** Of the first reply behind the last total. */
  next?: string | undefined;
}

const FIELDS = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const;

export function createSpend(past?: Spend) {
  const state: Spend = { ...past };
  return {
    /** Before each counted reply. */
    reply(at: string | undefined): void {
      state.at = at ?? state.at;
      if (state.last) state.next ??= at;
    },
    /** `logged`: the tokens of all replies so far. */
    total(row: JsonRecord, logged: SessionUsage): void {
      const mark: Mark = { total: toUsage(row.modelUsage), logged, at: state.at ?? startOf(row) };
      state.first ??= mark;
      state.last = mark;
      state.next = undefined;
    },
    /**
     * The rest of the last total. Empty when the totals do not cover what the log has (another name for a model, a log that was cut):
     * nothing is guessed then. A fork's first total holds its parent's spend, so that only what came after it is known.
     * `readAgents`: the replies of the session's sub-agents, undefined when they cannot be had.
     */
    unlogged(isFork: boolean, readAgents: () => readonly UsageEntry[] | undefined): UsageEntry[] {
      const { first, last } = state;
      const agents = last && readAgents();
      if (!first || !last || !agents) return [];
      const rest = toRest(last.total);
      subtract(rest, last.logged);
      if (isFork) {
        subtract(rest, first.total);
        subtract(rest, first.logged, -1);
      }
      const [since, until] = [isFork ? (first.at ?? "") : "", state.next ?? "~"];
      for (const reply of agents) {
        const at = reply.at ?? "";
        if (at >= since && at < until) subtract(rest, { [reply.model]: reply.usage });
      }
      const entries = [...rest].map(([model, usage]): UsageEntry => ({ at: last.at, model, usage }));
      if (entries.some(({ usage }) => FIELDS.some((field) => usage[field] < 0))) return [];
      return entries.filter(({ usage }) => FIELDS.some((field) => usage[field] > 0));
    },
    snapshot: (): Spend => state,
  };
}

/** The sums of a ledger with further entries: each a record and a request of its own. */
export function withEntries(sums: LedgerSummary, entries: readonly UsageEntry[]): LedgerSummary {
  if (entries.length === 0) return sums;
  const usage = structuredClone(sums.usage);
  const slots = structuredClone(sums.slots);
  for (const entry of entries) {
    addUsage(usage, entry.model, entry.usage);
    const slot = entry.at === undefined ? "" : slotOf(entry.at);
    if (slot === "") continue;
    slots[slot] ??= {};
    addUsage(slots[slot], entry.model, entry.usage);
  }
  const { records, requests, ...evidence } = sums.evidence;
  return {
    ...sums,
    usage,
    slots,
    replies: [...sums.replies, ...entries],
    evidence: { records: records + entries.length, requests: requests + entries.length, ...evidence },
  };
}

function toUsage(models: unknown): SessionUsage {
  const usage: SessionUsage = {};
  for (const [model, counts] of Object.entries(isRecord(models) ? models : {})) {
    if (!isRecord(counts)) continue;
    const long = toCount(counts.cacheCreationEphemeral1hInputTokens);
    addUsage(usage, model, {
      input: counts.inputTokens,
      output: counts.outputTokens,
      cacheWrite5m: toCount(counts.cacheCreationInputTokens) - long,
      cacheWrite1h: long,
      cacheRead: counts.cacheReadInputTokens,
    });
  }
  return usage;
}

const toRest = (total: SessionUsage) => new Map(Object.entries(structuredClone(total)));

function subtract(rest: Map<string, TokenUsage>, usage: SessionUsage, sign = 1): void {
  for (const [model, tokens] of Object.entries(usage)) {
    const left = rest.get(model) ?? { input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 };
    for (const field of FIELDS) left[field] -= sign * tokens[field];
    rest.set(model, left);
  }
}

const startOf = (row: JsonRecord) => toIso(toText(row.startTime) ?? row.startTime);
