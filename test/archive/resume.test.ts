/** The command that goes on with a session: in the tool's own words, and never anything a log put into it. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Adapter, AdapterPlugin } from "sessarc/adapter";
import { describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

const KEY = "aaaaaaaa-0000-4000-8000-000000000001";
async function imported(t: TestKernel, key: string, cwd: string): Promise<string> {
  const path = join(t.home, ".claude/projects/-w-app", `${key}.jsonl`);
  await mkdir(dirname(path), { recursive: true });
  const message = { role: "user", content: "hello" };
  const row = { type: "user", uuid: "u1", cwd, timestamp: "2026-11-01T10:00:00.000Z", message };
  await writeFile(path, `${JSON.stringify(row)}\n`);
  await t.send("POST", "/api/import", { all: true });
  return path;
}
const readResume = async (t: TestKernel, key: string) =>
  (await t.json<{ resume: { command: string } | null }>(`/api/sessions/${encodeURIComponent(`claude-code:${key}`)}`))
    .resume;

const toPlugin = (adapter: Adapter): AdapterPlugin => ({ name: "adapter:claude-code", adapter });

describe.skipIf(process.platform === "win32")("resuming a session", () => {
  it("goes to its folder and resumes it there; without its log there is nothing to resume", async () => {
    const t = await createTestKernel({ plugins: [archive(), claude()] });
    const path = await imported(t, KEY, "/w/it's here");
    expect(await readResume(t, KEY)).toMatchObject({
      command: `cd '/w/it'\\''s here' && claude --resume ${KEY}`,
      folderGone: true,
    });
    await rm(path);
    await t.send("POST", "/api/import", { all: true });
    expect(await readResume(t, KEY)).toBeNull();
  });

  it.each(["a;rm -rf x", "$(id)", "-rf", "a b"])("a log named %j gives no command", async (key) => {
    const { adapter } = claude();
    const renamed: Adapter = {
      ...adapter,
      async *scan(root, env) {
        for await (const ref of adapter.scan(root, env)) yield { ...ref, key };
      },
    };
    const t = await createTestKernel({ plugins: [archive(), toPlugin(renamed)] });
    await imported(t, KEY, "/w/app");
    expect((await t.json<{ sessions: object[] }>("/api/sessions")).sessions).toHaveLength(1);
    expect(await readResume(t, key)).toBeNull();
  });

  it("says whether the folder is there", async () => {
    const t = await createTestKernel({ plugins: [archive(), claude()] });
    await imported(t, KEY, t.home);
    expect(await readResume(t, KEY)).toMatchObject({ cwd: t.home, folderGone: false });
  });

  it("a folder with a line end is not gone to", async () => {
    const t = await createTestKernel({ plugins: [archive(), claude()] });
    await imported(t, KEY, "/w/app\nrm -rf x");
    expect(await readResume(t, KEY)).toMatchObject({ command: `claude --resume ${KEY}` });
  });
});
