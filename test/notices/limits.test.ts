/** Limits of providers that come near: the pace of today by a fixed clock, where it is shown, and what it costs an import. */
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultPlugins } from "sessarc/plugins";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LimitNotice } from "../../plugins/notices/index.ts";
import { makeTempDir, serveTest } from "../_setup.ts";
import { runCommand, serveHere } from "../command.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { codexPath, codexRows, writeLog } from "../rescue/_logs.ts";

/** On the clock of this machine, as the pace of a day is. */
const on = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute);
const isUnix = process.platform === "linux";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: on(24, 10) });
});
afterEach(() => {
  vi.useRealTimers();
});

type Ask = (path: string, init: RequestInit) => Promise<Response>;
const report = (ask: Ask, usedPercent: number, resetsAt: Date, minutes = 300, tool = "claude-code") =>
  ask("/api/statusline", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ tool, limits: [{ minutes, usedPercent, resetsAt: resetsAt.toISOString() }] }),
  });

describe("the pace of today", () => {
  let t: TestKernel;
  beforeEach(async () => {
    t = await createTestKernel({ plugins: defaultPlugins(), config: { sync: false } });
  });
  const limits = () => t.json<LimitNotice[]>("/api/limits");
  const at = async (time: Date, usedPercent: number, resetsAt: Date, minutes = 300) => {
    vi.setSystemTime(time);
    await report(t.fetch, usedPercent, resetsAt, minutes);
    return limits();
  };

  it.each([
    // Two hours of five took 50 %: two more.
    [50, on(24, 13)],
    // Half of what the window allows until now.
    [20, undefined],
    // Exactly as much as the window allows.
    [40, undefined],
    [100, undefined],
  ])("after two of five hours with %i %% used", async (used, runsOut) => {
    const [near] = await at(on(24, 11), used, on(24, 14));
    expect(near?.runsOutAt ?? undefined).toBe(runsOut?.toISOString());
    if (runsOut)
      expect(near?.text).toBe("Claude Code: 50 % of the 5-hour limit used, runs out at 13:00; resets at 14:00");
  });

  it("needs half an hour", async () => {
    expect(await at(on(24, 9, 29), 25, on(24, 14))).toEqual([]);
    expect(await at(on(24, 9, 30), 25, on(24, 14))).toHaveLength(1);
  });

  it("of a week is that since midnight, from what was used before", async () => {
    const resets = on(27, 9);
    await at(on(23, 22), 40, resets, 10_080);
    // 6 % in 12 hours: 54 % last longer than three days.
    expect(await at(on(24, 12), 46, resets, 10_080)).toEqual([]);
    const [near] = await at(on(24, 16), 60, resets, 10_080);
    // 20 % in 16 hours.
    expect(near?.runsOutAt).toBe(on(26, 0).toISOString());
    expect(near?.text).toContain(
      "60 % of the 7-day limit used, runs out at 2026-11-26 00:00; resets at 2026-11-27 09:00",
    );
  });

  it("is nothing any more when its time has passed, and when the window has reset", async () => {
    expect(await at(on(24, 11), 50, on(24, 14))).toHaveLength(1);
    vi.setSystemTime(on(24, 13, 30));
    expect(await limits()).toEqual([]);
    await at(on(24, 13, 40), 90, on(24, 14));
    expect(await limits()).toHaveLength(1);
    vi.setSystemTime(on(24, 14, 1));
    expect(await limits()).toEqual([]);
  });

  it("one switch turns all of it off", async () => {
    await at(on(24, 11), 90, on(24, 14));
    expect((await t.json<{ limits?: string[] }>("/api/status")).limits).toHaveLength(1);
    expect((await t.send("PATCH", "/api/settings", { "notices.limits": "off" })).status).toBe(200);
    expect(await limits()).toEqual([]);
    expect(await t.json("/api/status")).not.toHaveProperty("limits");
    expect(await (await report(t.fetch, 91, on(24, 14))).json()).toMatchObject({ limits: [] });
  });
});

it("the status line shows when a limit runs out, whatever its template names", async () => {
  vi.setSystemTime(on(24, 11));
  const home = await makeTempDir();
  const service = await serveHere(["--no-import"], home, { TZ: process.env.TZ ?? "" });
  const input = JSON.stringify({
    session_id: "s1",
    model: { id: "m" },
    rate_limits: { five_hour: { used_percentage: 50, resets_at: on(24, 14).getTime() / 1000 } },
  });
  const line = async (template: string) =>
    (await runCommand(["statusline", "--template", template], home, { NO_COLOR: "1" }, undefined, input)).stdout;
  // On a busy machine the line goes out before the service has answered.
  await expect.poll(() => line("{limits}")).toBe("5h 50 % until 14:00, out at 13:00\n");
  await expect.poll(() => line("{model}")).toBe("m · limit 5h 50 % until 14:00, out at 13:00\n");
  expect((await runCommand(["status"], home)).stdout).toContain(
    "limit     Claude Code: 50 % of the 5-hour limit used, runs out at 13:00; resets at 14:00",
  );
  vi.setSystemTime(on(24, 13, 1));
  expect(await line("{model}")).toBe("m\n");
  await service.stop();
});

