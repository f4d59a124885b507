/** Counts over raw histories, by the definitions in the READMEs and without any code of the product. */
import type { Call, Log, Reading, Reply, Result, Tokens } from "./history.ts";
import { NO_TOKENS } from "./history.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const QUARTER = 15 * MINUTE;
const DAY = 24 * HOUR;

/** Thousandths of a microdollar a token: input, output, cache written for 5 minutes and an hour, cache read. */
type Rates = readonly [number, number, number, number, number];
const HAIKU: Rates = [1_000, 5_000, 1_250, 2_000, 100];
const SONNET: Rates = [3_000, 15_000, 3_750, 6_000, 300];
const GPT5: Rates = [1_250, 10_000, 1_250, 1_250, 125];
const RATES: Readonly<Record<string, (at: number, prompt: number) => Rates>> = {
  "claude-haiku-4-5": () => HAIKU,
  "claude-haiku-4-5-20251001": () => HAIKU,
  "claude-sonnet-4-5-20250929": (_, prompt) => (prompt > 200_000 ? [6_000, 22_500, 7_500, 12_000, 600] : SONNET),
  "claude-sonnet-4-20250514": (_, prompt) => (prompt > 200_000 ? [6_000, 22_500, 7_500, 12_000, 600] : SONNET),
  "claude-opus-4-5-20251101": () => [5_000, 25_000, 6_250, 10_000, 500],
  "claude-opus-4-1-20250805": () => [15_000, 75_000, 18_750, 30_000, 1_500],
  "gpt-5": () => GPT5,
  "gpt-5-codex": () => GPT5,
  "gpt-5.1-codex-max": () => GPT5,
  "gpt-5-mini": () => [250, 2_000, 250, 250, 25],
  // Half past midnight to half past four in the afternoon costs twice as much.
  "deepseek-chat": (at) => {
    const minute = Math.floor((at % DAY) / MINUTE);
    return minute >= 30 && minute < 990 ? [270, 1_100, 270, 270, 70] : [135, 550, 135, 135, 35];
  },
};
/** One model's spellings are one model. */
export const toModel = (name: string) => name.replace(/-20\d{6}$/, "");

export interface Sum {
  sessions: number;
  messages: number;
  activeMs: number;
  tokens: Tokens;
  microdollars: number;
  unpriced: string[];
}

export const toTotal = (tokens: Tokens) => Object.values(tokens).reduce((sum, count) => sum + count, 0);
const listed = ({ input, output, cacheWrite5m, cacheWrite1h, cacheRead }: Tokens) =>
  [input, output, cacheWrite5m, cacheWrite1h, cacheRead] as const;
const toPrompt = ({ output: _, ...rest }: Tokens) => toTotal({ ...rest, output: 0 });

/** A half is rounded up. */
const rounded = (thousandths: number) => Math.floor((thousandths + 500) / 1_000);

function computeCost(replies: readonly Reply[]): Pick<Sum, "microdollars" | "unpriced"> {
  const unpriced = new Set<string>();
  let sum = 0;
  for (const { at, model, tokens } of replies) {
    const rates = RATES[model]?.(at, toPrompt(tokens));
    if (rates) for (const [i, count] of listed(tokens).entries()) sum += count * (rates[i] ?? 0);
    else unpriced.add(model);
  }
  return { microdollars: rounded(sum), unpriced: [...unpriced].sort() };
}

export function toTokens(replies: readonly Reply[]): Tokens {
  const sum = { ...NO_TOKENS };
  for (const { tokens } of replies) for (const key of Object.keys(sum) as (keyof Tokens)[]) sum[key] += tokens[key];
  return sum;
}

/** A log as far as it was written at a time. */
export interface Seen extends Omit<Log, "steps"> {
  messages: { at: number; kind: string; active: number }[];
  replies: Reply[];
  calls: (Call & { seq: number; result: Result | undefined })[];
  readings: Reading[];
}

