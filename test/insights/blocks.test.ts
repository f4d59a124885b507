/** Windows of plans: equal to a count that follows the definition use by use, over generated histories in zones of every kind. */

import type { SessionUsage, TokenUsage } from "sessarc";
import { emptyUsage } from "sessarc/adapter";
import { describe, expect, it } from "vitest";
import { blocks, blocksAt } from "../../plugins/insights/figures/blocks.ts";
import { dayNumber, toZone } from "../../plugins/insights/figures/buckets.ts";
import { writeReadings } from "../../plugins/insights/figures/limits.ts";
import { readKnown } from "../../plugins/insights/figures/questions.ts";
import { toWindows } from "../../plugins/insights/figures/windows.ts";
import type { BlockReport, Reading } from "../../plugins/insights/index.ts";
import { findMinutes } from "../../plugins/insights/routes/usage.ts";
import { rounds } from "../rounds.ts";
import type { BruteSession } from "./brute.ts";
import { openCatalogue, readSessions, type SlottedSession, storeSession } from "./rows.ts";

const QUARTER = 900_000;
const HOUR = 3_600_000;
const MODELS = ["claude-haiku-4-5", "deepseek-chat", "unheard-of-1"];
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Kiritimati", "Africa/Casablanca"];
/** Clocks change on both sides of the ocean, and a month ends. */
const STARTS = ["2026-10-20T00:00:00Z", "2026-03-05T00:00:00Z", "1969-12-20T00:00:00Z"].map((text) => Date.parse(text));
const LENGTHS = [60, 90, 300, 420, 1440, 10_080];

function random(seed: number) {
  let state = seed;
  const below = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  return { below, pick: <T>(list: readonly T[]): T => list[below(list.length)] as T };
}
type Dice = ReturnType<typeof random>;

function anySession(dice: Dice, start: number): SlottedSession {
  const usage: SessionUsage = {};
  const slots: Record<string, { m: number; a: number; e: number; u: SessionUsage }> = {};
  let at = start + dice.below(18 * 96) * QUARTER;
  let messages = 0;
  for (let i = dice.below(8); i > 0; i--) {
    at += dice.pick([1, 2, 5, 19, 20, 21, 40, 200]) * QUARTER;
    const model = dice.pick(MODELS);
    const tokens = {
      ...emptyUsage(),
      input: 1 + dice.below(9_000),
      output: dice.below(900),
      cacheRead: dice.below(90_000),
    };
    const name = new Date(at).toISOString().slice(0, 16);
    slots[name] = { m: 1 + dice.below(4), a: dice.below(QUARTER), e: 0, u: dice.below(6) ? { [model]: tokens } : {} };
    messages += slots[name].m;
    for (const [used, own] of Object.entries(slots[name].u)) {
      usage[used] ??= emptyUsage();
      add(usage[used], own);
    }
  }
  const row = {
    tool: dice.pick(["claude-code", "codex"]),
    project_id: dice.pick(["p", "q"]),
    parent_id: dice.below(4) ? null : `s${dice.below(12)}`,
    usage: JSON.stringify(usage),
    message_count: messages,
    sort_at: at,
  };
  return { slots, row };
}

function add(sum: TokenUsage, own: TokenUsage): void {
  for (const field of Object.keys(sum) as (keyof TokenUsage)[]) sum[field] += own[field];
}

interface Window {
  tool: string;
  start: number;
  end: number;
}

/** Use by use, in ms: the provider's window where one was reported, else one from the full hour on, as far as it is free. */
function bruteWindows(sessions: readonly BruteSession[], minutes: number, readings: readonly Reading[]): Window[] {
  const length = minutes * 60_000;
  const windows: Window[] = [];
  for (const tool of new Set(sessions.map((one) => one.tool))) {
    const reported: Window[] = [];
    for (const one of readings.filter((it) => it.tool === tool).toSorted((a, b) => b.at - a.at)) {
      const end = Math.round(one.resetsAt / QUARTER) * QUARTER;
      if (!reported.some((it) => it.start < end && end - length < it.end))
        reported.push({ tool, start: end - length, end });
    }
    const uses = sessions
      .filter((one) => one.tool === tool)
      .flatMap((one) => one.tokens.map(({ quarter }) => quarter * QUARTER))
      .sort((a, b) => a - b);
    for (const use of uses) {
      if (windows.some((one) => one.tool === tool && one.start <= use && use < one.end)) continue;
      const own = reported.find((one) => one.start <= use && use < one.end);
      if (own) {
        windows.push(own);
        continue;
      }
      const free = Math.max(
        ...windows.filter((one) => one.tool === tool && one.end <= use).map((one) => one.end),
        -1e15,
      );
      const next = Math.min(...reported.filter((one) => one.start > use).map((one) => one.start), 1e15);
      const start = Math.max(Math.floor(use / HOUR) * HOUR, free);
      windows.push({ tool, start, end: Math.min(start + length, next) });
    }
  }
  return windows;
}