it.skipIf(!isUnix)("a notification is shown once for each crossing of each window, restarts included", async () => {
  const home = await makeTempDir();
  const [bin, log] = [join(home, "bin"), join(home, "shown")];
  await mkdir(bin);
  await writeFile(join(bin, "notify-send"), `#!/bin/sh\nprintf '%s\\n' "$4" >> '${log}'\n`);
  await chmod(join(bin, "notify-send"), 0o755);
  const shown = async () => (await readFile(log, "utf8").catch(() => "")).split("\n").filter(Boolean);
  /** Closing waits for what is being checked. */
  const during = async (work: (say: (used: number, resets: Date, tool?: string) => Promise<void>) => Promise<void>) => {
    const served = await serveTest({ home, plugins: defaultPlugins(), flags: { sync: false } });
    Object.assign(served.kernel.env.env, { DISPLAY: ":0", PATH: `${bin}:/usr/bin:/bin` });
    let ran = 0;
    served.kernel.hooks.hook("notice:shown", () => void ran++);
    await work(async (used, resets, tool) => {
      await report(served.kernel.fetch, used, resets, 300, tool);
    });
    // Programs that were started are not ended by the close.
    await expect.poll(() => ran).toBeGreaterThan(0);
    await served.close();
  };
  vi.setSystemTime(on(24, 11));
  await during(async (say) => {
    await say(50, on(24, 14)); // its pace
    await expect.poll(shown).toHaveLength(1);
    await say(55, on(24, 14));
    await say(82, on(24, 14)); // 80 %
    await expect.poll(shown).toHaveLength(2);
    await say(95, on(24, 14));
    await say(81, on(24, 14), "codex"); // both at once
    await expect.poll(shown).toHaveLength(3);
  });
  await during(async (say) => {
    await say(97, on(24, 14));
    vi.setSystemTime(on(24, 18, 50));
    await say(85, on(24, 19)); // the next window
    await expect.poll(shown).toHaveLength(4);
  });
  expect((await shown()).map((text) => text.replace(/:.*? (\d+) %.*/, " $1"))).toEqual([
    "Claude Code 50",
    "Claude Code 82",
    "Codex CLI 81",
    "Claude Code 85",
  ]);
});

describe("what it costs an import", () => {
  const SESSIONS = 24;
  const toLimits = (resetsAt: Date) => ({
    rate_limits: { primary: { used_percent: 10, window_minutes: 300, resets_at: resetsAt.getTime() / 1000 } },
  });

  /** Statements of the notices while Codex's sessions are imported, each with a reading. */
  async function statements(resetsAt: Date): Promise<number> {
    vi.setSystemTime(on(24, 11));
    const home = await makeTempDir();
    for (let n = 0; n < SESSIONS; n++) {
      const key = `0199aaaa-0000-7000-8000-${String(n).padStart(12, "0")}`;
      const rows = codexRows({ key, cwd: "/w/app", turns: 1 });
      const timestamp = on(24, 10, 50).toISOString();
      const count = {
        timestamp,
        type: "event_msg",
        payload: { type: "token_count", info: null, ...toLimits(resetsAt) },
      };
      await writeLog(codexPath(home, { key }), [...rows, count]);
    }
    const served = await serveTest({ home, plugins: defaultPlugins(), flags: { sync: false } });
    const { db } = served.kernel.storage;
    const asked: string[] = [];
    for (const name of ["all", "get", "batch"] as const) {
      const plain = db[name].bind(db) as (...args: unknown[]) => unknown;
      vi.spyOn(db, name).mockImplementation(((...args: unknown[]) => {
        asked.push(JSON.stringify(args[0]));
        return plain(...args);
      }) as never);
    }
    const body = JSON.stringify({ all: true });
    const headers = { "content-type": "application/json" };
    const done = await served.kernel.fetch("/api/import", { method: "POST", headers, body });
    expect(await done.json()).toMatchObject({ failed: [] });
    await served.close();
    expect(asked.filter((sql) => sql.includes("insert into usage_limit"))).toHaveLength(SESSIONS);
    return asked.filter((sql) => /limit_notice|from usage_limit where resets/.test(sql)).length;
  }

  it("is nothing for windows that are over, and one read at most a session with a running one", async () => {
    expect(await statements(on(23, 14))).toBe(0);
    const running = await statements(on(24, 14));
    expect(running).toBeGreaterThan(0);
    expect(running).toBeLessThanOrEqual(SESSIONS);
  });
});
