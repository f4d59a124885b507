/** `sessarc usage blocks`: what it prints, at 80 and 160 columns, with and without colour. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { createStyle } from "sessarc/terminal";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { widthOf } from "../../core/terminal/style.ts";
import { type BlocksAnswer, liveFrame } from "../../plugins/archive/commands/usage-blocks.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand, runUntil } from "../command.ts";

let home: string;

const reply = (at: string, n: number) => ({
  type: "assistant",
  uuid: `u${n}`,
  timestamp: at,
  cwd: "/w/app",
  requestId: `r${n}`,
  message: {
    id: `m${n}`,
    role: "assistant",
    model: "claude-haiku-4-5",
    content: [{ type: "text", text: "answer" }],
    usage: { input_tokens: 400_000, output_tokens: 100_000, cache_read_input_tokens: 2_000_000 },
  },
});
const event = (at: string, type: string, payload: object) => ({ timestamp: at, type, payload });

async function write(path: string, rows: readonly object[]): Promise<void> {
  const file = join(home, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

beforeEach(async () => {
  home = await makeTempDir();
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-20T12:00:00Z") });
  await write(".claude/projects/-w-app/0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01.jsonl", [
    reply("2026-11-19T08:20:00.000Z", 1),
    reply("2026-11-19T23:50:00.000Z", 2),
    reply("2026-11-20T10:30:00.000Z", 3),
    reply("2026-11-20T11:45:00.000Z", 4),
  ]);
  const at = "2026-11-20T09:10:00.000Z";
  await write(".codex/sessions/2026/11/20/rollout-2026-11-20T09-10-00-01a1faa6-431d-7c73-a7b5-36d733978ad0.jsonl", [
    event(at, "session_meta", { id: "01a1faa6-431d-7c73-a7b5-36d733978ad0", cwd: "/w/app", timestamp: at }),
    event(at, "turn_context", { model: "gpt-5" }),
    event(at, "event_msg", {
      type: "token_count",
      info: { total_token_usage: { input_tokens: 900, cached_input_tokens: 0, output_tokens: 100 } },
      rate_limits: {
        primary: { used_percent: 12.5, window_minutes: 300, resets_at: Date.parse(at) / 1000 + 4 * 3600 },
      },
    }),
  ]);
});
afterEach(() => {
  vi.useRealTimers();
});

const blocks = (...args: string[]) => runCommand(["usage", "blocks", "--tz", "UTC", ...args], home);

describe("sessarc usage blocks", () => {
  it("lists the windows of each tool, and says where a running one is going", async () => {
    await runCommand(["import", "--all"], home);
    const wide = await runCommand(["usage", "blocks", "--tz", "UTC"], home, { NO_COLOR: "1" }, 160);
    expect(wide.stdout).toMatchInlineSnapshot(`
      "window            until        assistant    sessions     tokens    cost  tokens/min  cost/h   limit
      2026-11-19 08:00  13:00        claude-code         1  2,500,000   $1.10     166,667   $4.40
      2026-11-19 23:00  11-20 04:00  claude-code         1  2,500,000   $1.10     166,667   $4.40
      2026-11-20 08:15  13:15        codex               1      1,000  <$0.01           6  <$0.01  12.5 %  running
      2026-11-20 10:00  15:00        claude-code         1  5,000,000   $2.20      55,556   $1.47          running

      codex: window of 2026-11-20 08:15
        so far       <$0.01, 1.0K tokens
        burn rate    <$0.01/h, 6 tokens/min
        at the end   <$0.01, 1.4K tokens at 2026-11-20 13:15 if it goes on so
        provider     12.5 % used at 2026-11-20 09:10, resets 2026-11-20 13:10

      claude-code: window of 2026-11-20 10:00
        so far       $2.20, 5.0M tokens
        burn rate    $1.47/h, 56K tokens/min
        at the end   $6.60, 15M tokens at 2026-11-20 15:00 if it goes on so
      "
    `);
    const narrow = await runCommand(["usage", "blocks", "--tz", "UTC"], home, { NO_COLOR: "1" }, 80);
    expect(narrow.stdout).toMatchInlineSnapshot(`
      "window            until        assistant    tokens    cost   limit
      2026-11-19 08:00  13:00        claude-code    2.5M   $1.10
      2026-11-19 23:00  11-20 04:00  claude-code    2.5M   $1.10
      2026-11-20 08:15  13:15        codex          1.0K  <$0.01  12.5 %  running
      2026-11-20 10:00  15:00        claude-code    5.0M   $2.20          running

      codex: window of 2026-11-20 08:15
        so far       <$0.01, 1.0K tokens
        burn rate    <$0.01/h, 6 tokens/min
        at the end   <$0.01, 1.4K tokens at 2026-11-20 13:15 if it goes on so
        provider     12.5 % used at 2026-11-20 09:10, resets 2026-11-20 13:10

      claude-code: window of 2026-11-20 10:00
        so far       $2.20, 5.0M tokens
        burn rate    $1.47/h, 56K tokens/min
        at the end   $6.60, 15M tokens at 2026-11-20 15:00 if it goes on so
      "
    `);
    expect(Math.max(...narrow.stdout.split("\n").map(widthOf))).toBeLessThanOrEqual(80);
    for (const columns of [80, 160]) {
      const coloured = await runCommand(["usage", "blocks", "--tz", "UTC"], home, { FORCE_COLOR: "1" }, columns);
      expect(coloured.stdout).toContain("\u001b[");
      expect(stripVTControlCharacters(coloured.stdout)).toBe((columns === 80 ? narrow : wide).stdout);
    }
  });

  it("takes lengths, days of a zone and an order, and refuses what is not a length", async () => {
    await runCommand(["import", "--all"], home);
    const keys = async (...args: string[]) =>
      (
        JSON.parse((await blocks("--json", "-t", "claude-code", ...args)).stdout) as { rows: { start: string }[] }
      ).rows.map(({ start }) => start.slice(5, 16));
    expect(await keys()).toEqual(["11-19T08:00", "11-19T23:00", "11-20T10:00"]);
    expect(await keys("--length", "7d")).toEqual(["11-19T08:00"]);
    expect(await keys("--since", "2026-11-20")).toEqual(["11-20T10:00"]);
    expect(await keys("--since", "2026-11-20", "--tz", "Asia/Tokyo")).toEqual(["11-19T23:00", "11-20T10:00"]);
    expect(await keys("--order", "desc", "-n", "1")).toEqual(["11-20T10:00"]);
    expect(await blocks("--length", "20m")).toMatchObject({ code: 2, stdout: "" });
    expect(await blocks("what")).toMatchObject({ code: 2, stdout: "" });
    expect(await blocks("--live")).toMatchObject({ code: 2, stdout: "" });
    expect(await runCommand(["usage", "--length", "5h"], home)).toMatchObject({ code: 2, stdout: "" });
    expect(await blocks("--since", "2026-12-01")).toMatchObject({ code: 3, stdout: "" });
  });

  it("counts from the logs where nothing is archived", async () => {
    const answer = JSON.parse((await blocks("--json")).stdout) as BlocksAnswer;
    expect(answer.rows.map(({ tool }) => tool)).toEqual(["claude-code", "claude-code", "codex", "claude-code"]);
  });

  it("redraws over its last picture until it is ended", async () => {
    await runCommand(["import", "--all"], home);
    const ran = await runUntil(["usage", "blocks", "--live", "--tz", "UTC"], home, 80, (text) =>
      text.includes("\u001b[J"),
    );
    expect(ran.code).toBe(0);
    const [first = "", second = ""] = ran.stdout.split("\u001b[J");
    // Up by as many lines as the first picture has.
    expect(first).toMatch(new RegExp(`\u001b\\[${first.split("\n").length - 1}A$`));
    expect(stripVTControlCharacters(second)).toBe(stripVTControlCharacters(first));
  });

  it("draws the running windows, each line within the terminal", async () => {
    await runCommand(["import", "--all"], home);
    const answer = JSON.parse((await blocks("--json")).stdout) as BlocksAnswer;
    const look = { tz: "UTC", width: 80, style: createStyle(false) };
    const frame = liveFrame(answer, Date.parse("2026-11-20T12:00:00Z"), look);
    expect(frame).toMatchInlineSnapshot(`
      "codex  2026-11-20 08:15 – 2026-11-20 13:15, 1 h 15 min left
        time   ██████████████████████████████████████░░░░░░░░░░░░ 75 %
        limit  ██████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 12.5 % used
        so far       <$0.01, 1.0K tokens
        burn rate    <$0.01/h, 6 tokens/min
        at the end   <$0.01, 1.4K tokens at 2026-11-20 13:15 if it goes on so
        provider     12.5 % used at 2026-11-20 09:10, resets 2026-11-20 13:10

      claude-code  2026-11-20 10:00 – 2026-11-20 15:00, 3 h 0 min left
        time   ████████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 40 %
        so far       $2.20, 5.0M tokens
        burn rate    $1.47/h, 56K tokens/min
        at the end   $6.60, 15M tokens at 2026-11-20 15:00 if it goes on so

      Ctrl-C ends"
    `);
    for (const width of [40, 80, 160])
      for (const line of liveFrame(answer, Date.now(), { ...look, width }).split("\n"))
        expect(widthOf(line)).toBeLessThanOrEqual(Math.max(width, 80));
    expect(stripVTControlCharacters(liveFrame(answer, Date.now(), { ...look, style: createStyle(true) }))).toBe(frame);
    const over = { ...answer, rows: answer.rows.map((row) => ({ ...row, active: false })) };
    expect(liveFrame(over, Date.now(), look)).toContain("No window of 5 h is running");
  });
});
