/** Who waits, and limits that come near. */
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { defaultPlugins } from "sessarc/plugins";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { LimitNotice, WaitingEntry } from "../../plugins/notices/index.ts";
import { makeTempDir, serveTest } from "../_setup.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

const SESSION = "0c1b2a3d-1111-4222-8333-444455556666";

const start = (options: { home?: string } = {}) =>
  createTestKernel({ plugins: defaultPlugins(), config: { sync: false }, ...options });
const waiting = (t: TestKernel) => t.json<WaitingEntry[]>("/api/waiting");
const report = (t: TestKernel, event: string, session = "s1") =>
  t.send("POST", "/api/waiting", { tool: "claude-code", session, event });

const row = (at: string, uuid: string, type: "user" | "assistant") =>
  JSON.stringify({
    ...{ type, uuid, parentUuid: null, sessionId: SESSION, cwd: "/srv/app", timestamp: at, version: "2.1.0" },
    message: { role: type, content: [{ type: "text", text: `text of ${uuid}` }] },
  });

async function writeLog(home: string, ...rows: string[]): Promise<void> {
  const path = join(home, ".claude/projects/-srv-app", `${SESSION}.jsonl`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${rows.join("\n")}\n`);
}

describe("who waits", () => {
  it("lists a session from the report until its end, the longest first", async () => {
    const t = await start();
    await report(t, "permission");
    await report(t, "answer", "s2");
    await report(t, "permission");
    expect((await waiting(t)).map(({ id, kind, text }) => [id, kind, text])).toEqual([
      ["claude-code:s1", "permission", "Claude Code waits for a permission"],
      ["claude-code:s2", "answer", "Claude Code waits for an answer"],
    ]);
    const status = await t.json<{ waiting?: unknown[] }>("/api/status");
    expect(status.waiting).toHaveLength(2);
    await report(t, "ended");
    expect((await waiting(t)).map(({ id }) => id)).toEqual(["claude-code:s2"]);
    expect((await report(t, "sleeps")).status).toBe(400);
    expect((await t.send("POST", "/api/waiting", { tool: "../x", session: "s", event: "ended" })).status).toBe(400);
  });

  it("leaves out the end of a turn that is reported while the session ends", async () => {
    const t = await start();
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-24T10:00:00Z") });
    onTestFinished(() => void vi.useRealTimers());
    await report(t, "ended");
    await report(t, "answer");
    await report(t, "answer", "s2");
    expect((await waiting(t)).map(({ id }) => id)).toEqual(["claude-code:s2"]);
    // It is resumed.
    vi.setSystemTime(new Date("2026-11-24T10:00:11Z"));
    await report(t, "answer");
    expect(await waiting(t)).toHaveLength(2);
    // A day's work later neither assistant runs any more.
    vi.setSystemTime(new Date("2026-11-24T19:00:00Z"));
    expect(await waiting(t)).toEqual([]);
  });

  it("ends an entry when the log has a newer message, and not for the messages before", async () => {
    const t = await start();
    const old = row("2026-11-20T10:00:00.000Z", "a", "user");
    await writeLog(t.home, old);
    expect((await t.send("POST", "/api/import", { all: true })).body).toMatchObject({ failed: [] });
    await report(t, "permission", SESSION);
    const ask = row("2026-11-20T10:01:00.000Z", "b", "assistant");
    await writeLog(t.home, old, ask);
    await t.send("POST", "/api/import", { all: true });
    const { sessions } = await t.json<{ sessions: { id: string }[] }>("/api/sessions");
    expect(sessions.map(({ id }) => id)).toEqual([`claude-code:${SESSION}`]);
    expect(await waiting(t)).toMatchObject([{ id: `claude-code:${SESSION}` }]);
    await writeLog(t.home, old, ask, row(new Date(Date.now() + 1_000).toISOString(), "c", "user"));
    await t.send("POST", "/api/import", { all: true });
    expect(await waiting(t)).toEqual([]);
  });
});

describe("the hooks that report waiting", () => {
  const install = (t: TestKernel, tool: string, body: object = { waiting: true }) =>
    t.send<{ waiting: boolean; code?: string }>("POST", "/api/security/install-hook", { tool, ...body });

  it.each([
    ["claude-code", ".claude/settings.json", ["Notification", "Stop", "SessionEnd"]],
    ["gemini-cli", ".gemini/settings.json", ["Notification", "AfterAgent", "SessionEnd"]],
    ["qwen", ".qwen/settings.json", ["Notification", "Stop", "SessionEnd"]],
    ["droid", ".factory/settings.json", ["Notification", "Stop", "SessionEnd"]],
    ["grok", ".grok/hooks/sessarc.json", ["Notification", "Stop", "SessionEnd"]],
    ["codex", ".codex/hooks.json", ["PermissionRequest", "Stop"]],
  ])("of %s come with the guard and go byte for byte", async (tool, file, events) => {
    const t = await start();
    const before = '{\n  "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "mine" } ] } ] }\n}\n';
    await mkdir(dirname(join(t.home, file)), { recursive: true });
    await writeFile(join(t.home, file), before);
    const settings = () => readFile(join(t.home, file), "utf8");
    expect(await install(t, tool)).toMatchObject({ status: 200, body: { waiting: true } });
    const { hooks } = JSON.parse(await settings()) as { hooks: Record<string, unknown[]> };
    for (const event of events) expect(JSON.stringify(hooks[event])).toContain(`waiting.cjs' ${tool} `);
    expect(JSON.stringify(hooks.Stop)).toContain("mine");
    // Again, without a word about it: they stay.
    const text = await settings();
    expect(await install(t, tool, {})).toMatchObject({ body: { waiting: true } });
    expect(await settings()).toBe(text);
    const path = `/api/security/install-hook?tool=${tool}`;
    expect((await t.send("DELETE", path)).body).toMatchObject({ removed: true, restored: true });
    expect(await settings()).toBe(before);
  });

  it.each([
    ["cursor", ".cursor/hooks.json", '{ "version": 1, "hooks": { "stop": [{ "command": "mine" }] } }'],
    ["kimi", ".kimi-code/config.toml", 'model = "k" # mine\n\n[[hooks]]\nevent = "Stop"\ncommand = "mine"\n'],
    ["copilot", ".copilot/hooks/sessarc.json", undefined],
    ["opencode", ".config/opencode/plugin/sessarc.js", undefined],
    ["kilo", ".config/kilo/plugin/sessarc.js", undefined],
  ])("of %s are shown by a dry run, and go byte for byte", async (tool, file, before) => {
    const t = await start();
    const settings = () => readFile(join(t.home, file), "utf8").catch(() => undefined);
    await mkdir(dirname(join(t.home, file)), { recursive: true });
    if (before !== undefined) await writeFile(join(t.home, file), before);
    const dry = await install(t, tool, { waiting: true, dryRun: true });
    expect(dry.body).toMatchObject({ diff: expect.stringMatching(/^\+.*(?:waiting\.cjs|"api\/waiting")/m) });
    expect(await settings()).toBe(before);
    expect(await install(t, tool)).toMatchObject({ status: 200, body: { waiting: true } });
    const text = await settings();
    if (before !== undefined) expect(text).toContain("mine");
    expect(await install(t, tool)).toMatchObject({ status: 200, body: { waiting: true } });
    expect(await settings()).toBe(text);
    await install(t, tool, { waiting: false });
    expect(await settings()).not.toMatch(/waiting\.cjs|api\/waiting/);
    await install(t, tool);
    await t.send("DELETE", `/api/security/install-hook?tool=${tool}`);
    expect(await settings()).toBe(before);
  });

  it("go alone, and out of settings that went on", async () => {
    const t = await start();
    const file = join(t.home, ".claude/settings.json");
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, '{"a": 1}\n');
    await install(t, "claude-code", {});
    await install(t, "claude-code");
    expect(await readFile(file, "utf8")).toContain("waiting.cjs");
    expect(await install(t, "claude-code", { waiting: false })).toMatchObject({ body: { waiting: false } });
    expect(await readFile(file, "utf8")).not.toContain("waiting.cjs");
    await install(t, "claude-code");
    await writeFile(file, (await readFile(file, "utf8")).replace('"a": 1', '"a": 2'));
    await t.send("DELETE", "/api/security/install-hook?tool=claude-code");
    expect(JSON.parse(await readFile(file, "utf8"))).not.toHaveProperty("hooks.Notification");
    expect(await readFile(file, "utf8")).not.toContain("sessarc");
    expect(await install(t, "crush")).toMatchObject({ status: 422, body: { code: "GUARD_WAITING_UNKNOWN" } });
  });
});

