/** A data directory that may not be written can be read. */
import { execFile } from "node:child_process";
import { appendFileSync, chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import insights from "../../plugins/insights/index.ts";
import live from "../../plugins/live/index.ts";
import mcp from "../../plugins/mcp-hub/index.ts";
import security from "../../plugins/security/index.ts";
import share from "../../plugins/share/index.ts";
import skills from "../../plugins/skills/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { createTestKernel } from "../kernel.ts";
import { childScript } from "../scripts.ts";

const isRoot = process.getuid?.() === 0;
const log = ".claude/projects/-w-app/aaaaaaaa-0000-4000-8000-000000000001.jsonl";
/** Its price is learned when it is asked for. */
const reply = `${JSON.stringify({ type: "assistant", uuid: "a1", timestamp: "2026-01-01T00:00:01Z", requestId: "r1", message: { id: "m1", role: "assistant", model: "claude-sonnet-4-5", content: [{ type: "text", text: "yes" }], usage: { input_tokens: 10, output_tokens: 5 } } })}\n`;
const row = (text: string) =>
  `${JSON.stringify({ type: "user", uuid: text, timestamp: "2026-01-01T00:00:00Z", message: { role: "user", content: text } })}\n`;

const states = ["closed", "killed"] as const;

it.skipIf(process.platform === "win32").each(states)(
  "is read, reports it, and refuses what would write: %s",
  async (state) => {
    const home = await makeTempDir();
    mkdirSync(dirname(join(home, log)), { recursive: true });
    writeFileSync(join(home, log), row("needle") + reply);
    const plugins = [archive(), claude(), insights(), live(), mcp(), security(), share(), skills()];
    const t = await createTestKernel({ home, plugins });
    await t.send("POST", "/api/import", { all: true });
    const dataDir = join(home, state === "closed" ? "data" : "killed");
    if (state !== "closed") cpSync(join(home, "data"), dataDir, { recursive: true });
    await t.close();
    expect(existsSync(join(dataDir, "catalog.db-wal"))).toBe(state === "killed");
    appendFileSync(join(home, log), row("later"));
    const modes = (path: string, add: number): void => {
      for (const entry of readdirSync(path, { withFileTypes: true }))
        if (entry.isDirectory()) modes(join(path, entry.name), add);
        else chmodSync(join(path, entry.name), 0o444);
      chmodSync(path, 0o555 + add);
    };
    modes(dataDir, 0);
    chmodSync(home, 0o755);
    onTestFinished(() => modes(dataDir, 0o200));
    const script = await childScript("archive/read-only-child");
    const before = readdirSync(dataDir);
    const { stdout } = await promisify(execFile)(process.execPath, [...script, home, dataDir], {
      ...(isRoot && { uid: 65_534, gid: 65_534 }),
    });
    const { answers, lines } = JSON.parse(stdout) as { answers: Record<string, unknown>; lines: string[] };
    for (const path of ["/sessions", "/usage", "/insights", "/shares", "/doctor", "/mcp/scan", "/mcp/backups", "check"])
      expect([path, answers[path]]).toMatchObject([path, { status: 200 }]);
    expect(answers).toMatchObject({
      "/status": { body: { storage: { readOnly: true, sessions: 1 }, sync: { mode: "off" } } },
      "/search?q=needle": { body: { results: [{ matchCount: 1 }] } },
      messages: 200,
      import: { code: "STORAGE_READ_ONLY", status: 409 },
      rename: { code: "STORAGE_READ_ONLY", status: 409 },
    });
    expect(lines.filter((line) => /reading only/.test(line))).toHaveLength(1);
    expect(lines).toHaveLength(1);
    expect(readdirSync(dataDir)).toEqual(before);
  },
);

it("is an archive from its first write on: commands answer from one that was killed", async () => {
  const home = await makeTempDir();
  mkdirSync(dirname(join(home, log)), { recursive: true });
  writeFileSync(join(home, log), row("needle") + reply);
  const t = await createTestKernel({ home, plugins: [archive(), claude()] });
  await t.send("POST", "/api/import", { all: true });
  const dataDir = join(home, "killed");
  cpSync(join(home, "data"), dataDir, { recursive: true });
  await t.close();
  rmSync(join(home, log));
  const ask = async (command: string) => {
    const { stdout } = await runCommand([command, "--json", "--data-dir", dataDir], home);
    return JSON.parse(stdout) as unknown;
  };
  expect(await ask("doctor")).toMatchObject({
    checks: expect.arrayContaining([expect.objectContaining({ name: "transcripts", detail: "all of 1 can be read" })]),
  });
  expect(await ask("usage")).toMatchObject({ totals: { tokens: { input: 10, output: 5 } } });
});