export function seen(log: Log, until = Number.POSITIVE_INFINITY): Seen {
  const { steps: all, ...rest } = log;
  const steps = all.filter(({ end }) => end <= until);
  let before = log.copied?.end;
  const messages = steps
    .flatMap((step) => step.messages)
    .map(({ at, kind }) => {
      const gap = before === undefined ? 0 : at - before;
      before = Math.max(at, before ?? at);
      // A pause of more than ten minutes is no work.
      return { at, kind, active: gap <= 10 * MINUTE ? Math.max(0, gap) : 0 };
    });
  const results = new Map(steps.flatMap(({ result }) => (result ? [[result.call, result] as const] : [])));
  let seq = log.copied?.messages ?? 0;
  const calls = steps.flatMap(({ messages: own, calls = [] }) => {
    const first = seq;
    seq += own.length;
    const places = own.flatMap(({ kind }, i) => (kind === "call" ? [first + i] : []));
    return calls.map((call, i) => ({ ...call, seq: places[i] ?? -1, result: results.get(call.id) }));
  });
  return {
    ...{ ...rest, messages, calls },
    replies: steps.flatMap(({ reply }) => reply ?? []),
    readings: steps.flatMap(({ readings = [] }) => readings),
  };
}

/** The local day of a time. */
export function calendar(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short" });
  const known = new Map<number, string>();
  return (at) => {
    // No zone's clock changes within a quarter-hour.
    const quarter = Math.floor(at / QUARTER);
    const day = known.get(quarter) ?? format.format(at);
    known.set(quarter, day);
    return day;
  };
}
const dayAfter = (day: string, days: number) => new Date(Date.parse(day) + days * DAY).toISOString().slice(0, 10);
const toMonday = (day: string) => dayAfter(day, -((new Date(day).getUTCDay() + 6) % 7));

export const PERIODS: Readonly<Record<"day" | "week" | "month", (day: string) => { from: string; to: string }>> = {
  day: (day) => ({ from: day, to: day }),
  week: (day) => ({ from: toMonday(day), to: dayAfter(toMonday(day), 6) }),
  month(day) {
    let to = day;
    while (dayAfter(to, 1).slice(0, 7) === day.slice(0, 7)) to = dayAfter(to, 1);
    return { from: `${day.slice(0, 7)}-01`, to };
  },
};

/** What the logs hold at the times that `holds` is true for. */
export function addUp(logs: readonly Seen[], holds: (at: number) => boolean): Sum {
  const replies = logs.flatMap((log) => log.replies.filter(({ at }) => holds(at)));
  const messages = logs.flatMap((log) => log.messages.filter(({ at }) => holds(at)));
  const roots = logs
    .filter((log) => [...log.messages, ...log.replies].some(({ at }) => holds(at)))
    .map(({ root }) => root);
  return {
    sessions: new Set(roots).size,
    messages: messages.length,
    activeMs: messages.reduce((sum, { active }) => sum + active, 0),
    tokens: toTokens(replies),
    ...computeCost(replies),
  };
}

/** Rows of days, weeks (by their Monday) or months. */
export function sumsBy(
  logs: readonly Seen[],
  by: "day" | "week" | "month",
  zone: string,
  range: Range,
): Map<string, Sum> {
  const toDay = calendar(zone);
  const toKey = (at: number) => (by === "month" ? toDay(at).slice(0, 7) : PERIODS[by](toDay(at)).from);
  const times = logs.flatMap((log) => [...log.messages, ...log.replies].map(({ at }) => at));
  const inside = (at: number) => isIn(toDay(at), range);
  const keys = new Set(times.filter(inside).map(toKey));
  return new Map([...keys].map((key) => [key, addUp(logs, (at) => inside(at) && toKey(at) === key)]));
}

export interface Range {
  from?: string | undefined;
  to?: string | undefined;
}
export const isIn = (day: string, { from, to }: Range) =>
  (from === undefined || day >= from) && (to === undefined || day <= to);

