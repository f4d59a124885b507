/** An answer that is kept says what the archive says, whatever changes beside the figures or while they are asked for. */
import { mkdirSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import { createTestKernel } from "../kernel.ts";

const key = "aaaaaaaa-0000-4000-8000-000000000000";

it("a log that was moved, a project renamed while a report is asked for, a session whose file cannot be removed", async () => {
  const t = await createTestKernel({ plugins: defaultPlugins(), config: { sync: false } });
  const pathIn = (folder: string) => join(t.home, ".claude/projects", folder, `${key}.jsonl`);
  mkdirSync(dirname(pathIn("-w-app")), { recursive: true });
  const message = { role: "user", content: "Hello" };
  const row = { type: "user", uuid: "u", timestamp: "2026-10-01T10:00:00.000Z", cwd: "/w/app", message };
  writeFileSync(pathIn("-w-app"), `${JSON.stringify(row)}\n`);
  utimesSync(pathIn("-w-app"), 1_700_000_000, 1_700_000_000);
  await t.send("POST", "/api/import", { all: true });
  const [project] = await t.json<{ id: string }[]>("/api/projects");
  const at = `/api/projects/${project?.id}`;

  const paths = async () =>
    (await t.json<{ sessions: { source: { path: string } }[] }>(at)).sessions.map(({ source }) => source.path);
  expect(await paths()).toEqual([pathIn("-w-app")]);
  mkdirSync(dirname(pathIn("-w-lib")));
  renameSync(pathIn("-w-app"), pathIn("-w-lib"));
  await t.send("POST", "/api/sync?wait=1");
  expect(await paths()).toEqual([pathIn("-w-lib")]);

  const { store } = t.kernel.inject("archive/open");
  const labels = async () =>
    (await t.json<{ rows: { label: string }[] }>("/api/usage?by=project")).rows.map(({ label }) => label);
  const { projects } = store;
  store.projects = async () => {
    const before = await projects();
    store.projects = projects;
    await t.send("PATCH", at, { name: "renamed" });
    return before;
  };
  await labels();
  expect(await labels()).toEqual(["renamed"]);

  const listed = async () => (await t.json<{ total: number }>("/api/sessions?q=Hello")).total;
  expect(await listed()).toBe(1);
  const { transcripts } = t.kernel.storage;
  const { remove } = transcripts;
  transcripts.remove = () => Promise.reject(new Error("busy"));
  expect(await t.send("DELETE", `/api/sessions/claude-code:${key}`)).toMatchObject({ status: 500 });
  transcripts.remove = remove;
  t.errors.length = 0;
  expect([await listed(), await t.json("/api/projects")]).toEqual([0, []]);
});
