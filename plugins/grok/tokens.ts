/** Grok's tokens: `usage.json` has those of the session and of each turn; a log without it has them at the end of each turn. */
import { type JsonRecord, toIso, toList, toRecord } from "sessarc";
import { type Ledger, possible, toCount, withoutCache } from "sessarc/adapter";

type Entry = Parameters<Ledger["add"]>[0];

export interface Fork {
  from: string;
  /** When the fork was made, ms. */
  at: number;
}

/**
 * One entry per model of a `modelUsage`. Input holds cached and written tokens, output holds reasoning. `children`: sessions whose figures
 * are among these as well.
 */
export function usageEntries(
  usage: unknown,
  at: string | undefined,
  key: string,
  fork: Fork | undefined,
  children: readonly JsonRecord[] = [],
): Entry[] {
  return Object.entries(toRecord(toRecord(usage).modelUsage)).map(([model, value]) => {
    const counts = toRecord(value);
    const inside = children.map((child) => toRecord(toRecord(child.modelUsage)[model]));
    const own = (field: string) =>
      Math.max(0, toCount(counts[field]) - inside.reduce((sum, child) => sum + possible(toCount(child[field])), 0));
    const [cacheRead, cacheWrite5m] = [own("cachedReadTokens"), own("cacheCreationTokens")];
    const input = withoutCache(own("inputTokens"), cacheRead, cacheWrite5m);
    return {
      key: `${key}:${model}`,
      at,
      model,
      usage: { input, output: own("outputTokens"), cacheRead, cacheWrite5m },
      inherited: fork !== undefined && at !== undefined && Date.parse(at) < fork.at,
    };
  });
}

/**
 * What `usage.json` counts: its turns, and what the session has beyond them. Undefined without figures. `childrenOf`: figures of the
 * sub-agents that ended within a turn.
 */
export function usageFile(
  file: JsonRecord | undefined,
  fork: Fork | undefined,
  childrenOf: (turn: number) => readonly JsonRecord[],
) {
  const session = toRecord(file?.session);
  if (file === undefined || Object.keys(toRecord(session.modelUsage)).length === 0) return undefined;
  const turns = toList(file.turns).map(toRecord);
  const toCalls = (part: JsonRecord) => toCount(part.modelCalls);
  const whole: Entry[] = [];
  const entries: Entry[] = [];
  let requests = toCalls(session);
  for (const [index, turn] of turns.entries()) {
    const at = toIso(turn.endedAt);
    const children = childrenOf(index);
    whole.push(...usageEntries(turn, at, "turn", fork));
    entries.push(...usageEntries(turn, at, `turn:${at}`, fork, children));
    requests -= children.reduce((sum, child) => sum + toCalls(child), 0);
    if (fork && at !== undefined && Date.parse(at) < fork.at) requests -= toCalls(turn);
  }
  const rest = usageEntries(session, toIso(file.updatedAt), `session:${String(file.sessionId)}`, undefined);
  const beyond = rest.map((entry) => ({ ...entry, usage: minus(entry, whole) }));
  return { entries: [...entries, ...beyond], requests: Math.max(0, requests) };
}

/** The counts of a whole without those of its parts. */
function minus(whole: Entry, parts: readonly Entry[]): Entry["usage"] {
  const left = (field: keyof Entry["usage"]) => {
    const known = parts.filter(({ model }) => model === whole.model);
    return Math.max(
      0,
      toCount(whole.usage[field]) - known.reduce((sum, part) => sum + possible(toCount(part.usage[field])), 0),
    );
  };
  return {
    input: left("input"),
    output: left("output"),
    cacheRead: left("cacheRead"),
    cacheWrite5m: left("cacheWrite5m"),
  };
}
