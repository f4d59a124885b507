/**
 * What a session spent beyond its logged replies: compactions, titles and other calls the client made for itself. It is known only
 * from the client's own running total (`cost-state`), which covers the sub-agents too and goes on in a fork.
 */

import {
  isRecord,
  type Json,
  type JsonRecord,
  type SessionUsage,
  type TokenUsage,
  toIso,
  toJson,
  toNumber,
  toText,
  type UsageEntry,
} from "sessarc";
import { addUsage, type LedgerSummary, possible, toCount, toSlot } from "sessarc/adapter";

/** A total as the log recorded it. */
interface Mark {
  total: SessionUsage;
  /** Counted from replies up to there. */
  logged: SessionUsage;
  /** Of the last reply before it. */
  at?: string | undefined;
}

interface Spend {
  first?: Mark | undefined;
  last?: Mark | undefined;
  /** Of the last reply seen. */
  at?: string | undefined;
  /** Of the first reply behind the last total. */
  next?: string | undefined;
  /**
   * What each sub-agent spent, by its log: `covered` by the last total, and `later`. The log may be deleted before the session goes on; what it
   * spent stays counted with the sub-agent, and the total goes on to cover it.
   */
  agents?: Agents;
  /** How many totals the log had. */
  totals: number;
}

type Agents = Record<string, { covered: SessionUsage; later: SessionUsage }>;

const FIELDS = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const;

/** `remembered`: of the last reading of this log, before some logs of sub-agents may have gone. */
export function createSpend(remembered?: Json) {
  const { totals: before, agents } = toRemembered(remembered);
  const state: Spend = { totals: 0, ...(agents && { agents }) };
  return {
    /** Undefined while no sub-agent is known. */
    remembered: (): Json | undefined =>
      state.agents && Object.keys(state.agents).length > 0
        ? toJson(structuredClone({ totals: state.totals, agents: state.agents }))
        : undefined,
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
      // What is remembered is as it was after the totals of that time.
      if (++state.totals <= before) return;
      for (const { covered, later } of Object.values(state.agents ?? {}))
        for (const [model, tokens] of takeAll(later)) addUsage(covered, model, tokens);
    },
    /**
     * The rest of the last total. Empty when the totals do not cover what the log has (another name for a model, a log that was cut):
     * nothing is guessed then. A fork's first total holds its parent's spend, so that only what came after it is known.
     * `readAgents`: the replies of the session's sub-agents by their logs, undefined when they cannot be had.
     */
    unlogged(isFork: boolean, readAgents: () => ReadonlyMap<string, readonly UsageEntry[]> | undefined): UsageEntry[] {
      const { first, last } = state;
      const agents = readAgents();
      if (!agents) return [];
      const [since, until] = [isFork ? (first?.at ?? "~") : "", last ? (state.next ?? "~") : ""];
      state.agents ??= {};
      for (const [log, replies] of agents) {
        const spent = { covered: {}, later: {} };
        for (const { at = "", model, usage } of replies)
          if (at >= since) addUsage(at < until ? spent.covered : spent.later, model, usage);
        state.agents[log] = spent;
      }
      if (!first || !last) return [];
      const rest = toRest(last.total);
      subtract(rest, last.logged);
      if (isFork) {
        subtract(rest, first.total);
        subtract(rest, first.logged, -1);
      }
      for (const { covered } of Object.values(state.agents)) subtract(rest, covered);
      const entries = [...rest].map(([model, usage]): UsageEntry => ({ at: last.at, model, usage }));
      if (entries.some(({ usage }) => FIELDS.some((field) => usage[field] < 0))) return [];
      return entries.filter(({ usage }) => FIELDS.some((field) => usage[field] > 0));
    },
  };
}

/** The sums of a ledger with further entries: each a record and a request of its own. */
export function withEntries(sums: LedgerSummary, entries: readonly UsageEntry[]): LedgerSummary {
  if (entries.length === 0) return sums;
  const usage = structuredClone(sums.usage);
  const slots = structuredClone(sums.slots);
  for (const entry of entries) {
    addUsage(usage, entry.model, entry.usage);
    const slot = entry.at === undefined ? "" : toSlot(entry.at);
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
      cacheWrite5m: toCount(counts.cacheCreationInputTokens) - possible(long),
      cacheWrite1h: long,
      cacheRead: counts.cacheReadInputTokens,
    });
  }
  return usage;
}

function takeAll(usage: SessionUsage): [string, TokenUsage][] {
  const all = Object.entries(usage);
  for (const [model] of all) delete usage[model];
  return all;
}

function toRemembered(remembered: Json | undefined): { totals: number; agents?: Agents } {
  if (!isRecord(remembered)) return { totals: 0 };
  const sums = (usage: unknown): SessionUsage => {
    const all: SessionUsage = {};
    for (const [model, tokens] of Object.entries(isRecord(usage) ? usage : {}))
      if (isRecord(tokens)) addUsage(all, model, tokens);
    return all;
  };
  const agents = Object.entries(isRecord(remembered.agents) ? remembered.agents : {}).map(([log, spent]) => {
    const { covered, later } = isRecord(spent) ? spent : {};
    return [log, { covered: sums(covered), later: sums(later) }] as const;
  });
  return { totals: toNumber(remembered.totals) ?? 0, agents: Object.fromEntries(agents) };
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
