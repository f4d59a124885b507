/** A data directory that may not be written can be read. */
import { execFile } from "node:child_process";
import { appendFileSync, chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import insights from "../../plugins/insights/index.ts";
import live from "../../plugins/live/index.ts";
import security from "../../plugins/security/index.ts";
import share from "../../plugins/share/index.ts";
import skills from "../../plugins/skills/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel } from "../kernel.ts";
import { childScript } from "../scripts.ts";

const isRoot = process.getuid?.() === 0;
const log = ".claude/projects/-w-app/aaaaaaaa-0000-4000-8000-000000000001.jsonl";
/** Its price is learned when it is asked for. */
const reply = `${JSON.stringify({ type: "assistant", uuid: "a1", timestamp: "2026-01-01T00:00:01Z", requestId: "r1", message: { id: "m1", role: "assistant", model: "claude-sonnet-4-5", content: [{ type: "text", text: "yes" }], usage: { input_tokens: 10, output_tokens: 5 } } })}\n`;
const row = (text: string) =>
  `${JSON.stringify({ type: "user", uuid: text, timestamp: "2026-01-01T00:00:00Z", message: { role: "user", content: text } })}\n`;

it.skipIf(process.platform === "win32")("is read, says so, and refuses what would write", async () => {
  const home = await makeTempDir();
  mkdirSync(dirname(join(home, log)), { recursive: true });
  writeFileSync(join(home, log), row("needle") + reply);
  const plugins = [archive(), claude(), insights(), live(), security(), share(), skills()];
  const t = await createTestKernel({ home, plugins });
  await t.send("POST", "/api/import", { all: true });
  await t.close();
  appendFileSync(join(home, log), row("later"));
  const dataDir = join(home, "data");
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
  for (const path of ["/sessions", "/usage", "/insights", "/shares", "/doctor"])
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
});
