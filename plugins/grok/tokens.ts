/** Grok's tokens: `usage.json` has those of the session and of each turn; a log without it has them at the end of each turn. */
import { type JsonRecord, type Ledger, toCount, toIso, toList, toRecord } from "sessarc/adapter";

type Entry = Parameters<Ledger["add"]>[0];

export interface Fork {
  from: string;
  /** When the fork was made, ms. */
  at: number;
}

/** One entry per model of a `modelUsage`. Input holds cached and written tokens, output holds reasoning. */
export function usageEntries(usage: unknown, at: string | undefined, key: string, fork: Fork | undefined): Entry[] {
  return Object.entries(toRecord(toRecord(usage).modelUsage)).map(([model, value]) => {
    const counts = toRecord(value);
    const [cacheRead, cacheWrite5m] = [toCount(counts.cachedReadTokens), toCount(counts.cacheCreationTokens)];
    const input = Math.max(0, toCount(counts.inputTokens) - cacheRead - cacheWrite5m);
    return {
      key: `${key}:${model}`,
      at,
      model,
      usage: { input, output: toCount(counts.outputTokens), cacheRead, cacheWrite5m },
      inherited: fork !== undefined && at !== undefined && Date.parse(at) < fork.at,
    };
  });
}

/** What `usage.json` counts: its turns, and what the session has beyond them. Undefined without figures. */
export function usageFile(file: JsonRecord | undefined, fork: Fork | undefined) {
  const session = toRecord(file?.session);
  if (file === undefined || Object.keys(toRecord(session.modelUsage)).length === 0) return undefined;
  const turns = toList(file.turns).map(toRecord);
  const entries = turns.flatMap((turn) => {
    const at = toIso(turn.endedAt);
    return usageEntries(turn, at, `turn:${at}`, fork);
  });
  const inherited = turns.filter((turn) => fork && Date.parse(String(turn.endedAt)) < fork.at);
  const rest = usageEntries(session, toIso(file.updatedAt), `session:${String(file.sessionId)}`, undefined).map(
    (entry) => ({
      ...entry,
      usage: minus(entry, entries),
    }),
  );
  const callsOf = (part: JsonRecord) => toCount(part.modelCalls);
  const requests = callsOf(session) - inherited.reduce((sum, turn) => sum + callsOf(turn), 0);
  return { entries: [...entries, ...rest], requests: Math.max(0, requests) };
}

/** The counts of a whole without those of its parts. */
function minus(whole: Entry, parts: readonly Entry[]): Entry["usage"] {
  const left = (field: keyof Entry["usage"]) => {
    const known = parts.filter(({ model }) => model === whole.model);
    return Math.max(0, toCount(whole.usage[field]) - known.reduce((sum, part) => sum + toCount(part.usage[field]), 0));
  };
  return {
    input: left("input"),
    output: left("output"),
    cacheRead: left("cacheRead"),
    cacheWrite5m: left("cacheWrite5m"),
  };
}
