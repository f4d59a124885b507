/** The usage report straight from the logs, without an archive. The same figures: each reply once over all logs of its tool. */
import { statSync } from "node:fs";
import {
  type Kernel,
  type SessionRef,
  type SessionSummary,
  type SessionUsage,
  toMessage,
  type UsageEntry,
  type UsageEvidence,
} from "sessarc";
import { type Adapter, classed, classedUsage, describeLeftOut, plainModel } from "sessarc/adapter";
import { modelName } from "../prices/names.ts";
import type { Prices } from "../prices/pricing.ts";
import { type DayRange, inRange, QUARTER_MS, toZone, type Zone } from "./buckets.ts";
import { toRange } from "./range.ts";
import { type By, isByTime, keyOn, type Sums, toReport, type UsageReport } from "./report.ts";
import { at, Tally, type TokenSlot } from "./tally.ts";

export interface StatelessQuery {
  /** Projects need an archive: which folder belongs to which is not said in a log alone. */
  by: Exclude<By, "project" | "branch" | "worktree">;
  /** Local days, both included. */
  from?: string | undefined;
  to?: string | undefined;
  tz?: string | undefined;
  tool?: string | undefined;
  /** Id: this session and its sub-agents. */
  session?: string | undefined;
}

export interface StatelessReport extends UsageReport {
  /** Logs, and folders of logs, that could not be read. */
  failed: { id: string; message: string }[];
  /** Logs with replies that do not count: a time or a count that cannot be. */
  leftOut: { id: string; reason: string }[];
}

type Tokens = Pick<
  SessionSummary,
  "usage" | "classes" | "replies" | "evidence" | "parent" | "endedAt" | "startedAt" | "leftOut"
>;
interface Log {
  id: string;
  ref: SessionRef;
  born: number;
  parent: string | null;
  evidence: UsageEvidence | null;
  usage: TokenSlot[];
  /** Quarter-hour in which it counts where it has no tokens. */
  quarter: number;
}

/** All sessions, those without tokens too; messages and time are not counted (null). Costs one pass over all logs. */
export async function readStateless(kernel: Kernel, query: StatelessQuery): Promise<StatelessReport> {
  const zone = toZone(query.tz);
  const range = toRange(query.from, query.to);
  if (query.tool !== undefined) await kernel.inject("archive").checkTool(query.tool);
  const scan = await kernel.inject("importer").scan();
  const logs: Log[] = [];
  const count = kernel.inject("archive").countReplies();
  // A folder that could not be listed: what is in it is missing here.
  const failed: StatelessReport["failed"] = scan.tools
    .filter(({ tool, unlisted }) => unlisted && (query.tool === undefined || query.tool === tool))
    .flatMap(({ problems }) => problems.map(({ path, reason }) => ({ id: path, message: reason })));
  const leftOut: StatelessReport["leftOut"] = [];
  const take = ({ id, ref }: { id: string; ref: SessionRef }, tokens: Tokens) => {
    if (tokens.leftOut) leftOut.push({ id, reason: describeLeftOut(tokens.leftOut) });
    const log: Log = {
      id,
      ref,
      born: 0,
      parent: null,
      evidence: tokens.evidence ? { ...tokens.evidence } : null,
      usage: [],
      quarter: findQuarter(tokens.endedAt ?? tokens.startedAt) ?? quarterOfFile(ref),
    };
    const parent = tokens.parent ?? ref.parent;
    if (parent !== undefined) log.parent = `${ref.tool}:${parent}`;
    log.born = ref.born ?? readBirth(ref);
    logs.push(log);
    // Without single replies the session's sums are all there is.
    if (!tokens.replies) log.usage.push(...toSlots(classedUsage(tokens.usage, tokens.classes?.[""]), log.quarter));
    for (const entry of tokens.replies ?? [])
      if (entry.key === undefined && !entry.inherited) log.usage.push(toSlot(entry, log.quarter));
    count.add(log, ref.tool, tokens.replies ?? []);
  };
  const found = [...scan.found.values()].filter((one) => query.tool === undefined || one.ref.tool === query.tool);
  for (const group of groups(found)) {
    await readGroup(group, kernel, take, (id, error) => failed.push({ id, message: toMessage(error) }));
  }
  for (const log of logs) {
    for (const { quarter, model, tokens, lost } of count.entries(log.id)) {
      if (!lost) log.usage.push({ quarter: quarter < 0 ? quarterOfFile(log.ref) : quarter, model, tokens });
      else if (log.evidence) {
        log.evidence.requests--;
        log.evidence.inheritedExcluded++;
      }
    }
  }
  const roots = toRoots(logs);
  const { session } = query;
  const chosen = logs.filter(({ id }) => session === undefined || id === session || roots.get(id) === session);
  const prices = kernel.inject("pricing").now;
  const titles = new Map(logs.map(({ id, ref }) => [id, ref.title ?? null]));
  const answer = await toReport(
    query.by,
    zone,
    range,
    prices,
    addUp(chosen, roots, query.by, zone, range, prices),
    async () => (query.by === "session" ? titles : new Map()),
  );
  const unknown = { messages: null, activeMs: null };
  return {
    ...answer,
    rows: answer.rows.map((row) => ({ ...row, ...unknown })),
    totals: { ...answer.totals, ...unknown },
    failed,
    leftOut,
  };
}

