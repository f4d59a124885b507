/**
 * Usage, windows, budgets and reports equal a count that was made from the rows of the logs, without code of the product: over generated
 * histories, in zones of every kind, over changes of the clock, ends of months and a leap day.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Budget, Crossing } from "../../plugins/budget/index.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import type { BlockReport, UsageReport } from "../../plugins/insights/index.ts";
import type { Report } from "../../plugins/report/index.ts";
import { makeTempDir } from "../_setup.ts";
import { LONG, rounds } from "../rounds.ts";
import { readCorpus } from "./corpus.ts";
import {
  addUp,
  calendar,
  isIn,
  PERIODS,
  type Range,
  type Seen,
  type Sum,
  seen,
  sumsBy,
  toModel,
  toReport,
  toTokens,
  toTotal,
  windowRows,
} from "./count.ts";
import { anyHistory, type Dice, type Log, NO_TOKENS, random, type Tokens, writeLogs } from "./history.ts";

const ALL = rounds(100, 12);
const DAY = 86_400_000;

/** Where clocks change by an hour, by half an hour, at midnight, never; with offsets of 30 and 45 minutes; at both ends of the day. */
const ZONES = [
  "UTC",
  "America/New_York",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Pacific/Kiritimati",
  "Africa/Cairo",
  "America/Havana",
  "Europe/Berlin",
] as const;
const STARTS = [
  // The clock goes back in Cairo, Berlin, New York and Havana, and a month ends.
  "2026-10-22",
  // It goes forward in New York and Havana.
  "2026-03-01",
  // Back on Lord Howe, forward in Berlin; a month ends.
  "2026-03-26",
  // Forward in Cairo.
  "2026-04-20",
  // Forward on Lord Howe.
  "2025-09-28",
  // A leap day.
  "2024-02-22",
  "2025-12-24",
  // Apia has no 30 December.
  "2011-12-24",
] as const;
const LENGTHS = ["5h", "5h", "7d", "1h", "90m", "24h", "31d"] as const;
const toMinutes = (length: string) =>
  Number(length.slice(0, -1)) * ({ m: 1, h: 60, d: 1440 }[length.slice(-1) as "m" | "h" | "d"] ?? 0);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-20T12:00:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

async function start(logs: readonly Log[]): Promise<TestKernel> {
  const home = await makeTempDir();
  await writeLogs(home, logs);
  const t = await createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });
  await t.send("POST", "/api/import", { all: true });
  return t;
}

const toDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);
function anyRange(dice: Dice, first: number): Range & { from: string; to: string } {
  const from = first + dice.below(16) * DAY;
  return { from: toDay(from), to: toDay(from + dice.pick([0, 0, 1, 6, 30]) * DAY) };
}
const query = (of: Readonly<Record<string, string | undefined>>) =>
  Object.entries(of)
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${encodeURIComponent(value)}`]))
    .join("&");

const figures = ({ tokens, cost, sessions, messages, activeMs }: UsageReport["totals"]): Sum => ({
  ...{ sessions, messages: messages ?? 0, activeMs: activeMs ?? 0, tokens },
  ...{ microdollars: cost.microdollars, unpriced: [...cost.unpriced].sort() },
});

/** Some of the sessions, and how to ask for them. */
function anyChoice(dice: Dice, logs: readonly Seen[]): { filter: Record<string, string>; chosen: readonly Seen[] } {
  const one = dice.pick(logs);
  if (dice.below(3) === 0) return { filter: { tool: one.tool }, chosen: logs.filter(({ tool }) => tool === one.tool) };
  const chosen = logs.filter(({ folder }) => folder === one.folder);
  return dice.below(2) ? { filter: {}, chosen: logs } : { filter: { project: one.folder.slice(3) }, chosen };
}

describe("figures equal a count over the raw logs", () => {
  it("usage by day, week and month, windows of any length, and reports", async () => {
    for (let seed = 1; seed <= ALL; seed++) {
      const dice = random(seed * 7_919);
      const first = Date.parse(dice.pick(STARTS));
      const history = anyHistory(dice, first);
      const t = await start(history);
      const logs = history.map((log) => seen(log));
      for (const by of ["day", "week", "month"] as const) {
        const tz = dice.pick(ZONES);
        const range = dice.below(2) ? anyRange(dice, first) : {};
        const { filter, chosen } = anyChoice(dice, logs);
        const asked = query({ by, tz, ...range, ...filter });
        const report = await t.json<UsageReport>(`/api/usage?${asked}`);
        const days = calendar(tz);
        expect(figures(report.totals), `seed ${seed}: ${asked}`).toEqual(addUp(chosen, (at) => isIn(days(at), range)));
        expect(Object.fromEntries(report.rows.map((row) => [row.key, figures(row)])), `seed ${seed}: ${asked}`).toEqual(
          Object.fromEntries(sumsBy(chosen, by, tz, range)),
        );
      }
      for (let n = 0; n < 3; n++) {
        const tz = dice.pick(ZONES);
        const length = dice.pick(LENGTHS);
        const range = dice.below(2) ? anyRange(dice, first) : {};
        const { filter, chosen } = anyChoice(dice, logs);
        const asked = query({ by: "block", length, tz, ...range, ...filter });
        const report = await t.json<BlockReport>(`/api/usage?${asked}`);
        expect(windowsShown(report), `seed ${seed}: ${asked}`).toEqual(
          windowRows(logs, chosen, toMinutes(length), tz, range),
        );
      }
      for (let n = 0; n < 2; n++) {
        const tz = dice.pick(ZONES);
        const { from, to } = anyRange(dice, first);
        const asked = query({ from, to, tz, git: "0" });
        const found = await t.json<Report>(`/api/report?${asked}`);
        expect(shown(found), `seed ${seed}: ${asked}`).toEqual(byName(toReport(logs, tz, from, to, Date.now())));
      }
      await t.close();
    }
  });

  it("budgets as time goes on, and each level they cross once a period", async () => {
    const { TZ } = process.env;
    try {
      for (let seed = 1; seed <= ALL; seed++) await readBudgets(seed);
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });
});

const shared = process.env.SESSARC_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));
const generator = join(shared, "../bench/gen-corpus.mjs");

interface Manifest {
  claude: { usage: { lastLine: Tokens } };
  codex: { usage: { input: number; cachedInput: number; output: number } };
}

describe.skipIf(!existsSync(generator))(
  "over the benchmark corpus (needs its generator beside SESSARC_FIXTURES)",
  () => {
    it("usage, windows, budgets and reports equal a count over its rows, and the totals of its manifest", async () => {
      const home = await makeTempDir();
      const size = LONG ? "--mb=12 --sessions=200 --lines=10000" : "--mb=2 --sessions=60 --lines=1500";
      const more = "--codex=8 --codex-mb=1 --days=70 --end=2026-11-19 --seed=5 --quiet";
      await promisify(execFile)(process.execPath, [generator, `--out=${home}`, ...`${size} ${more}`.split(" ")]);
      const manifest = JSON.parse(await readFile(join(home, "manifest.json"), "utf8")) as Manifest;
      const logs = (await readCorpus(home)).map((log) => seen(log));
      const t = await createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });
      await t.send("POST", "/api/import", { all: true });
      const { input, cachedInput, output } = manifest.codex.usage;
      const codex = { ...NO_TOKENS, input: input - cachedInput, cacheRead: cachedInput, output };
      expect(toTokens(logs.flatMap(({ replies }) => replies))).toEqual(plus(manifest.claude.usage.lastLine, codex));
      for (const tz of ZONES) {
        const { rows, totals } = await t.json<UsageReport>(`/api/usage?by=week&tz=${tz}`);
        expect(figures(totals), tz).toEqual(addUp(logs, () => true));
        const weeks = Object.fromEntries(rows.map((row) => [row.key, figures(row)]));
        expect(weeks, tz).toEqual(Object.fromEntries(sumsBy(logs, "week", tz, {})));
        for (const length of ["5h", "7d"]) {
          const blocks = await t.json<BlockReport>(`/api/usage?by=block&length=${length}&tz=${tz}`);
          expect(windowsShown(blocks), tz).toEqual(windowRows(logs, logs, toMinutes(length), tz, {}));
        }
        for (const [from, to] of [
          ["2026-11-01", "2026-11-01"],
          ["2026-10-26", "2026-11-01"],
          ["2026-10-01", "2026-10-31"],
        ] as const) {
          const found = shown(await t.json<Report>(`/api/report?${query({ from, to, tz, git: "0" })}`));
          // Which read led to which change of made-up files is not counted here: it is over the generated histories.
          const plain = <T extends { wasted: { kind: string }[] }>(all: T): T => ({
            ...all,
            wasted: all.wasted.filter(({ kind }) => kind !== "reads"),
          });
          expect(plain(found), `${from} to ${to}, ${tz}`).toEqual(
            plain(byName(toReport(logs, tz, from, to, Date.now()))),
          );
        }
      }
    });
  },
);

const plus = (a: Tokens, b: Tokens): Tokens => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cacheWrite5m: a.cacheWrite5m + b.cacheWrite5m,
  cacheWrite1h: a.cacheWrite1h + b.cacheWrite1h,
  cacheRead: a.cacheRead + b.cacheRead,
});

const windowsShown = ({ rows }: BlockReport) =>
  rows.map(({ tool, start, end, reported, ...row }) => ({
    ...{ tool, start: Date.parse(start), end: Date.parse(end), ...figures(row) },
    usedPercent: reported?.usedPercent ?? null,
  }));

/** The part of a report that is counted. Projects by name: those that cost the same have no order. */
function shown(report: Report) {
  const plain = <T extends { unpriced: string[] }>(sum: T): T => ({ ...sum, unpriced: [...sum.unpriced].sort() });
  return byName({
    totals: plain(report.totals),
    previous: plain(report.previous),
    projects: report.projects.map(({ id: _, git: _git, titles: _titles, ...rest }) => plain(rest)),
    windows: report.windows.map(plain),
    failing: report.failing,
    waits: report.wastes
      .filter(({ kind }) => kind === "wait")
      .map(({ tool, sessions, count, ms }) => ({ tool, sessions, count, ms })),
    wasted: report.wasted.map(({ examples, ...rest }) => ({
      ...rest,
      examples: examples.map(({ title: _, ...one }) => one),
    })),
    unfinished: report.unfinished.map(({ id, ending }) => ({ id, ending })),
  });
}
const byName = <T extends { projects: { name: string }[] }>(report: T): T => ({
  ...report,
  projects: report.projects.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
});

const LEVELS = [50, 80, 100] as const;
const SCOPES = ["all", "project", "tool", "model"] as const;

async function readBudgets(seed: number): Promise<void> {
  const dice = random(seed * 104_729);
  const zone = dice.pick(ZONES);
  process.env.TZ = zone;
  const first = Date.parse(dice.pick(STARTS));
  const history = anyHistory(dice, first);
  const times = history.flatMap(({ steps }) => steps.map(({ end }) => end)).sort((a, b) => a - b);
  vi.setSystemTime(first);
  const home = await makeTempDir();
  const t = await createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });
  const heard: Crossing[] = [];
  t.kernel.hooks.hook("budget:crossed", (crossing) => void heard.push(crossing));
  // Projects are there once something of them was imported.
  vi.setSystemTime((times[0] ?? first) + 1);
  await writeLogs(home, history, times[0]);
  await t.send("POST", "/api/import", { all: true });
  const plans = Array.from({ length: 5 }, (_, n) => {
    const scope = dice.pick(SCOPES);
    const unit = dice.pick(["money", "tokens"] as const);
    const started = history.find(({ steps }) => steps[0]?.end === times[0]);
    const target = {
      ...{ all: null, project: started?.folder.slice(3) ?? "", tool: dice.pick(["claude-code", "codex"]) },
      model: dice.pick(["claude-haiku-4-5", "claude-haiku-4-5-20251001", "claude-sonnet-4-5", "gpt-5"]),
    }[scope];
    // The amount makes each of them another one.
    const amount = (unit === "money" ? 200_000 : 100_000) * (1 + dice.below(8)) + n;
    return { period: dice.pick(["day", "week", "month"] as const), scope, target, unit, amount, ask: false };
  }).filter((one, n, all) => all.findIndex((it) => samePlan(it, one)) === n);
  const put = await t.send<Budget[]>("PUT", "/api/budgets", { budgets: plans });
  expect(put.status, `seed ${seed}: ${JSON.stringify(put.body)}`).toBe(200);
  const crossed = new Map<string, Set<number>>();
  const expected: string[] = [];
  /** Crossings as the definition has them, at one count. */
  const count = (now: number) => {
    const logs = history.map((log) => seen(log, now));
    return plans.map((plan, n) => {
      const { from, to, used } = toUsed(logs, plan, zone, now);
      const known = crossed.get(`${n} ${from}`) ?? new Set();
      crossed.set(`${n} ${from}`, known);
      const fresh = LEVELS.filter((level) => used * 100 >= level * plan.amount && !known.has(level));
      for (const level of fresh) known.add(level);
      if (fresh.length > 0) expected.push(`${n} ${from} ${fresh.at(-1)}`);
      return { from, to, used, crossed: [...known].sort((a, b) => a - b) };
    });
  };
  count(Date.now());
  const moments = [0.3, 0.5, 0.7, 1].map((share) => times[Math.floor(share * (times.length - 1))] ?? 0);
  for (const now of moments) {
    vi.setSystemTime(now + 1);
    await writeLogs(home, history, now);
    await t.send("POST", "/api/import", { all: true });
    await t.kernel.inject("budgets").check();
    const budgets = await t.json<Budget[]>("/api/budgets");
    expect(
      budgets.map(({ from, to, used, crossed }) => ({ from, to, used, crossed })),
      `seed ${seed}, ${zone}, ${new Date(now).toISOString()}: ${JSON.stringify(plans)}`,
    ).toEqual(count(now + 1));
  }
  const place = ({ amount }: { amount: number }) => plans.findIndex((plan) => plan.amount === amount);
  expect(heard.map(({ budget, level }) => `${place(budget)} ${budget.from} ${level}`).sort(), `seed ${seed}`).toEqual(
    expected.sort(),
  );
  await t.close();
}

interface Plan {
  period: keyof typeof PERIODS;
  scope: (typeof SCOPES)[number];
  /** Name of a project, a tool or a model. */
  target: string | null;
  unit: "money" | "tokens";
}

/** What a budget's running period used, by the clock of a zone. */
function toUsed(logs: readonly Seen[], { period, scope, target, unit }: Plan, zone: string, now: number) {
  const dayAt = calendar(zone);
  const { from, to } = PERIODS[period](dayAt(now));
  const own = logs
    .filter((log) => scope !== "project" || log.folder.endsWith(`/${target}`))
    .filter((log) => scope !== "tool" || log.tool === target)
    .map((log) => ({
      ...log,
      replies: log.replies.filter(({ model }) => scope !== "model" || toModel(model) === toModel(target ?? "")),
    }));
  const { microdollars, tokens } = addUp(own, (at) => isIn(dayAt(at), { from, to }));
  return { from, to, used: unit === "money" ? microdollars : toTotal(tokens) };
}

const samePlan = (a: Plan, b: Plan) =>
  a.period === b.period &&
  a.scope === b.scope &&
  a.unit === b.unit &&
  (a.scope === "model" ? toModel(a.target ?? "") === toModel(b.target ?? "") : a.target === b.target);
