/** Budgets: counted like an independent sum over days of the machine's zone, reported once a level and period, asked by the guard. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Budget, Crossing } from "../../plugins/budget/index.ts";
import { periodAt } from "../../plugins/budget/period.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";

let home: string;
const uuid = (n: number) => `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0${n}`;

/** A million output tokens of Haiku cost five dollars. */
const reply = (at: string, id: string, output: number, folder: string) => ({
  type: "assistant",
  uuid: `u${id}`,
  timestamp: at,
  cwd: folder,
  requestId: `r${id}`,
  message: {
    id: `m${id}`,
    role: "assistant",
    model: "claude-haiku-4-5",
    content: [{ type: "text", text: "answer" }],
    usage: { input_tokens: 0, output_tokens: output },
  },
});
async function write(n: number, folder: string, rows: readonly { at: string; output: number }[]): Promise<void> {
  const file = join(home, `.claude/projects/${folder.replaceAll("/", "-")}/${uuid(n)}.jsonl`);
  await mkdir(dirname(file), { recursive: true });
  const text = rows.map(({ at, output }, i) => `${JSON.stringify(reply(at, `${n}-${i}`, output, folder))}\n`).join("");
  await writeFile(file, text);
}

beforeEach(async () => {
  home = await makeTempDir();
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-04T12:00:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("periods", () => {
  it("are days, weeks from Monday and months of the clock here, over changes of the clock and ends of months", () => {
    const day = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short" });
    for (let hours = 0; hours < 24 * 800; hours += 5) {
      const now = Date.UTC(2026, 0, 1) + hours * 3_600_000;
      const today = day.format(now);
      expect(periodAt("day", now)).toEqual({ from: today, to: today });
      const { from, to } = periodAt("week", now);
      expect(new Date(`${from}T00:00:00Z`).getUTCDay()).toBe(1);
      expect(Date.parse(to) - Date.parse(from)).toBe(6 * 86_400_000);
      expect(from <= today && today <= to).toBe(true);
      const month = periodAt("month", now);
      expect(month.from).toBe(`${today.slice(0, 7)}-01`);
      // The day after the last is the first of another month.
      const after = new Date(Date.parse(month.to) + 86_400_000).toISOString();
      expect([month.to.slice(0, 7), after.slice(8, 10)]).toEqual([today.slice(0, 7), "01"]);
    }
  });
});

describe("budgets", () => {
  let t: TestKernel;
  let crossed: Crossing[];
  beforeEach(async () => {
    t = await createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });
    crossed = [];
    t.kernel.hooks.hook("budget:crossed", (crossing) => void crossed.push(crossing));
  });
  const put = (...budgets: object[]) => t.send<Budget[]>("PUT", "/api/budgets", { budgets });
  const importAll = () => t.send("POST", "/api/import", { all: true });
  const check = () => t.kernel.inject("budgets").check();
  const money = (dollars: number) => dollars * 1e6;

  it("count what their period, project, tool or model used", async () => {
    await write(1, "/w/app", [
      { at: "2026-10-31T23:00:00.000Z", output: 1_000_000 },
      { at: "2026-11-01T01:00:00.000Z", output: 200_000 },
      { at: "2026-11-02T10:00:00.000Z", output: 300_000 },
      { at: "2026-11-04T10:00:00.000Z", output: 400_000 },
    ]);
    await write(2, "/w/lib", [{ at: "2026-11-04T11:00:00.000Z", output: 100_000 }]);
    await importAll();
    const { status, body } = await put(
      { period: "day", amount: money(10) },
      { period: "week", amount: money(10) },
      { period: "month", amount: money(10) },
      { period: "month", amount: money(10), scope: "project", target: "lib" },
      { period: "month", amount: 500, scope: "model", target: "claude-haiku-4-5", unit: "tokens" },
      { period: "month", amount: money(10), scope: "tool", target: "codex" },
    );
    expect(status).toBe(200);
    // 4 November is a Wednesday.
    expect(body.map(({ from, to, used }) => [from, to, used])).toEqual([
      ["2026-11-04", "2026-11-04", money(2.5)],
      ["2026-11-02", "2026-11-08", money(4)],
      ["2026-11-01", "2026-11-30", money(5)],
      ["2026-11-01", "2026-11-30", money(0.5)],
      ["2026-11-01", "2026-11-30", 1_000_000],
      ["2026-11-01", "2026-11-30", 0],
    ]);
    expect(body[3]).toMatchObject({ label: "lib", share: 0.05 });
    expect(await t.json("/api/budgets")).toEqual(body);
  });

  it("report each level once a period, several at once as the highest", async () => {
    await write(1, "/w/app", [{ at: "2026-11-04T10:00:00.000Z", output: 300_000 }]);
    await importAll();
    await put({ period: "day", amount: money(2.5) });
    await check();
    expect(crossed.map(({ level, budget }) => [level, budget.crossed])).toEqual([[50, [50]]]);
    await write(1, "/w/app", [
      { at: "2026-11-04T10:00:00.000Z", output: 300_000 },
      { at: "2026-11-04T11:00:00.000Z", output: 900_000 },
    ]);
    await importAll();
    await check();
    await check();
    expect(crossed.map(({ level }) => level)).toEqual([50, 100]);
    const { budgets } = await t.json<{ budgets: { level: number }[] }>("/api/status");
    expect(budgets.map(({ level }) => level)).toEqual([100, 80, 50]);
    // The next day begins at nought.
    vi.setSystemTime(new Date("2026-11-05T12:00:00Z"));
    await check();
    expect(crossed).toHaveLength(2);
    expect((await t.json<{ budgets?: unknown }>("/api/status")).budgets).toBeUndefined();
    expect(await t.json("/api/budgets")).toMatchObject([{ used: 0, crossed: [] }]);
  });

  it("keep their crossings unless the amount is another", async () => {
    await write(1, "/w/app", [{ at: "2026-11-04T10:00:00.000Z", output: 300_000 }]);
    await importAll();
    await put({ period: "day", amount: money(2) });
    await put({ period: "day", amount: money(2), ask: true }, { period: "week", amount: money(100) });
    expect(crossed.map(({ level }) => level)).toEqual([50]);
    await put({ period: "day", amount: money(1.6) });
    expect(crossed.map(({ level }) => level)).toEqual([50, 80]);
    expect((await put()).body).toEqual([]);
  });

  it("have the guard ask once a session when they are used up", async () => {
    await write(1, "/w/app", [{ at: "2026-11-04T10:00:00.000Z", output: 300_000 }]);
    await importAll();
    await put({ period: "day", amount: money(1), ask: true });
    const call = (client: string, session_id: string) =>
      t.json<{ decision: string; ask: string | null }>(`/api/security/pretooluse?client=${client}`, {
        method: "POST",
        body: JSON.stringify({ session_id, tool_name: "Bash", tool_input: { command: "ls" } }),
        headers: { "content-type": "application/json" },
      });
    const first = await call("claude-code", "a");
    expect([first.decision, first.ask]).toEqual([
      "allow",
      "sessarc: the budget for this day is used up: $1.50 of $1.00. Go on?",
    ]);
    expect((await call("claude-code", "a")).ask).toBeNull();
    expect((await call("claude-code", "b")).ask).toContain("used up");
    await put({ period: "day", amount: money(1) });
    expect((await call("claude-code", "c")).ask).toBeNull();
  });

  it.each([
    [{ period: "year", amount: 1 }, "INVALID_INPUT"],
    [{ period: "day", amount: 0 }, "INVALID_INPUT"],
    [{ period: "day", amount: 1.5 }, "INVALID_INPUT"],
    [{ period: "day", amount: 1e300 }, "INVALID_INPUT"],
    [{ period: "day", amount: 1, scope: "tool" }, "BUDGET_INVALID"],
    [{ period: "day", amount: 1, scope: "tool", target: "none" }, "INVALID_INPUT"],
    [{ period: "day", amount: 1, scope: "project", target: "none" }, "PROJECT_NOT_FOUND"],
  ])("are refused when they are none: %j", async (budget, code) => {
    await put({ period: "day", amount: 7 });
    expect((await put(budget)).body).toMatchObject({ code });
    expect(await t.json("/api/budgets")).toMatchObject([{ amount: 7 }]);
  });

  it("are refused when two are for the same", async () => {
    expect((await put({ period: "day", amount: 1 }, { period: "day", amount: 2 })).body).toMatchObject({
      code: "BUDGET_INVALID",
    });
  });
});