export interface Window {
  tool: string;
  start: number;
  end: number;
}

/**
 * Use by use: the provider's window where one was reported, to the quarter-hour, else one from the full hour on, as far as it is free. Of
 * reports of one quarter-hour the last counts, of windows that overlap the one reported later.
 */
export function toWindows(logs: readonly Seen[], minutes: number): Window[] {
  const length = minutes * MINUTE;
  const windows: Window[] = [];
  for (const tool of new Set(logs.map((log) => log.tool))) {
    const own = logs.filter((log) => log.tool === tool);
    const reported: Window[] = [];
    for (const { resetsAt } of toReadings(own, minutes).toReversed()) {
      const end = Math.round(resetsAt / QUARTER) * QUARTER;
      if (!reported.some((one) => one.start < end && end - length < one.end))
        reported.push({ tool, start: end - length, end });
    }
    // A quarter-hour is the smallest time of which the service counts tokens.
    const uses = own.flatMap(({ replies }) => replies.map(({ at }) => Math.floor(at / QUARTER) * QUARTER));
    let last: Window | undefined;
    for (const use of uses.sort((a, b) => a - b)) {
      if (last && use < last.end) continue;
      const next = reported.find(({ start, end }) => start <= use && use < end);
      const free = Math.max(Math.floor(use / HOUR) * HOUR, last?.end ?? Number.NEGATIVE_INFINITY);
      const ahead = Math.min(...reported.filter(({ start }) => start > use).map(({ start }) => start));
      last = next ?? { tool, start: free, end: Math.min(free + length, ahead) };
      windows.push(last);
    }
  }
  return windows.sort((a, b) => a.start - b.start || (a.tool < b.tool ? -1 : 1));
}

/** What was reported about windows of this length, by time; the last of each quarter-hour. */
function toReadings(logs: readonly Seen[], minutes: number): Reading[] {
  const all = logs.flatMap(({ readings }) => readings.filter((one) => one.minutes === minutes));
  const last = new Map(all.sort((a, b) => a.at - b.at).map((one) => [Math.floor(one.at / QUARTER), one]));
  return [...last.values()];
}

/** Windows with something of the chosen logs in them, that begin on the days of the range. */
export function windowRows(all: readonly Seen[], chosen: readonly Seen[], minutes: number, zone: string, range: Range) {
  const toDay = calendar(zone);
  return toWindows(all, minutes).flatMap(({ tool, start, end }) => {
    if (!isIn(toDay(start), range)) return [];
    const own = chosen.filter((log) => log.tool === tool);
    const sum = addUp(own, (at) => at >= start && at < end);
    if (toTotal(sum.tokens) === 0) return [];
    const readings = toReadings(
      all.filter((log) => log.tool === tool),
      minutes,
    );
    const reported = readings.findLast(({ at }) => at >= start && at < end);
    return [{ tool, start, end, ...sum, usedPercent: reported?.usedPercent ?? null }];
  });
}

const CHARS = 4;
/** About how many tokens. */
const estimate = (chars: number) => Math.round(chars / CHARS);

interface Wasted {
  session: string;
  seq: number;
  count: number;
  tokens: number;
}
type Parts = { seq: number; count: number; tokens: number }[];

/** Adds up what was found in one session; the message shown is that of the largest part. */
function together(session: string, parts: Parts): Wasted[] {
  const [largest] = parts.toSorted((a, b) => b.tokens - a.tokens || a.seq - b.seq);
  if (!largest) return [];
  const sum = (of: "count" | "tokens") => parts.reduce((total, part) => total + part[of], 0);
  return [{ session, seq: largest.seq, count: sum("count"), tokens: sum("tokens") }];
}

