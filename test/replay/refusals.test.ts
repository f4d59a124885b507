/** What is refused, and that a refusal changes nothing. */
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { PlanReport, Preview, ReplayOptions, StepReport } from "../../plugins/replay/index.ts";
import { makeTempDir } from "../_setup.ts";
import { type LoggedCall, replayKernel, toEcho, writeCommits, writeSession } from "./_replay.ts";

const TOOLS = { tools: { put: "write", edit: "edit", sh: "shell" } } as const;
const put = (path: string, content = "x"): LoggedCall => ({ name: "put", input: { path, content } });
type Refused = { code?: string; message?: string };

async function bench(calls: readonly LoggedCall[], options: ReplayOptions = {}, start: object = {}, home?: string) {
  const t = await replayKernel([toEcho("echo", TOOLS)], options, home);
  const root = join(t.home, "work/project");
  if (!existsSync(root))
    await writeCommits(root, [{ at: "2026-01-01T00:00:00Z", files: new Map([["a.txt", Buffer.from("one\n")]]) }]);
  const sessionId = await writeSession(t.home, "echo", "s", {
    cwd: root,
    startedAt: "2026-01-02T00:00:00.000Z",
    calls,
  });
  await t.send("POST", "/api/import", { all: true });
  const begin = (more: object = {}) =>
    t.send<{ path: string } & Refused>("POST", "/api/replay/start", { sessionId, ...start, ...more });
  const first = await begin();
  return {
    t,
    root,
    first,
    begin,
    step: (seq: number, more: object = {}) =>
      t.send<StepReport & Refused>("POST", "/api/replay/step", { sessionId, seq, ...more }),
    preview: (seq: number) => t.json<Preview>(`/api/replay/preview?sessionId=${sessionId}&seq=${seq}`),
    plan: () => t.json<PlanReport>(`/api/sessions/${sessionId}/replay-plan`),
  };
}

it("an edit that failed in the session is shown as failed and passed over", async () => {
  const failed: LoggedCall = {
    name: "edit",
    input: { path: "a.txt", old_string: "one", new_string: "two" },
    result: { text: "File has not been read yet", failed: true },
  };
  const { first, step, preview, plan } = await bench([failed, put("b.txt")]);
  const { steps, next } = await plan();
  expect(steps.map(({ due }) => due)).toEqual([false, true]);
  expect(next?.seq).toBe(3);
  expect(await preview(1)).toMatchObject({ applies: false, reason: expect.stringContaining("not been read") });
  expect((await step(1)).body).toMatchObject({
    state: "skipped",
    reason: "This edit failed in the original session too: File has not been read yet",
    changed: [],
    matchesRecording: true,
  });
  expect((await step(3)).body.state).toBe("done");
  expect(await readFile(join(first.body.path, "a.txt"), "utf8")).toBe("one\n");
});

it.each([
  ["below a file", "a.txt/b.txt"],
  ["with a name of 300 characters", "n".repeat(300)],
  ["in a folder with a name of 300 characters", `${"n".repeat(300)}/a`],
  ["with a path of 5,000 characters", "dir/".repeat(1_250)],
])("a file %s is 422, and the step can be left out", async (_, path) => {
  const { first, step, preview } = await bench([put(`${path}x`), put("fine.txt")]);
  expect(await preview(1)).toMatchObject({ applies: false });
  const { status, body } = await step(1);
  expect([status, body.code]).toEqual([422, "REPLAY_PATH_IMPOSSIBLE"]);
  expect((await step(1, { skip: true })).body.state).toBe("skipped");
  expect((await step(3)).body.state).toBe("done");
  expect((await readdir(first.body.path)).sort()).toEqual(["a.txt", "fine.txt"]);
});

it("unknown fields are refused, and a refused start resets nothing", async () => {
  const { t, first, begin, step, plan } = await bench([put("b.txt")]);
  await step(1);
  await writeFile(join(first.body.path, "left.txt"), "x");
  for (const more of [{ path: "/tmp" }, { allowUnisolated: "yes" }]) expect((await begin(more)).status).toBe(400);
  expect((await step(1, { confirm: true })).status).toBe(400);
  expect((await t.send("POST", "/api/replay/back", { sessionId: "echo:s", all: true })).status).toBe(400);
  expect((await readdir(first.body.path)).sort()).toEqual(["a.txt", "b.txt", "left.txt"]);
  expect((await plan()).steps[0]?.state).toBe("done");
});

it("a start that fails leaves the sandbox of before as it is", async () => {
  const home = await makeTempDir();
  const { t, first, step } = await bench([put("b.txt")], {}, {}, home);
  await step(1);
  await t.close();
  const small = await bench([put("b.txt")], { sandboxBytes: 3 }, {}, home);
  expect([small.first.status, small.first.body.code]).toEqual([422, "REPLAY_TOO_LARGE"]);
  expect((await readdir(first.body.path)).sort()).toEqual(["a.txt", "b.txt"]);
  expect((await small.plan()).steps[0]?.state).toBe("done");
  expect(await readdir(join(first.body.path, "../.."))).toHaveLength(1);
});

it("a sandbox holds no more than its quota: at the start, by edits, by commands", async () => {
  const big = "x".repeat(60_000);
  const { step } = await bench([put("b.txt", big), put("c.txt", big), put("d.txt", "small")], {
    sandboxBytes: 200_000,
  });
  expect((await step(1)).body.state).toBe("done");
  const { status, body } = await step(3);
  expect([status, body.code]).toEqual([422, "REPLAY_TOO_LARGE"]);
  await step(3, { skip: true });
  expect((await step(5)).body.state).toBe("done");

  const none = await bench([put("b.txt")], { sandboxBytes: 3 });
  expect([none.first.status, none.first.body.code]).toEqual([422, "REPLAY_TOO_LARGE"]);
  expect((await none.plan()).sandbox).toBeNull();

  const filling = "i=0; while :; do i=$((i+1)); head -c 200000 /dev/zero > f$i; done";
  const command = await bench(
    [{ name: "sh", input: { command: filling } }],
    { sandboxBytes: 5_000_000 },
    { allowUnisolated: true },
  );
  expect((await command.step(1, { confirmCommand: filling })).body).toMatchObject({
    state: "failed",
    reason: expect.stringContaining("filled the sandbox past 5 MiB"),
  });
});
