/** Assistants whose formats are known from public code: relatives of pi and Claude Code, and small adapters. */
import { cp, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import claudeCode from "../../plugins/claude-code/index.ts";
import pi from "../../plugins/pi/index.ts";
import { runCommand } from "../command.ts";
import { home, readAll, useHome } from "./_home.ts";

useHome("newcomers");

const fixtures = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

describe("assistants that write the log of another", () => {
  it.each([
    ["omo", ".omo/agent/sessions"],
    ["senpi", ".senpi/agent/sessions"],
    ["stepcode", ".stepcode/agent/sessions"],
    ["gjc", ".gjc/agent/sessions"],
    ["kimchi", ".config/kimchi/harness/sessions"],
  ] as const)("%s writes pi's", async (variant, folder) => {
    const path = join(home, folder, "--w--", "2026-07-20T09-00-00-000Z_01a05df9-5014-78b2-99f3-9fc132859761.jsonl");
    await mkdir(dirname(path), { recursive: true });
    const usage = { input: 50, output: 10, cacheRead: 30, cacheWrite: 20 };
    const rows = [
      { type: "session", id: "01a05df9-5014-78b2-99f3-9fc132859761", timestamp: "2026-07-20T09:00:00.000Z", cwd: "/w" },
      {
        type: "message",
        id: "a1",
        timestamp: "2026-07-20T09:00:01.000Z",
        message: { role: "assistant", model: "m", content: "one", usage },
      },
      { type: "of a later version" },
    ];
    await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const { adapter } = pi({ variant });
    const [one, ...others] = await readAll(adapter);
    expect(others).toEqual([]);
    expect(one?.ref).toMatchObject({ tool: variant, key: "01a05df9-5014-78b2-99f3-9fc132859761" });
    expect(one?.summary).toMatchObject({
      cwd: "/w",
      usage: { m: { input: 50, output: 10, cacheRead: 30, cacheWrite5m: 20, cacheWrite1h: 0 } },
      skipped: { unknown: { "of a later version": 1 } },
    });
    const doctor = await runCommand(["doctor"], home);
    expect(doctor.stdout).toContain(`1 sessions in ${join(home, folder)}; unproved`);
    expect((await readAll(pi({ variant, dir: home }).adapter)).map(({ ref }) => ref.key)).toEqual([one?.ref.key]);
  });

  it.each([
    ["cherry-studio", ".config/CherryStudio/Data/Agents/.claude"],
    ["cherry-studio", ".config/CherryStudio/.claude"],
    ["qoder", ".qoder"],
    ["qoderwork", ".qoderwork"],
  ] as const)("%s writes Claude Code's in %s", async (variant, folder) => {
    const own = await readAll(claudeCode({ dir: fixtures("claude-code") }).adapter);
    await cp(fixtures("claude-code"), join(home, folder), { recursive: true });
    const { adapter } = claudeCode({ variant });
    const all = await readAll(adapter);
    expect(all.map(({ events }) => events)).toEqual(own.map(({ events }) => events));
    expect(all.map(({ summary }) => summary.usage)).toEqual(own.map(({ summary }) => summary.usage));
    expect([adapter.unproved, all[0]?.ref.tool]).toEqual([true, variant]);
  });

  it("has the title that Qoder writes beside a log", async () => {
    await cp(fixtures("claude-code"), join(home, ".qoder"), { recursive: true });
    const [first] = await readAll(claudeCode({ variant: "qoder" }).adapter);
    if (!first) throw new Error("no session");
    await writeFile(first.ref.path.replace(/\.jsonl$/, "-session.json"), '{"title":"Sort the receipts"}');
    const [again] = await readAll(claudeCode({ variant: "qoder" }).adapter);
    expect(again?.summary.title).toBe("Sort the receipts");
  });
});