/** Reads of files that no later change concerns, where the session changed something at all. */
function idleReads({ id, calls }: Seen): Wasted[] {
  const changes = calls.filter(({ does, result }) => does === "edit" && result?.failed !== true);
  if (changes.length === 0) return [];
  const idle = calls.filter(
    (read) => read.does === "read" && !changes.some(({ seq, path }) => seq > read.seq && path === read.path),
  );
  return together(
    id,
    idle.map(({ seq, result }) => ({ seq, count: 1, tokens: Math.ceil((result?.chars ?? 0) / CHARS) })),
  );
}

/** Calls that failed twice and more with the same arguments, between two edits. */
function retries({ id, calls }: Seen): Wasted[] {
  const parts: Parts = [];
  let same = new Map<string, { seq: number; count: number; chars: number }>();
  const close = () => {
    for (const { seq, count, chars } of same.values())
      if (count >= 2) parts.push({ seq, count, tokens: estimate(chars) });
    same = new Map();
  };
  for (const { seq, name, does, input, result } of calls) {
    if (does === "edit") close();
    else if (result?.failed) {
      const key = `${name} ${input}`;
      const known = same.get(key);
      if (known) {
        known.count++;
        known.chars += input.length + result.chars;
      } else same.set(key, { seq, count: 1, chars: 0 });
    }
  }
  close();
  return together(id, parts);
}

function failures({ id, calls }: Seen): Wasted[] {
  const failed = calls.filter(({ result }) => result?.failed);
  const names = [...new Set(failed.map(({ name }) => name))];
  return together(
    id,
    names.map((name) => {
      const own = failed.filter((call) => call.name === name);
      const chars = own.reduce((sum, { input, result }) => sum + input.length + (result?.chars ?? 0), 0);
      return { seq: own[0]?.seq ?? -1, count: own.length, tokens: estimate(chars) };
    }),
  );
}

/** How a session ended that its user may want to resume. */
function findEnding({ messages, calls }: Seen): string | undefined {
  const last = messages.findLast(({ kind }) => kind !== "thinking" && kind !== "note");
  const [call] = calls.slice(-1);
  if (last?.kind === "result" && call?.result?.failed) return "unread";
  if (last?.kind !== "assistant") return "unanswered";
  return calls.findLast(({ does }) => does === "command")?.result?.failed ? "failedLast" : undefined;
}

/** A session ends with the last row of its log. */
const endOf = (log: Seen) => Math.max(...toTimes(log), log.copied?.end ?? Number.NEGATIVE_INFINITY);
export const toTimes = ({ messages, replies }: Seen) => [...messages, ...replies].map(({ at }) => at);

