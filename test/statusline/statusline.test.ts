/** The status line: what it prints for the JSON of assistants, and its place in their settings. */
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { createLedger, defineAdapter } from "sessarc/adapter";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createStyle, printable } from "../../core/terminal/style.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import type { StatuslineInstalled, StatuslineRemoved, StatuslineStatus } from "../../plugins/statusline/index.ts";
import { readInput } from "../../plugins/statusline/input.ts";
import { DEFAULT_TEMPLATE, toLine } from "../../plugins/statusline/line.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand, serveHere } from "../command.ts";

const NOW = new Date("2026-11-24T02:00:00Z");
const SESSION = "b406d1da-7bb4-48df-b9b8-7eb732a62eec";
const fixture = (name: string) =>
  readFile(fileURLToPath(new URL(`../fixtures/statusline/${name}`, import.meta.url)), "utf8");

let home: string;
const reply = (at: string, n: number, output: number) => ({
  type: "assistant",
  uuid: `u${n}`,
  sessionId: SESSION,
  timestamp: at,
  cwd: "/w/lamp",
  requestId: `r${n}`,
  message: {
    id: `m${n}`,
    role: "assistant",
    model: "claude-haiku-4-5",
    content: [{ type: "text", text: "answer" }],
    usage: { input_tokens: 0, output_tokens: output },
  },
});

