/** A file that calls name relative to the session's folder, and absolute, is one file. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { defaultPlugins, type ProjectAnalytics } from "../../plugins/index.ts";
import { placedIn } from "../../plugins/insights/figures/paths.ts";
import { createTestKernel } from "../kernel.ts";

const ID = "0199a000-0000-7000-8000-00000000000a";

it("figures of a session and of its project count it once", async () => {
  const t = await createTestKernel({ plugins: defaultPlugins() });
  const cwd = join(t.home, "app");
  await mkdir(cwd);
  const row = (type: string, payload: object) =>
    `${JSON.stringify({ timestamp: "2026-11-20T10:00:00.000Z", type, payload })}\n`;
  const patch = (n: number, file: string) =>
    row("response_item", {
      type: "custom_tool_call",
      call_id: `c${n}`,
      name: "apply_patch",
      input: `*** Begin Patch\n*** Update File: ${file}\n@@\n-a\n+b\n*** End Patch`,
    });
  const log = join(t.home, `.codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-${ID}.jsonl`);
  await mkdir(dirname(log), { recursive: true });
  await writeFile(
    log,
    row("session_meta", { id: ID, timestamp: "2026-11-20T10:00:00.000Z", cwd, cli_version: "0.169.0" }) +
      patch(1, "notes.txt") +
      patch(2, join(cwd, "notes.txt")),
  );
  await t.send("POST", "/api/import", { all: true });
  const file = { path: join(cwd, "notes.txt"), reads: 0, edits: 2 };
  const figures = await t.json<{ files: object[] }>(`/api/sessions/codex:${ID}/figures`);
  expect(figures.files).toEqual([file]);
  const [project] = await t.json<{ id: string }[]>("/api/projects?git=0");
  const analytics = await t.json<ProjectAnalytics>(`/api/projects/${project?.id}`);
  // One session, however it named the file; its last row says when.
  expect(analytics.files).toEqual([{ ...file, sessions: 1, lastAt: "2026-11-20T10:00:00.000Z" }]);
});

it.each([
  ["notes.txt", "/w/app", "/w/app/notes.txt"],
  ["./src/../notes.txt", "/w/app", "/w/app/notes.txt"],
  ["/w/app/notes.txt", "/w/app", "/w/app/notes.txt"],
  ["~/notes.txt", "/w/app", "~/notes.txt"],
  ["src/a.ts", "C:\\w\\app", "C:\\w\\app\\src\\a.ts"],
  ["C:\\w\\a.ts", "/w/app", "C:\\w\\a.ts"],
  ["notes.txt", null, "notes.txt"],
])("%s in %s is %s", (path, cwd, expected) => expect(placedIn(path, cwd)).toBe(expected));
