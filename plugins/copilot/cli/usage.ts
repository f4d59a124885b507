/** Tokens of a CLI session: per call where the log has it, else per run from its shutdown, else what single records tell. */

import {
  createLedger,
  isRecord,
  type Json,
  type JsonRecord,
  type LedgerSummary,
  toCount,
  toRecord,
  toText,
} from "sessarc/adapter";
import { type LooseUsage, mergeUsage } from "#internal/adapter";

interface Sum {
  input: number;
  output: number;
  read: number;
  write: number;
}

interface Entry {
  key: string;
  at?: string | undefined;
  model: string;
  usage: { input: number; output: number; cacheRead: number; cacheWrite5m: number };
}

interface UsageState {
  ledger: Json;
  records: boolean;
  totals: Record<string, Sum>;
  runs: Entry[];
  loose: Entry[];
}

interface CliUsage {
  /** `session.usage_record`: one paid call. */
  record(data: JsonRecord, id: string, at: string | undefined): void;
  /** `session.shutdown`: totals per model, cumulative over resumes. */
  shutdown(data: JsonRecord, id: string, at: string | undefined): void;
  /** A compaction's own call: no call record and no total has it. */
  compaction(model: string, data: JsonRecord, id: string, at: string | undefined): void;
  /** Tokens named by a single message; counted only while nothing better is known. */
  partial(model: string, usage: LooseUsage, id: string, at: string | undefined): void;
  summary(): LedgerSummary;
  snapshot(): Json;
}

export function createCliUsage(past: Json | undefined, sessionId: () => string): CliUsage {
  const state: UsageState | undefined = isState(past) ? past : undefined;
  const ledger = createLedger(state?.ledger);
  let records = state?.records ?? false;
  const totals = new Map<string, Sum>(Object.entries(state?.totals ?? {}));
  const runs = [...(state?.runs ?? [])];
  let loose = [...(state?.loose ?? [])];

  return {
    record(data, id, at) {
      const usage = toRecord(data.usage);
      const account = toRecord(usage.accounting ?? data.accounting);
      records = true;
      loose = [];
      const source = toText(account.sourceSessionId);
      const key =
        source !== undefined && account.sequence !== undefined
          ? `${source}#${String(account.sequence)}`
          : (toText(account.usageId) ?? `${sessionId()}/${id}`);
      ledger.add({ key, at, model: toText(usage.model) ?? "unknown", usage: usageOf(sumOf(usage)) });
    },
    shutdown(data, id, at) {
      const metrics = toRecord(data.modelMetrics ?? toRecord(data.accountingSnapshot).modelMetrics);
      loose = [];
      for (const [model, metric] of Object.entries(metrics)) {
        const now = sumOf(toRecord(toRecord(metric).usage));
        const before = totals.get(model);
        totals.set(model, now);
        // Smaller than before: this version counts each run separately.
        const run = before && !isBelow(now, before) ? minus(now, before) : now;
        // Runs from before the first call record have no other trace; later ones are in the records.
        if (!records && run.input + run.output > 0)
          runs.push({ key: `${sessionId()}/${id}/${model}`, at, model, usage: usageOf(run) });
      }
    },
    compaction(model, data, id, at) {
      const used = toRecord(data.compactionTokensUsed);
      // Earlier versions have other names for the figures.
      if (used.inputTokens === undefined) {
        return this.partial(model, { input: used.input, output: used.output, cacheRead: used.cachedInput }, id, at);
      }
      const entry = {
        key: `${sessionId()}/${id}`,
        at,
        model: toText(used.model) ?? model,
        usage: usageOf(sumOf(used)),
      };
      if (records) ledger.add(entry);
      else loose.push(entry);
    },
    partial(model, usage, id, at) {
      if (records) return;
      const input = toCount(usage.input);
      const entry = {
        input,
        output: toCount(usage.output),
        cacheRead: toCount(usage.cacheRead),
        cacheWrite5m: toCount(usage.cacheWrite5m),
      };
      if (Object.values(entry).some((tokens) => tokens > 0)) {
        loose.push({ key: `${sessionId()}/${id}`, at, model, usage: entry });
      }
    },
    summary() {
      const main = ledger.summary();
      if (runs.length === 0 && loose.length === 0) return main;
      const rest = createLedger();
      for (const entry of [...runs, ...loose]) rest.add(entry);
      return join(main, rest.summary());
    },
    snapshot: () =>
      JSON.parse(
        JSON.stringify({
          ledger: ledger.snapshot(),
          records,
          totals: Object.fromEntries(totals),
          runs,
          loose,
        } satisfies UsageState),
      ),
  };
}

function join(a: LedgerSummary, b: LedgerSummary): LedgerSummary {
  mergeUsage(a.usage, b.usage);
  for (const [slot, usage] of Object.entries(b.slots)) {
    a.slots[slot] ??= {};
    mergeUsage(a.slots[slot], usage);
  }
  const evidence = { ...a.evidence };
  evidence.records += b.evidence.records;
  evidence.requests += b.evidence.requests;
  return { ...a, replies: [...a.replies, ...b.replies], evidence };
}

/** `inputTokens` contains what was read from and written to the cache; reasoning is inside `outputTokens`. */
function usageOf(sum: Sum): Entry["usage"] {
  return {
    input: Math.max(0, sum.input - sum.read - sum.write),
    output: sum.output,
    cacheRead: sum.read,
    cacheWrite5m: sum.write,
  };
}

function sumOf(usage: JsonRecord): Sum {
  return {
    input: toCount(usage.inputTokens),
    output: toCount(usage.outputTokens),
    read: toCount(usage.cacheReadTokens),
    write: toCount(usage.cacheWriteTokens),
  };
}

function isBelow(now: Sum, before: Sum): boolean {
  return now.input < before.input || now.output < before.output;
}

function minus(now: Sum, before: Sum): Sum {
  return {
    input: now.input - before.input,
    output: now.output - before.output,
    read: Math.max(0, now.read - before.read),
    write: Math.max(0, now.write - before.write),
  };
}

function isState(value: unknown): value is UsageState {
  return isRecord(value) && "ledger" in value && "totals" in value && "runs" in value;
}