async function write(path: string, text: string): Promise<string> {
  const file = join(home, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}
const writeLog = () =>
  write(
    `.claude/projects/-w-lamp/${SESSION}.jsonl`,
    [reply("2026-11-23T10:00:00.000Z", 1, 1_000_000), reply("2026-11-24T01:10:00.000Z", 2, 400_000)]
      .map((row) => `${JSON.stringify(row)}\n`)
      .join(""),
  );
const statusline = (stdin: string, ...args: string[]) =>
  runCommand(["statusline", ...args], home, { NO_COLOR: "1" }, undefined, stdin);

beforeEach(async () => {
  home = await makeTempDir();
  vi.useFakeTimers({ toFake: ["Date"], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("sessarc statusline", () => {
  it("prints what the assistant says where there is no archive, and guesses nothing", async () => {
    const api = await statusline(await fixture("claude-2.1.330-api-key.json"));
    expect(api).toEqual({ code: 0, stderr: "", stdout: "Sonnet 4.5 · 0 % context · <$0.01 session\n" });
    const plan = await statusline(await fixture("claude-2.1.330-subscriber.json"));
    expect(plan.stdout).toBe("Sonnet 4.5 · 0 % context · <$0.01 session · 5h 24 % until 06:00 · 7d 41 %\n");
    const copilot = await statusline(await fixture("copilot-1.0.102.json"));
    expect(copilot.stdout).toBe("gpt-5.2 · medium · 5 % context\n");
  });

  it("adds the day, the running window and the session from the running service", async () => {
    await writeLog();
    await runCommand(["import", "--all"], home);
    const service = await serveHere(["--no-open"], home);
    const shown = await statusline(await fixture("claude-2.1.330-subscriber.json"));
    expect(shown.stdout).toBe(
      "Sonnet 4.5 · 0 % context · <$0.01 session · $2.00 today · $2.00 window, 4 h 0 min left · 5h 24 % until 06:00, out at 05:15 · 7d 41 %\n",
    );
    const own = JSON.stringify({ session_id: SESSION, model: { id: "m" } });
    expect((await statusline(own, "--template", "{session}|{window}", "--tool", "claude-code")).stdout).toBe(
      "$7.00 · $2.00 · limit 5h 24 % until 06:00, out at 05:15\n",
    );
    await fetch(`${service.url}api/budgets`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        budgets: [
          { period: "day", amount: 2.5e6 },
          { period: "month", amount: 1e9 },
        ],
      }),
    });
    expect((await statusline(own, "--template", "{budget}")).stdout).toContain("80 % of the day · limit 5h 24 %");
    // The provider's figure is beside the archive's from then on.
    const { rows } = (await (await fetch(`${service.url}api/usage?by=block&tz=UTC`)).json()) as {
      rows: { end: string; reported: { usedPercent: number } | null }[];
    };
    expect(rows.at(-1)).toMatchObject({ end: "2026-11-24T06:00:00.000Z", reported: { usedPercent: 23.5 } });
    await service.stop();
  });

  it("shows the last figures, with their time, when the service is down", async () => {
    await writeLog();
    await write(".claude/settings.json", "{}");
    const data = join(home, ".local/share/sessarc");
    await runCommand(["statusline", "--install"], home);
    await runCommand(["import", "--all"], home);
    expect(existsSync(join(data, "files/statusline/state.json"))).toBe(true);
    const template = ["--template", "{today} today|{window} window, {left} left"];
    const input = JSON.stringify({ session_id: SESSION });
    expect((await statusline(input, ...template)).stdout).toBe("$2.00 today · $2.00 window, 4 h 0 min left\n");
    vi.setSystemTime(new Date("2026-11-24T05:30:00Z"));
    expect((await statusline(input, ...template)).stdout).toBe(
      "$2.00 today · $2.00 window, 30 min left · as of 02:00\n",
    );
    vi.setSystemTime(new Date("2026-11-25T05:30:00Z"));
    expect((await statusline(input, ...template)).stdout).toBe("as of 02:00\n");
    vi.setSystemTime(new Date("2026-11-24T02:00:00Z"));
    // A new price table, loaded without the service, is in the next line.
    const prices = { input_mtok: 1, output_mtok: 20 };
    await write(
      "prices.json",
      JSON.stringify([
        {
          ...{ id: "anthropic", model_match: { contains: "claude" } },
          models: [{ id: "claude-haiku-4-5", match: { starts_with: "claude-haiku-4-5" }, prices }],
        },
      ]),
    );
    expect((await statusline(input, "--template", "{today}")).stdout).toBe("$2.00\n");
    expect((await runCommand(["prices", "update", join(home, "prices.json"), "--date", "2026-11-20"], home)).code).toBe(
      0,
    );
    expect((await statusline(input, "--template", "{today}")).stdout).toBe("$8.00\n");
    await writeFile(join(data, "files/statusline/state.json"), '{"at":"no time"}');
    expect((await statusline(input, "--tool", "claude-code", "--template", "{tool}|{today} today")).stdout).toBe(
      "claude-code\n",
    );
  });

  it("refuses what is not a status line's JSON, an unknown figure, and a terminal", async () => {
    for (const bad of ["", "[]", "null", "{", "x".repeat(2 << 20)])
      expect(await statusline(bad)).toMatchObject({ code: 1, stdout: "" });
    expect(await statusline("{}", "--template", "{cost}")).toMatchObject({ code: 2, stdout: "" });
    expect(await statusline("{}")).toEqual({ code: 0, stdout: "\n", stderr: "" });
  });

  it("lets no control sequence of a name through, and ignores fields of other types", async () => {
    const hostile = JSON.stringify({
      model: { display_name: "a\u001b[2Jb\nc" },
      session_name: "\u001b]0;title\u0007",
      context_window: { used_percentage: "12" },
      cost: [1],
      rate_limits: { five_hour: { used_percentage: 12, resets_at: 1e300 }, seven_day: null },
      session_id: 7,
    });
    expect((await statusline(hostile, "--template", "{model}|{name}|{context}|{limits}")).stdout).toBe("ab c\n");
  });

  it("shows no absurd figure, whatever number a payload or the stored figures have", async () => {
    const numbers = [-1, -0, 1e-320, 0.004, 1e21, 1e308, -1e308, 4.2e12, 2 ** 53, "7", true, null, [], {}, [9]];
    const texts = [
      "\ud83d\ude00".repeat(150),
      "\u202eabc\u2066",
      "\u200b",
      " \n\t ",
      "a".repeat(5_000),
      "%s{context}|x",
    ];
    const shown: string[] = [];
    const template = ["--template", `${DEFAULT_TEMPLATE}|{tokens}|{name}|{folder}|{tool}`];
    for (const n of numbers)
      for (const at of [NOW.getTime() / 1000 + 600, n]) {
        const limit = { used_percentage: n, resets_at: at };
        const input = {
          model: n,
          session_id: n,
          context_window: { used_percentage: n, current_context_used_percentage: n },
          cost: { total_cost_usd: n },
          rate_limits: { five_hour: limit, seven_day: limit, __proto__: limit },
        };
        shown.push((await statusline(JSON.stringify(input), ...template)).stdout);
      }
    for (const text of texts) {
      const input = {
        model: { display_name: text },
        session_name: text,
        session_id: text,
        workspace: { current_dir: text },
      };
      shown.push((await statusline(JSON.stringify(input), ...template)).stdout);
    }
    shown.push(
      (await statusline("[".repeat(500_000))).stdout,
      (await statusline(`{"a":${"[".repeat(200_000)}${"]".repeat(200_000)}}`)).stdout,
    );
    const day = "2026-11-24";
    for (const n of numbers) {
      const sum = { tokens: n, microdollars: n };
      const windows = [{ tool: "claude-code", start: NOW.toISOString(), end: "2026-11-24T03:00:00Z", ...sum }];
      const figures = {
        at: NOW.toISOString(),
        day,
        today: sum,
        session: sum,
        budget: { period: "day", share: n },
        windows,
      };
      await write(".local/share/sessarc/files/statusline/state.json", JSON.stringify(figures));
      shown.push((await statusline("{}", ...template)).stdout);
    }
    for (const line of shown) {
      expect(line).toMatch(/^[^\n]{0,1400}\n$|^$/);
      expect(line).not.toMatch(/NaN|Infinity|undefined|null|\[object|e[+-]?\d\d|\$-|-\d|\d{7}|Invalid/);
      // Half of a character would be printed as another one.
      expect(line.isWellFormed()).toBe(true);
      expect(printable(line)).toBe(line);
    }
  });

  it("colours by the terminal's own palette, and says the same without", async () => {
    const input = readInput(await fixture("claude-2.1.330-subscriber.json"));
    if (!input) throw new Error("the fixture is no status line");
    const full = { ...input, context: 93, limits: input.limits.map((one) => ({ ...one, usedPercent: 75 })) };
    const draw = (colour: boolean) =>
      toLine(full, undefined, { template: DEFAULT_TEMPLATE, style: createStyle(colour), now: NOW.getTime() });
    expect(draw(true)).toContain("\u001b[31m93 %\u001b[39m");
    expect(draw(true)).toContain("\u001b[33m75 %\u001b[39m");
    expect(stripVTControlCharacters(draw(true))).toBe(draw(false));
  });
});

describe("its place in an assistant's settings", () => {
  let t: TestKernel;
  beforeEach(async () => {
    t = await createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });
  });
  const install = (body: object) => t.send<StatuslineInstalled>("POST", "/api/statusline/install", body);
  const uninstall = async (tool = "claude-code") =>
    (await t.send<StatuslineRemoved>("DELETE", `/api/statusline/install?tool=${tool}`)).body;
  const settings = () => readFile(join(home, ".claude/settings.json"), "utf8");

  it.each([
    ["comments and odd spaces", '{\r\n  // mine\r\n  "model": "opus" ,\r\n "env":{}\r\n}'],
    ["a byte order mark", '\ufeff{"a": 1}\n'],
    ["nothing", "\n"],
  ])("comes and goes byte for byte: %s", async (_, text) => {
    await write(".claude/settings.json", text);
    const { status, body } = await install({ tool: "claude-code" });
    expect({ status, installed: body.installed }).toEqual({ status: 200, installed: true });
    expect(body.command).toContain("statusline --tool claude-code --data-dir");
    expect(await settings()).toContain('"statusLine"');
    expect(await readFile(body.backupPath ?? "", "utf8")).toBe(text);
    expect((await install({ tool: "claude-code", template: "{model}" })).status).toBe(200);
    expect(await uninstall()).toMatchObject({ removed: true, restored: true });
    expect(await settings()).toBe(text);
    expect(await uninstall()).toMatchObject({ removed: false, restored: false });
  });

  it("removes the file and folder that it made", async () => {
    await install({ tool: "copilot" });
    expect(existsSync(join(home, ".copilot/settings.json"))).toBe(true);
    expect(await uninstall("copilot")).toMatchObject({ removed: true, restored: true });
    expect(existsSync(join(home, ".copilot"))).toBe(false);
  });

  it("takes only its own entry out of settings that went on", async () => {
    await write(".claude/settings.json", '{ "a": 1 }\n');
    await install({ tool: "claude-code" });
    const later = (await settings()).replace('"a": 1', '"a": 2');
    await write(".claude/settings.json", later);
    expect(await uninstall()).toMatchObject({ removed: true, restored: false });
    expect(JSON.parse(await settings())).toEqual({ a: 2 });
  });

  it("replaces another status line only when asked, and puts it back", async () => {
    const text = '{ "statusLine": { "type": "command", "command": "mine" }, "a": 1 }\n';
    await write(".claude/settings.json", text);
    expect(await install({ tool: "claude-code" })).toMatchObject({
      status: 409,
      body: { code: "STATUSLINE_TAKEN" },
    });
    expect(await settings()).toBe(text);
    await install({ tool: "claude-code", replace: true });
    await write(".claude/settings.json", (await settings()).replace('"a": 1', '"a": 2'));
    await uninstall();
    expect(JSON.parse(await settings())).toEqual({ statusLine: { type: "command", command: "mine" }, a: 2 });
  });

  it("an adapter of another package declares its line, and where its JSON has the figures", async () => {
    const own = defineAdapter(() => ({
      name: "echo-2",
      label: "Echo CLI",
      roots: () => [],
      async *scan() {},
      parse: () => ({ row: () => undefined, finish: () => createLedger().summary() }),
      statusline: {
        settings: (env) => join(env.home, ".echo/config.toml"),
        syntax: "toml",
        path: ["ui", "status"],
        entry: (run) => ({ run }),
        fields: { model: "llm.name", context: "llm.full" },
      },
    }));
    await t.close();
    t = await createTestKernel({ home, plugins: [...defaultPlugins(), own()], config: { sync: false } });
    const before = "# mine\n[ui]\ndark = true\n";
    const file = await write(".echo/config.toml", before);
    const { body } = await install({ tool: "echo-2" });
    expect(body).toMatchObject({ label: "Echo CLI", settingsPath: file, installed: true });
    expect(await readFile(file, "utf8")).toContain("dark = true");
    expect(await readFile(file, "utf8")).toContain("[ui.status]");
    const [, , , ...args] = body.command.split(" ");
    const shown = await statusline('{"llm":{"name":"e1","full":12},"model":"other"}', ...args);
    expect(shown.stdout).toBe("e1 · 12 % context\n");
    await write(".echo/config.toml", (await readFile(file, "utf8")).replace("true", "false"));
    expect(await uninstall("echo-2")).toMatchObject({ removed: true, restored: false });
    expect((await readFile(file, "utf8")).trim()).toBe(before.replace("true", "false").trim());
    expect(await install({ tool: "echo-2" })).toMatchObject({ status: 200 });
    // The plugin is gone; its line can still be taken out.
    await t.close();
    t = await createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });
    expect(await uninstall("echo-2")).toMatchObject({ removed: true, restored: true });
  });

  it("takes the assistant that the session is of, where the command does not name it", async () => {
    await write(
      `.claude/projects/-w-lamp/${SESSION}.jsonl`,
      `${JSON.stringify(reply("2026-11-24T01:10:00.000Z", 1, 10))}\n`,
    );
    await t.send("POST", "/api/import", { all: true });
    const ask = async (body: object) => (await t.send<{ tool: string }>("POST", "/api/statusline", body)).body.tool;
    expect(await ask({ session: SESSION })).toBe("claude-code");
    expect(await ask({ tool: "copilot", session: SESSION })).toBe("copilot");
  });

  it("leaves unreadable settings alone, and says which assistants have no such line", async () => {
    await write(".claude/settings.json", "{ not json");
    expect(await install({ tool: "claude-code" })).toMatchObject({ body: { code: "SETTINGS_UNUSABLE" } });
    expect(await settings()).toBe("{ not json");
    const status = await t.json<StatuslineStatus[]>("/api/statusline");
    expect(status.map(({ tool, problem }) => [tool, problem === null])).toEqual([
      ["claude-code", false],
      ["copilot", true],
    ]);
    for (const tool of ["codex", "gemini-cli"])
      expect(await install({ tool })).toMatchObject({
        status: 422,
        body: { code: "STATUSLINE_TOOL_UNKNOWN" },
      });
    expect(await install({ tool: "copilt" })).toMatchObject({
      status: 400,
      body: { message: "No assistant is named copilt; did you mean copilot?" },
    });
  });
});