interface Asking {
  minutes: number;
  zone: string;
  from?: string | undefined;
  to?: string | undefined;
  choice: { tool?: string | undefined; projects?: readonly string[] | undefined; session?: string | undefined };
}

/** Rows as the definition has them: key, end, sessions, messages, tokens, first and last use. */
function bruteRows(
  all: readonly BruteSession[],
  readings: readonly Reading[],
  { minutes, zone, from, to, choice }: Asking,
) {
  const day = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short" });
  const chosen = all.filter(
    (one) =>
      (choice.tool === undefined || one.tool === choice.tool) &&
      (choice.projects === undefined || choice.projects.includes(one.project)) &&
      (choice.session === undefined || one.id === choice.session || one.root === choice.session),
  );
  const rows = bruteWindows(all, minutes, readings).flatMap((window) => {
    const on = day.format(window.start);
    if ((from !== undefined && on < from) || (to !== undefined && on > to)) return [];
    const inside = ({ quarter }: { quarter: number }) =>
      quarter * QUARTER >= window.start && quarter * QUARTER < window.end;
    const own = chosen.filter((one) => one.tool === window.tool);
    const used = own.flatMap((one) => one.tokens.filter(inside));
    if (used.length === 0) return [];
    const tokens = emptyUsage();
    for (const one of used) add(tokens, one.tokens);
    const worked = own.filter((one) => one.slots.some(inside) || one.tokens.some(inside));
    const times = used.map(({ quarter }) => quarter * QUARTER);
    return [
      {
        key: `${window.tool} ${new Date(window.start).toISOString()}`,
        end: new Date(window.end).toISOString(),
        sessions: new Set(worked.map((one) => one.root)).size,
        messages: own.flatMap((one) => one.slots.filter(inside)).reduce((sum, { m }) => sum + m, 0),
        tokens,
        firstAt: new Date(Math.min(...times)).toISOString(),
        lastAt: new Date(Math.max(...times) + QUARTER).toISOString(),
      },
    ];
  });
  const begin = (key: string) => key.slice(key.indexOf(" ") + 1);
  return rows.sort((a, b) => Date.parse(begin(a.key)) - Date.parse(begin(b.key)) || (a.key < b.key ? -1 : 1));
}

const toRows = (report: BlockReport) =>
  report.rows.map(({ key, end, sessions, messages, tokens, firstAt, lastAt }) => ({
    key,
    end,
    sessions,
    messages,
    tokens,
    firstAt,
    lastAt,
  }));

