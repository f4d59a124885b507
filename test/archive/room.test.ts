/** The disk's free space is checked before each batch of an import (needs the right to mount). */
import { randomBytes } from "node:crypto";
import { statfsSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel } from "../kernel.ts";
import { claudePath, claudeRows, writeLog } from "../rescue/_logs.ts";
import { mountSmall } from "../small-disk.ts";

it("ends an import before the batch that would leave too little room, and goes on when there is some", async (context) => {
  const disk = await makeTempDir();
  const unmount = mountSmall(disk, "24m");
  if (!unmount) return context.skip();
  onTestFinished(unmount);
  const free = () => {
    const { bavail, bsize } = statfsSync(disk);
    return bavail * bsize;
  };
  const reserve = (24 * 2 ** 20) / 100;
  const [dataDir, ballast, home] = [join(disk, "data"), join(disk, "ballast"), await makeTempDir()];
  const t = await createTestKernel({ home, plugins: [archive(), claude()], config: { dataDir, sync: false } });
  const say = (n: number, turns: number) => {
    const said = { key: `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`, cwd: home, turns };
    // A ninth of it cannot be compressed away.
    const prose = () => randomBytes(500).toString("hex").repeat(9);
    const rows = claudeRows(said).map((row, at) =>
      at % 2 === 0 ? { ...row, message: { role: "user", content: prose() } } : row,
    );
    return writeLog(claudePath(home, said), rows);
  };
  const run = () => t.send<{ code?: string; message: string; imported?: number }>("POST", "/api/import", { all: true });
  await say(0, 1);
  expect((await run()).body.imported).toBe(1);
  for (let n = 1; n <= 60; n++) await say(n, 60);
  await writeFile(ballast, Buffer.alloc(free() - 2 ** 20));
  const refused = await run();
  expect(refused).toMatchObject({
    status: 507,
    body: { code: "STORAGE_FULL", fix: expect.stringContaining("Free space") },
  });
  expect(refused.body.message).toMatch(/MiB more needed\); \d+ sessions were done/);
  t.errors.length = 0;
  expect(free()).toBeGreaterThan(reserve);
  // What is there can be read, and nothing else was begun.
  const { sessions } = await t.json<{ sessions: { id: string }[] }>("/api/sessions?limit=100");
  for (const { id } of sessions) expect((await t.fetch(`/api/sessions/${id}/messages`)).status).toBe(200);
  const files = (await readdir(join(dataDir, "transcripts"), { recursive: true })).filter((name) => name.includes("."));
  expect(files.length).toBe(sessions.length);
  await rm(ballast);
  const { body } = await run();
  expect(body.imported).toBe(61 - sessions.length);
});
