/** What the daily commands print on terminals of 80 and 160 columns, with colour and without, as files to read. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { widthOf } from "../../core/terminal/style.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand, runUntil } from "../command.ts";
import { anyHistory, random, writeLogs } from "./history.ts";

const { TZ } = process.env;
beforeEach(() => {
  process.env.TZ = "UTC";
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-20T12:00:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
  if (TZ === undefined) delete process.env.TZ;
  else process.env.TZ = TZ;
});

const TABLE = [
  {
    id: "anthropic",
    model_match: { contains: "claude" },
    models: ["claude-haiku-4-5", "claude-sonnet-4-5"].map((id) => ({
      id,
      match: { starts_with: id },
      prices: { input_mtok: 2, output_mtok: 7.5, cache_read_mtok: 0.2 },
    })),
  },
];
const SESSION = "claude-code:0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0003";
/** In this order; each is printed at every width. */
const COMMANDS: readonly (readonly string[])[] = [
  ["usage", "blocks", "--tz", "UTC", "--since", "2026-11-17"],
  ["usage", "blocks", "--tz", "UTC", "--length", "7d"],
  ["budget"],
  ["mark", "note"],
  ["mark", "tag"],
  ["mark", "search"],
  ["report", "--week"],
  ["report", "--since", "2026-11-17", "--prompts"],
  ["health"],
  ["health", SESSION],
  ["prices"],
  ["statusline", "--status"],
  ["sessions"],
  ["sessions", "--subagents", "--limit", "2"],
  ["projects"],
  ["usage"],
  ["usage", "session"],
  ["usage", "model"],
  ["search", "do"],
  ["show", SESSION, "--kinds", "user", "--limit", "2"],
  ["rescue"],
  ["handoff", SESSION],
  ["import", "--dry-run"],
  ["doctor"],
  ["guard", "status"],
  ["mcp", "list"],
  ["skills", "list"],
  ["waiting"],
  ["team", "status"],
  ["receipt"],
  ["blame", "a.ts"],
  ["show", "nothing-like-it"],
  ["import", "--tool", "claud"],
  ["sessions", "--tool", "claud"],
  ["search", "nothing-like-it"],
  ["undelete", "nothing.ts"],
];
/** Also where nothing was ever imported. */
const EMPTY: readonly (readonly string[])[] = [
  ["sessions"],
  ["projects"],
  ["usage"],
  ["search", "foo"],
  ["show", "last"],
  ["health"],
  ["report"],
  ["rescue"],
  ["mark"],
  ["budget"],
  ["import"],
  ["doctor"],
  ["receipt"],
  ["blame", "a.ts"],
  ["mcp", "list"],
  ["mcp", "scan"],
  ["skills", "list"],
  ["guard", "status"],
  ["--help"],
  ["--help", "--all"],
];

it("the commands print what these files say", async () => {
  const home = await makeTempDir();
  await writeLogs(home, anyHistory(random(31), Date.parse("2026-11-07T00:00:00Z")), Date.now());
  // A window that is running.
  const running = join(home, ".claude/projects/-w-app9/0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0099.jsonl");
  await mkdir(dirname(running), { recursive: true });
  const replies = ["10:30", "11:45"].map((clock, i) => ({
    ...{ type: "assistant", uuid: `u${i}`, cwd: "/w/app9", requestId: `r${i}` },
    timestamp: `2026-11-20T${clock}:00.000Z`,
    message: {
      ...{ id: `m${i}`, role: "assistant", model: "claude-haiku-4-5", content: [{ type: "text", text: "answer" }] },
      usage: { input_tokens: 40_000, output_tokens: 10_000, cache_read_input_tokens: 200_000 },
    },
  }));
  await writeFile(running, replies.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const table = join(home, "data.json");
  await writeFile(table, JSON.stringify(TABLE));
  await runCommand(["import", "--all"], home);
  const longest = "A note that is longer than a line of a terminal: why does the table end before the last day?";
  for (const args of [
    ["budget", "set", "day", "$0.50", "--ask"],
    ["budget", "set", "week", "900K", "--tokens", "--project", "app0"],
    ["budget", "set", "month", "100", "--model", "claude-sonnet-4-5-20250929"],
    ["mark", "note", "set", SESSION, longest],
    ["mark", "note", "set", SESSION, "beta", "--message", "1"],
    ["mark", "tag", SESSION, "review", "to do"],
    ["mark", "bookmark", SESSION, "--message", "2"],
    ["mark", "search", "save", "failed this week", "is:error after:7d tag:review"],
    ["prices", "update", table, "--date", "2026-11-18"],
  ])
    expect(await runCommand(args, home), args.join(" ")).toMatchObject({ code: 0 });
  const shown = new Map<number, string[]>([
    [80, []],
    [160, []],
  ]);
  const coloured: string[] = [];
  const hide = (text: string) =>
    text
      .replaceAll(home, "~")
      .replace(/\d+ ms$/gm, "0 ms")
      .trimEnd();
  for (const args of COMMANDS)
    for (const [columns, list] of shown) {
      const plain = await runCommand(args, home, { NO_COLOR: "1" }, columns);
      const own = await runCommand(args, home, {}, columns);
      list.push(`$ sessarc ${args.join(" ")}\n${hide(plain.stdout + plain.stderr)}`);
      if (columns === 80) coloured.push(`$ sessarc ${args.join(" ")}\n${hide(own.stdout)}`);
      expect(stripVTControlCharacters(own.stdout), args.join(" ")).toBe(plain.stdout);
      // Lines of documents and paths are not cut to the width.
      if (!/^(statusline|show|handoff|receipt|blame)/.test(args[0] ?? ""))
        for (const line of plain.stdout.split("\n"))
          expect(widthOf(line), `${args.join(" ")}: ${line}`).toBeLessThanOrEqual(columns);
    }
  for (const [columns, list] of shown) {
    const live = await runUntil(["usage", "blocks", "--live", "--tz", "UTC"], home, columns, (text) => text !== "");
    const [first = ""] = live.stdout.split("\u001b[J");
    list.push(`$ sessarc usage blocks --live\n${stripVTControlCharacters(first).trimEnd()}`);
    await expect(`${list.join("\n\n")}\n`).toMatchFileSnapshot(`golden/${columns}.txt`);
  }
  await expect(`${coloured.join("\n\n").replaceAll("\u001b", "␛")}\n`).toMatchFileSnapshot("golden/80-colour.txt");
});

it("an empty archive has a next step, and no list has words of another program", async () => {
  const home = await makeTempDir();
  const list: string[] = [];
  for (const args of EMPTY) {
    const { stdout, stderr } = await runCommand(args, home, { NO_COLOR: "1" }, 80);
    list.push(
      `$ sessarc ${args.join(" ")}\n${(stdout + stderr)
        .replaceAll(home, "~")
        .replace(/\d+ ms/g, "0 ms")
        .trimEnd()}`,
    );
    for (const line of (stdout + stderr).split("\n")) {
      expect(line, args.join(" ")).not.toMatch(/\b(GET|POST|PUT|PATCH|DELETE) \//);
      expect(widthOf(line.replaceAll(home, "~")), `${args.join(" ")}: ${line}`).toBeLessThanOrEqual(110);
    }
  }
  await expect(`${list.join("\n\n")}\n`).toMatchFileSnapshot("golden/empty.txt");
});
