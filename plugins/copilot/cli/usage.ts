/**
 * Tokens of a CLI session: per call where the database of requests or the log has it, else per run from its shutdown, else what
 * single records say.
 */

import { type JsonRecord, toRecord, toText } from "sessarc";
import {
  createLedger,
  isBefore,
  type LedgerSummary,
  type LooseUsage,
  mergeUsage,
  possible,
  toCount,
  withoutCache,
} from "sessarc/adapter";
import type { PaidRequest } from "./store.ts";
import { addTotal, compacted, newTotals, type Total, type TotalsState } from "./totals.ts";

/** The name under which messages of all models are summed. */
const ALL = "*";
/** Runs of a session that are told apart. */
const RUNS = 1000;
const NOTHING: Total = { input: 0, output: 0, read: 0, write: 0 };

interface Entry {
  key: string;
  at?: string | undefined;
  model: string;
  usage: { input: number; output: number; cacheRead: number; cacheWrite5m: number };
}

interface CliUsage {
  /** A run begins: the session's start, or a resume. */
  begin(at: string | undefined): void;
  /** `session.usage_record`: one paid call. */
  record(data: JsonRecord, id: string, at: string | undefined): void;
  /** `session.shutdown`: totals per model. */
  shutdown(data: JsonRecord, id: string, at: string | undefined): void;
  /** A compaction's own call: no call record and no total has it. */
  compaction(model: string, data: JsonRecord, id: string, at: string | undefined): void;
  /** A message's own output: counted while nothing better is known, and by which totals are understood. */
  message(model: string, output: unknown, id: string, at: string | undefined): void;
  /** `requests`: those of the database. A run that it has requests of is counted by them. */
  summary(requests: readonly PaidRequest[]): LedgerSummary;
}

export function createCliUsage(sessionId: () => string): CliUsage {
  const ledger = createLedger();
  let records = false;
  /** By model, and of all models as `*`. */
  const totals = new Map<string, TotalsState>();
  /** When each run began. */
  const starts: string[] = [];
  const runs: Entry[] = [];
  let loose: Entry[] = [];

  const toTotals = (name: string): TotalsState => {
    const known = totals.get(name) ?? newTotals();
    totals.set(name, known);
    return known;
  };

  /** Tokens that a single record names; counted only while nothing better is known. */
  function partial(model: string, usage: LooseUsage, id: string, at: string | undefined): void {
    if (records) return;
    const entry = {
      input: toCount(usage.input),
      output: toCount(usage.output),
      cacheRead: toCount(usage.cacheRead),
      cacheWrite5m: toCount(usage.cacheWrite5m),
    };
    if (Object.values(entry).some((tokens) => tokens > 0)) {
      loose.push({ key: `${sessionId()}/${id}`, at, model, usage: entry });
    }
  }

  /** In which run something was. */
  const runAt = (at: string | undefined): number =>
    Math.max(
      0,
      starts.findLastIndex((start) => at === undefined || !isBefore(at, start)),
    );

  return {
    begin(at) {
      if (at !== undefined && starts.length < RUNS) starts.push(at);
    },
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
      ledger.add({ key, at, model: toText(usage.model) ?? "unknown", usage: toUsage(addUp(usage)) });
    },
    shutdown(data, id, at) {
      const metrics = toRecord(data.modelMetrics ?? toRecord(data.accountingSnapshot).modelMetrics);
      loose = [];
      const models = Object.entries(metrics);
      for (const [model, metric] of models) {
        // Messages may name the model in another way than the totals.
        const own = toTotals(model);
        const whole = models.length === 1 && own.said === 0 ? totals.get(ALL) : undefined;
        if (whole) Object.assign(own, { said: whole.said, points: [...whole.points] });
        const now = addUp(toRecord(toRecord(metric).usage));
        const { run, lost } = addTotal(own, now);
        if (whole) own.said = 0;
        // Runs from before the first call record have no other trace; later ones are in the records.
        if (records) continue;
        const key = `${sessionId()}/${id}/${model}`;
        if (possible(run.input) + possible(run.output) > 0) runs.push({ key, at, model, usage: toUsage(run) });
        if (lost > 0) runs.push({ key: `${key}/lost`, at, model, usage: toUsage({ ...NOTHING, output: lost }) });
      }
    },
    compaction(model, data, id, at) {
      for (const one of totals.values()) compacted(one);
      const used = toRecord(data.compactionTokensUsed);
      // Earlier versions have other names for the figures.
      if (used.inputTokens === undefined) {
        partial(model, { input: used.input, output: used.output, cacheRead: used.cachedInput }, id, at);
        return;
      }
      const entry = {
        key: `${sessionId()}/${id}`,
        at,
        model: toText(used.model) ?? model,
        usage: toUsage(addUp(used)),
      };
      if (records) ledger.add(entry);
      else if (Object.values(entry.usage).some((tokens) => tokens > 0)) runs.push(entry);
    },
    message(model, output, id, at) {
      for (const name of [model, ALL]) toTotals(name).said += possible(toCount(output));
      partial(model, { output }, id, at);
    },
    summary(requests) {
      const main = ledger.summary();
      const stored = records && main.evidence.requests >= requests.length ? [] : requests;
      const there = new Set(stored.map(({ at }) => runAt(at)));
      const rest = [...runs, ...loose].filter(({ at }) => !there.has(runAt(at)));
      if (stored.length + rest.length === 0) return main;
      const more = createLedger();
      for (const entry of [...stored, ...rest]) more.add(entry);
      return stored.length > 0 ? more.summary() : join(main, more.summary());
    },
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
function toUsage(sum: Total): Entry["usage"] {
  return {
    input: withoutCache(sum.input, sum.read, sum.write),
    output: sum.output,
    cacheRead: sum.read,
    cacheWrite5m: sum.write,
  };
}

function addUp(usage: JsonRecord): Total {
  return {
    input: toCount(usage.inputTokens),
    output: toCount(usage.outputTokens),
    read: toCount(usage.cacheReadTokens),
    write: toCount(usage.cacheWriteTokens),
  };
}