describe("windows of plans", () => {
  it("equal a count by the definition: any length, filter, range and zone, with and without the provider's own windows", async () => {
    for (let seed = 1; seed <= rounds(100, 12); seed++) {
      const dice = random(seed);
      const start = dice.pick(STARTS);
      const { db, prices, close } = await openCatalogue();
      for (let n = 0; n < 12; n++) await db.batch(storeSession(db, `s${n}`, anySession(dice, start)));
      const readings: Reading[] = Array.from({ length: dice.below(6) }, () => {
        const at = start + dice.below(20 * 96) * QUARTER + dice.below(QUARTER);
        const minutes = dice.pick([300, 10_080]);
        return {
          tool: dice.pick(["claude-code", "codex"]),
          minutes,
          at,
          resetsAt: at + dice.below(minutes * 60_000),
          usedPercent: dice.below(101),
        };
      });
      await db.batch(writeReadings(readings));
      const known = await readKnown(db);
      const sessions = await readSessions(db);
      for (const minutes of LENGTHS) {
        const day = (n: number) => new Date(start + n * 86_400_000).toISOString().slice(0, 10);
        const first = dice.below(18);
        const asking: Asking = {
          minutes,
          zone: dice.pick(ZONES),
          from: dice.below(3) ? day(first) : undefined,
          to: dice.below(3) ? day(first + dice.below(9)) : undefined,
          choice: {
            tool: dice.below(3) ? undefined : "codex",
            projects: dice.below(3) ? undefined : ["q"],
            session: dice.below(8) ? undefined : "s3",
          },
        };
        const range = {
          from: asking.from === undefined ? null : (dayNumber(asking.from) ?? null),
          to: asking.to === undefined ? null : (dayNumber(asking.to) ?? null),
        };
        const scope = { zone: toZone(asking.zone), range, choice: asking.choice };
        const report = blocksAt(await blocks(db, { scope, prices, known }, minutes), start);
        const own = readings.filter((one) => one.minutes === minutes);
        const right = bruteRows(sessions, own, asking);
        expect(toRows(report), `seed ${seed}, ${JSON.stringify(asking)}`).toEqual(right);
        const total = emptyUsage();
        for (const row of right) add(total, row.tokens);
        expect(report.totals.tokens).toEqual(total);
      }
      await close();
    }
  });

  it("begin at the full hour, end after their length, and never overlap", () => {
    const at = (text: string) => Date.parse(`2026-11-20T${text}Z`) / QUARTER;
    const uses = ["10:45", "11:00", "14:45", "15:00", "15:30", "21:15"].map(at);
    const shown = (minutes: number, known = [] as { start: number; end: number }[]) =>
      toWindows(uses, minutes / 15, known).map(({ start, end }) =>
        [start, end].map((quarter) => new Date(quarter * QUARTER).toISOString().slice(11, 16)).join("-"),
      );
    expect(shown(300)).toEqual(["10:00-15:00", "15:00-20:00", "21:00-02:00"]);
    expect(shown(90)).toEqual(["10:00-11:30", "14:00-15:30", "15:30-17:00", "21:00-22:30"]);
    expect(shown(300, [{ start: at("14:30"), end: at("19:30") }])).toEqual([
      "10:00-14:30",
      "14:30-19:30",
      "21:00-02:00",
    ]);
  });

  it("project the burn rate to the end of the running window alone", async () => {
    const { db, prices, close } = await openCatalogue({ "claude-haiku-4-5": { input: 1, output: 5 } });
    const used = (input: number) => ({ "claude-haiku-4-5": { ...emptyUsage(), input } });
    const slots = {
      "2026-11-20T02:00": { m: 1, a: 0, e: 0, u: used(900) },
      "2026-11-20T10:30": { m: 1, a: 0, e: 0, u: used(1_000_000) },
      "2026-11-20T11:30": { m: 1, a: 0, e: 0, u: used(1_000_000) },
    };
    const sort_at = Date.parse("2026-11-20T11:40:00Z");
    await db.batch(
      storeSession(db, "s", { slots, row: { usage: JSON.stringify(used(2_000_900)), message_count: 3, sort_at } }),
    );
    await db.batch(
      writeReadings([
        { tool: "t", minutes: 300, at: sort_at, resetsAt: Date.parse("2026-11-20T15:00:00Z"), usedPercent: 23.5 },
      ]),
    );
    const scope = { zone: toZone("UTC"), range: { from: null, to: null } };
    const found = await blocks(db, { scope, prices, known: await readKnown(db) }, 300);
    // An hour and a half after the first use, three hours before the end.
    const [over, running] = blocksAt(found, Date.parse("2026-11-20T12:00:00Z")).rows;
    expect(over).toMatchObject({ active: false, projection: null, reported: null });
    expect(running).toMatchObject({
      active: true,
      burn: { tokensPerMinute: Math.round(2_000_000 / 90), microdollarsPerHour: Math.round(2_000_000 / 1.5) },
      projection: { tokens: 6_000_000, microdollars: 6_000_000 },
      reported: { usedPercent: 23.5, resetsAt: "2026-11-20T15:00:00.000Z" },
    });
    await close();
  });

  it("take lengths of whole quarter-hours", () => {
    expect(["5h", "90m", "7d", "31d", "15m"].map(findMinutes)).toEqual([300, 90, 10_080, 44_640, 15]);
    expect(["0h", "20m", "32d", "5", "h", "-5h", "1e3m", "99999d"].map(findMinutes)).toEqual(Array(8).fill(undefined));
  });
});