describe("limits that come near", () => {
  const HOUR = 3_600_000;
  const reported = (t: TestKernel, usedPercent: number, resetsAt: number, minutes = 300) =>
    t.send("POST", "/api/statusline", {
      tool: "claude-code",
      limits: [{ minutes, usedPercent, resetsAt: new Date(resetsAt).toISOString() }],
    });
  const limits = (t: TestKernel) => t.json<LimitNotice[]>("/api/limits");

  it("are listed from 80 % on, by the provider's figure alone", async () => {
    const t = await start();
    const end = Date.now() + HOUR;
    await reported(t, 79, end);
    expect(await limits(t)).toEqual([]);
    await reported(t, 81, end);
    expect(await limits(t)).toMatchObject([{ tool: "claude-code", minutes: 300, usedPercent: 81 }]);
    expect((await t.json<{ limits?: string[] }>("/api/status")).limits).toEqual([
      expect.stringContaining("Claude Code: 81 % of the 5-hour limit used"),
    ]);
  });
});

describe("notifications of the system", () => {
  it.skipIf(process.platform === "win32" || process.platform === "darwin")(
    "run one program with the texts as arguments, once for one waiting, and none when switched off",
    async () => {
      const home = await makeTempDir();
      const [bin, log] = [join(home, "bin"), join(home, "shown")];
      await mkdir(bin);
      await writeFile(join(bin, "notify-send"), `#!/bin/sh\nprintf '%s\\n' "$@" >> '${log}'\n`);
      await chmod(join(bin, "notify-send"), 0o755);
      const served = await serveTest({ home, plugins: defaultPlugins(), flags: { sync: false } });
      const shown: string[] = [];
      const once = () =>
        new Promise<void>((resolve) => {
          const stop = served.kernel.hooks.hook("notice:shown", ({ text }) => {
            stop();
            shown.push(text);
            resolve();
          });
        });
      const { env } = served.kernel.env;
      const say = (event: string) =>
        served.kernel.fetch("/api/waiting", {
          method: "POST",
          body: JSON.stringify({ tool: "claude-code", session: "s1", event }),
        });
      // Without a display nothing is run.
      await say("answer");
      Object.assign(env, { DISPLAY: ":0", PATH: `${bin}:/usr/bin:/bin` });
      const first = once();
      await say("permission");
      await say("permission");
      await first;
      expect((await readFile(log, "utf8")).split("\n")).toEqual([
        "--app-name=sessarc",
        "--",
        "Claude Code waits for you",
        "Claude Code waits for a permission",
        "",
      ]);
      const near = once();
      const limit = { minutes: 300, usedPercent: 85, resetsAt: new Date(Date.now() + 3_600_000).toISOString() };
      for (let round = 0; round < 2; round++)
        await served.kernel.fetch("/api/statusline", {
          method: "POST",
          body: JSON.stringify({ tool: "codex", limits: [limit] }),
        });
      await near;
      expect(shown.at(-1)).toContain("Codex CLI: 85 % of the 5-hour limit used");
      expect((await readFile(log, "utf8")).match(/The 5-hour limit comes near/g)).toHaveLength(1);
    },
  );
});