describe("sessarc budget", () => {
  const budget = (...args: string[]) => runCommand(["budget", ...args], home, { NO_COLOR: "1" }, 160);

  it("sets, lists and removes, at 80 and 160 columns, with and without colour", async () => {
    await write(1, "/w/app", [{ at: "2026-11-04T10:00:00.000Z", output: 300_000 }]);
    await runCommand(["import", "--all"], home);
    expect(await budget()).toMatchObject({ code: 3, stdout: "" });
    await budget("set", "day", "$1.80");
    await budget("set", "month", "2M", "--tokens", "--project", "app");
    await budget("set", "week", "1", "--ask");
    const wide = await budget();
    expect(wide.stdout).toMatchInlineSnapshot(`
      "budget   for             used         of            %                        until       guard
      a day    all            $1.50      $1.80           83  ████████████████░░░░  2026-11-04
      a month  project app  300,000  2,000,000  tokens   15  ███░░░░░░░░░░░░░░░░░  2026-11-30
      a week   all            $1.50      $1.00          150  ████████████████████  2026-11-08  asks
      "
    `);
    const narrow = await runCommand(["budget", "list"], home, { NO_COLOR: "1" }, 60);
    expect(narrow.stdout).toMatchInlineSnapshot(`
      "budget   for           used     of            %  until
      a day    all          $1.50  $1.80           83  2026-11-04
      a month  project app   300K   2.0M  tokens   15  2026-11-30
      a week   all          $1.50  $1.00          150  2026-11-08
      "
    `);
    const coloured = await runCommand(["budget"], home, {}, 160);
    expect(coloured.stdout).toContain("\u001b[31m");
    expect(stripVTControlCharacters(coloured.stdout)).toBe(wide.stdout);
    expect((await budget("set", "day", "3")).stdout).toContain("$3.00");
    expect(await budget("remove", "month", "--tokens", "-p", "app")).toMatchObject({ code: 0 });
    expect(await budget("remove", "month", "--tokens", "-p", "app")).toMatchObject({ code: 3 });
    expect(JSON.parse((await budget("--json")).stdout)).toMatchObject([{ period: "day" }, { period: "week" }]);
  });

  it.each([
    ["set", "year", "1"],
    ["set", "day", "much"],
    ["set", "day", "-1"],
    ["set", "day"],
    ["remove"],
    ["set", "day", "1", "-p", "a", "-t", "codex"],
  ])("refuses %s %s %s", async (...args) => {
    expect(await budget(...args.filter((one) => one !== undefined))).toMatchObject({ code: 2, stdout: "" });
  });
});