/** The report of some days. `now`: at which time prices of tokens that were sent for nothing are asked for. */
export function toReport(logs: readonly Seen[], zone: string, from: string, to: string, now: number) {
  const toDay = calendar(zone);
  const days = Math.round((Date.parse(to) - Date.parse(from)) / DAY) + 1;
  const before = { from: dayAfter(from, -days), to: dayAfter(from, -1) };
  const inside = (at: number) => isIn(toDay(at), { from, to });
  const earlier = (at: number) => isIn(toDay(at), before);
  // What is found in a session counts as a whole where it did something in these days.
  const worked = logs.filter((log) => toTimes(log).some(inside));
  const failing = new Map<string, { calls: number; errors: number }>();
  for (const { name, result } of worked.flatMap(({ calls }) => calls)) {
    const sum = failing.get(name) ?? { calls: 0, errors: 0 };
    failing.set(name, { calls: sum.calls + 1, errors: sum.errors + (result?.failed ? 1 : 0) });
  }
  const waits = new Map<string, { sessions: Set<string>; count: number; ms: number }>();
  for (const { id, calls } of worked)
    for (const { name, at, result } of calls) {
      const ms = result ? result.at - at : 0;
      if (ms < MINUTE) continue;
      const sum = waits.get(name) ?? { sessions: new Set(), count: 0, ms: 0 };
      sum.sessions.add(id);
      waits.set(name, { ...sum, count: sum.count + 1, ms: sum.ms + ms });
    }
  const short = (log: Seen[], holds: (at: number) => boolean) => {
    const { tokens, ...rest } = addUp(log, holds);
    return { ...rest, tokens: toTotal(tokens) };
  };
  const byWorth = (a: { microdollars: number }, b: { microdollars: number }) => b.microdollars - a.microdollars;
  return {
    totals: short([...logs], inside),
    previous: short([...logs], earlier),
    projects: [...new Set(worked.map(({ folder }) => folder))].map((folder) => {
      const own = logs.filter((log) => log.folder === folder);
      const { microdollars: previousMicrodollars } = addUp(own, earlier);
      return { name: folder.slice(folder.lastIndexOf("/") + 1), ...short(own, inside), previousMicrodollars };
    }),
    windows: windowRows(logs, logs, 300, zone, { from, to })
      .map(({ tool, start, end, tokens, microdollars, unpriced, usedPercent }) => ({
        ...{ tool, start: new Date(start).toISOString(), end: new Date(end).toISOString() },
        ...{ tokens: toTotal(tokens), microdollars, unpriced, usedPercent },
      }))
      .sort((a, b) => byWorth(a, b) || b.tokens - a.tokens || (a.start < b.start ? -1 : 1))
      .slice(0, 10),
    failing: [...failing]
      .flatMap(([name, sum]) => (sum.errors > 0 ? [{ name, ...sum }] : []))
      .sort((a, b) => b.errors - a.errors || (a.name < b.name ? -1 : 1)),
    waits: [...waits]
      .map(([tool, { sessions, count, ms }]) => ({ tool, sessions: sessions.size, count, ms }))
      .sort((a, b) => b.ms - a.ms || b.count - a.count || (a.tool < b.tool ? -1 : 1))
      .slice(0, 3),
    wasted: (
      [
        ["reads", worked.flatMap(idleReads)],
        ["retries", worked.flatMap(retries)],
        ["failures", worked.flatMap(failures)],
      ] as const
    ).flatMap(([kind, found]) => {
      const list = found.toSorted((a, b) => b.tokens - a.tokens || (a.session < b.session ? -1 : 1));
      if (list.length === 0) return [];
      return [
        {
          ...{ kind, count: list.reduce((sum, { count }) => sum + count, 0), sessions: list.length },
          tokens: list.reduce((sum, { tokens }) => sum + tokens, 0),
          microdollars: sentOnce(list, logs, now),
          examples: list.slice(0, 3),
        },
      ];
    }),
    unfinished: logs
      .filter((log) => log.id === log.root && inside(endOf(log)))
      .flatMap((log) => {
        const ending = findEnding(log);
        return ending === undefined ? [] : [{ id: log.id, ending, ended: endOf(log) }];
      })
      .sort((a, b) => b.ended - a.ended || (a.id < b.id ? -1 : 1))
      .map(({ id, ending }) => ({ id, ending })),
  };
}

/** The tokens as input of the model to which each session sent the most; null where none has a price. */
function sentOnce(list: readonly Wasted[], logs: readonly Seen[], now: number): number | null {
  const replies = list.flatMap(({ session, tokens }): Reply[] => {
    const sent = new Map<string, number>();
    for (const { model, tokens: own } of logs.find(({ id }) => id === session)?.replies ?? [])
      sent.set(model, (sent.get(model) ?? 0) + toPrompt(own));
    const [most] = [...sent].sort(([, a], [, b]) => b - a);
    return most ? [{ at: now, model: most[0], tokens: { ...NO_TOKENS, input: tokens } }] : [];
  });
  const { unpriced } = computeCost(replies);
  if (new Set(replies.map(({ model }) => model)).size === unpriced.length) return null;
  // One price for all: this is no single prompt.
  let sum = 0;
  for (const { model, tokens } of replies) sum += tokens.input * (RATES[model]?.(now, 0)[0] ?? 0);
  return rounded(sum);
}
