/** Logs that their tools are about to delete: how many, and whether they are archived. */
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Adapter, AdapterPlugin } from "sessarc/adapter";
import { describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

const toId = (n: number) => `claude-code:${String(n).padStart(8, "0")}-0000-4000-8000-000000000000`;

/** A log last written `daysAgo`. */
async function log(home: string, n: number, daysAgo: number, text = "hello"): Promise<string> {
  const path = join(home, ".claude/projects/-x", `${toId(n).slice(12)}.jsonl`);
  const at = new Date(Date.now() - daysAgo * 86_400_000);
  const row = { type: "user", uuid: `u${n}`, timestamp: at.toISOString(), message: { role: "user", content: text } };
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(row)}\n`);
  await utimes(path, at, at);
  return path;
}

async function readStatus(t: TestKernel) {
  return (await t.json<{ retention: unknown[] }>("/api/status")).retention;
}
async function readDoctor({ kernel }: TestKernel) {
  const report = { checks: [], fix: false };
  await kernel.hooks.callHook("doctor:check", report);
  return report.checks.filter((check: { name: string }) => check.name.endsWith("retention"));
}

const toPlugin = (adapter: Adapter): AdapterPlugin => ({ name: "adapter:claude-code", adapter });

describe("retention", () => {
  it("counts logs due within a week, those archived as they are, and those that are not", async () => {
    const t = await createTestKernel({ plugins: [archive(), claude(), codex()] });
    await log(t.home, 1, 24);
    await log(t.home, 2, 29);
    await log(t.home, 3, 22);
    await log(t.home, 4, 26);
    expect(await readStatus(t)).toEqual([]);
    await t.json("/api/scan");
    const rule = { tool: "claude-code", days: 30, source: "default" };
    expect(await readStatus(t)).toEqual([{ ...rule, dueWithin7Days: 3, archived: 0, notArchived: 3 }]);
    await t.send("POST", "/api/import", { sessions: [toId(1), toId(2), toId(3)] });
    expect(await readStatus(t)).toEqual([{ ...rule, dueWithin7Days: 3, archived: 2, notArchived: 1 }]);
    expect(await readDoctor(t)).toMatchObject([
      {
        name: "claude-code retention",
        status: "warn",
        detail: expect.stringContaining("3 due within 7 days, 2 archived, 1 not"),
      },
    ]);
    // What was deleted from the archive on purpose is not missed, and what changed since is not archived.
    await t.send("DELETE", `/api/sessions/${toId(1)}`);
    await log(t.home, 2, 28, "another text");
    await t.json("/api/scan");
    expect(await readStatus(t)).toEqual([{ ...rule, dueWithin7Days: 2, archived: 0, notArchived: 2 }]);
    await t.send("POST", "/api/sync?wait=1");
    expect(await readStatus(t)).toEqual([{ ...rule, dueWithin7Days: 2, archived: 2, notArchived: 0 }]);
    expect(await readDoctor(t)).toMatchObject([{ status: "ok", detail: expect.stringContaining("all archived") }]);
  });

  it("takes the tool's own setting, and knows without a scan what is archived", async () => {
    const first = await createTestKernel({ plugins: [archive(), claude()] });
    const { home } = first;
    await log(home, 1, 50);
    await log(home, 2, 85);
    await writeFile(join(home, ".claude/settings.json"), '{ "cleanupPeriodDays": 90 }');
    await first.send("POST", "/api/import", { all: true });
    await first.kernel.close();
    const second = await createTestKernel({ home, plugins: [archive(), claude()] });
    expect(await readStatus(second)).toEqual([
      {
        tool: "claude-code",
        days: 90,
        source: join(home, ".claude/settings.json"),
        dueWithin7Days: 1,
        archived: 1,
        notArchived: 0,
      },
    ]);
  });

  it("lists no folder and asks the catalogue once for repeated looks", async () => {
    let scans = 0;
    let asked = 0;
    const counting: Adapter = {
      ...claude().adapter,
      retention: () => {
        asked++;
        return { days: 30, source: "test" };
      },
      async *scan(root, env) {
        scans++;
        yield* claude().adapter.scan(root, env);
      },
    };
    const t = await createTestKernel({ plugins: [archive(), toPlugin(counting)] });
    await log(t.home, 1, 25);
    await t.json("/api/scan");
    const before = scans;
    for (let i = 0; i < 5; i++) await readStatus(t);
    expect([scans - before, asked]).toEqual([0, 1]);
  });
});
