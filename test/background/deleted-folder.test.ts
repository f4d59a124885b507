/** The folder that a service was started in is deleted while it runs: a worktree that was removed. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { builtPackage, runCli, startService } from "../built.ts";
import { claudeTurn } from "../claude-turn.ts";

beforeAll(builtPackage);

it("workers, git and imports go on, and commands still find it", async () => {
  const home = await makeTempDir();
  const folder = await makeTempDir();
  const service = await startService(["--no-import"], home, {}, ["serve"], folder);
  onTestFinished(() => service.stop().then(() => {}));
  await rm(folder, { recursive: true });
  const log = join(home, ".claude/projects/-w-app/one.jsonl");
  await mkdir(dirname(log), { recursive: true });
  const rows = claudeTurn(1).map((row) => `${JSON.stringify(row)}\n`);
  await writeFile(log, rows.join(""));
  // The catalogue is checked in a worker.
  const { checks } = (await (await fetch(new URL("/api/doctor", service.url))).json()) as {
    checks: { name: string; status: string; detail: string }[];
  };
  expect(checks.filter(({ status }) => status !== "ok" && status !== "info")).toEqual([]);
  const { stdout, code } = await runCli(["import", "--json"], home);
  expect([code, stdout]).toEqual([0, expect.stringContaining('"failed":[]')]);
  expect(JSON.parse((await runCli(["sessions", "--json"], home)).stdout)).toMatchObject({ total: 1 });
});