const EVIDENCE = ["records", "requests", "duplicatesFolded", "inheritedExcluded"] as const;

/** What the questions of `report` answer from an archive, added up from the logs. */
function addUp(
  logs: readonly Log[],
  roots: ReadonlyMap<string, string>,
  by: StatelessQuery["by"],
  zone: Zone,
  range: DayRange,
  prices: Prices,
): Sums {
  const sums: Sums = {
    rows: new Map(),
    totals: new Tally(prices),
    evidence: { records: 0, requests: 0, duplicatesFolded: 0, inheritedExcluded: 0 },
  };
  const toKey = ({ id, ref, parent }: Log, day: number, model: string): string => {
    if (isByTime(by)) return keyOn(by, day);
    if (by === "model") return modelName(plainModel(model));
    if (by === "session") return id;
    // A log alone does not show whether it goes on from another one.
    return by === "tool" ? ref.tool : parent === null ? "main" : "subagent";
  };
  for (const log of logs) {
    const root = roots.get(log.id) ?? log.id;
    let isIn = false;
    const count = (quarter: number, slot: TokenSlot | undefined) => {
      const day = zone.day(quarter);
      if (!inRange(day, range)) return;
      isIn = true;
      sums.totals.addRoot(root);
      if (slot) sums.totals.addTokens(slot);
      if (by === "model" && !slot) return;
      const row = at(sums.rows, toKey(log, day, slot?.model ?? ""), () => new Tally(prices));
      row.addRoot(by === "session" ? log.id : root);
      if (slot) row.addTokens(slot);
    };
    for (const slot of log.usage) count(slot.quarter, slot);
    if (log.usage.length === 0 && by !== "session") count(log.quarter, undefined);
    if (isIn && log.evidence) for (const key of EVIDENCE) sums.evidence[key] += log.evidence[key];
  }
  return sums;
}

/** The session each one counts with: its own id, or that of the session it was started from, through all levels. */
function toRoots(logs: readonly Log[]): Map<string, string> {
  const byId = new Map(logs.map((log) => [log.id, log]));
  return new Map(
    logs.map((log) => {
      let root = log;
      for (let depth = 0; root.parent !== null && depth < 16; depth++) {
        const parent = byId.get(root.parent);
        if (!parent || parent === log) break;
        root = parent;
      }
      return [log.id, root.id];
    }),
  );
}

type Found = { id: string; ref: SessionRef; adapter: Adapter };

/** Sessions of one store together. */
function groups(found: readonly Found[]): Found[][] {
  const byStore = new Map<string, Found[]>();
  for (const one of found) {
    const key = one.ref.exclusive || one.adapter.appends(one.ref) ? one.id : `${one.ref.tool}\0${one.ref.path}`;
    const group = byStore.get(key);
    if (group) group.push(one);
    else byStore.set(key, [one]);
  }
  return [...byStore.values()];
}

async function readGroup(
  group: readonly Found[],
  { env }: Kernel,
  take: (found: Found, tokens: Tokens) => void,
  fail: (id: string, error: unknown) => void,
): Promise<void> {
  const [first] = group;
  if (!first) return;
  try {
    if (group.length > 1) {
      const left = new Map(group.map((one) => [one.ref.key, one]));
      for await (const [ref, events] of first.adapter.readMany(
        group.map((one) => one.ref),
        env,
      )) {
        const one = left.get(ref.key);
        const summary = await last(events);
        if (one) take(one, summary);
      }
      return;
    }
  } catch (error) {
    fail(first.id, error);
    return;
  }
  for (const one of group) {
    try {
      const { adapter, ref } = one;
      const tokens = await adapter.usage?.(ref, env);
      // Without tokens only its messages tell when it was.
      const known = tokens && (tokens.replies?.length ?? Object.keys(tokens.usage).length) > 0;
      take(one, known ? tokens : await last(adapter.read(ref, env)));
    } catch (error) {
      fail(one.id, error);
    }
  }
}

async function last<T>(events: AsyncGenerator<unknown, T>): Promise<T> {
  for (;;) {
    const step = await events.next();
    if (step.done) return step.value;
  }
}

const toSlot = ({ at, model, priceClass, usage }: UsageEntry, fallback: number): TokenSlot => ({
  quarter: findQuarter(at) ?? fallback,
  model: classed(model, priceClass),
  tokens: usage,
});
const toSlots = (usage: SessionUsage, quarter: number): TokenSlot[] =>
  Object.entries(usage).map(([model, tokens]) => ({ quarter, model, tokens }));

function findQuarter(at: string | undefined): number | undefined {
  const ms = Date.parse(at ?? "");
  return Number.isNaN(ms) ? undefined : Math.floor(ms / QUARTER_MS);
}

const quarterOfFile = ({ mtime }: SessionRef) => Math.floor((mtime ?? 0) / QUARTER_MS);

function readBirth(ref: SessionRef): number {
  return statSync(ref.path, { throwIfNoEntry: false })?.birthtimeMs || ref.mtime || 0;
}
