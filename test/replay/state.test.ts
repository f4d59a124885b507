/** Steps have an order, outlive the service, and can be taken back. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { EndState, PlanReport, Preview, StepReport } from "../../plugins/replay/index.ts";
import { toMount } from "../../plugins/replay/run/isolation.ts";
import type { TestKernel } from "../kernel.ts";
import { type LoggedCall, replayKernel, toEcho, writeCommits, writeSession } from "./_replay.ts";

const TOOLS = { tools: { put: "write", edit: "edit", sh: "shell", patch: "patch" } } as const;
const put = (path: string, content: string): LoggedCall => ({ name: "put", input: { path, content } });
const edit = (path: string, old_string: string, new_string: string): LoggedCall => ({
  name: "edit",
  input: { path, old_string, new_string },
});

type Refused = { code: string; message: string };

async function bench(calls: readonly LoggedCall[], home?: string) {
  const t = await replayKernel([toEcho("echo", TOOLS)], { maxSandboxes: 3 }, home);
  const root = join(t.home, "work/project");
  await writeCommits(root, [
    { at: "2026-01-01T00:00:00Z", files: new Map([["a.txt", Buffer.from("one\ntwo\nthree\n")]]) },
    {
      at: "2026-01-05T00:00:00Z",
      files: new Map([
        ["a.txt", Buffer.from("one\n2\nthree\n")],
        ["b.txt", Buffer.from("B")],
      ]),
    },
  ]);
  const id = await writeSession(t.home, "echo", "s", { cwd: root, startedAt: "2026-01-02T00:00:00.000Z", calls });
  await t.send("POST", "/api/import", { all: true });
  return { t, id, root, ...client(t, id) };
}

const client = (t: TestKernel, sessionId: string) => ({
  start: () => t.send<{ path: string }>("POST", "/api/replay/start", { sessionId }),
  step: (seq: number, more: object = {}) =>
    t.send<StepReport & Refused>("POST", "/api/replay/step", { sessionId, seq, ...more }),
  back: (seq?: number) =>
    t.send<{ seq: number } & Refused>("POST", "/api/replay/back", { sessionId, ...(seq === undefined ? {} : { seq }) }),
  plan: () => t.json<PlanReport>(`/api/sessions/${encodeURIComponent(sessionId)}/replay-plan`),
  preview: (seq: number) =>
    t.json<Preview>(`/api/replay/preview?sessionId=${encodeURIComponent(sessionId)}&seq=${seq}`),
  result: () => t.json<EndState>(`/api/replay/result?sessionId=${encodeURIComponent(sessionId)}`),
});

describe("steps", () => {
  it("D13: keep their order unless the user says otherwise, and are done once", async () => {
    const { start, step, back, plan } = await bench([edit("a.txt", "two", "2"), put("b.txt", "B"), put("c.txt", "C")]);
    expect((await step(1)).body.code).toBe("REPLAY_NOT_STARTED");
    await start();
    expect((await step(3)).body).toMatchObject({ code: "REPLAY_OUT_OF_ORDER", status: 409 });
    expect((await step(2)).body.code).toBe("REPLAY_STEP_NOT_FOUND");
    expect((await step(1)).body.state).toBe("done");
    expect((await step(1)).body.code).toBe("REPLAY_STEP_DONE");
    expect((await step(5, { outOfOrder: true })).body.state).toBe("done");
    expect((await step(3, { skip: true })).body.state).toBe("skipped");
    expect((await plan()).next).toBeNull();
    expect((await back(1)).body.code).toBe("REPLAY_NOT_LAST");
    for (const seq of [3, 5, 1]) expect((await back()).body.seq).toBe(seq);
    expect((await back()).body.code).toBe("REPLAY_NOTHING_DONE");
    expect((await plan()).next).toEqual({ seq: 1, source: null });
  });

  it("D13: are previewed against the sandbox as it is (`$&` is text), and one that does not apply says where it nearly would", async () => {
    const { start, step, preview } = await bench([
      edit("a.txt", "two", "$& 2"),
      edit("a.txt", "two\nthree", "x"),
      { name: "patch", input: "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-zwei\n+2\n three\n*** End Patch" },
      { name: "sh", input: { command: "ls", workdir: "sub" } },
    ]);
    await start();
    expect((await preview(1)).diff).toBe("--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+$& 2\n three\n");
    await step(1);
    expect(await preview(3)).toMatchObject({
      applies: false,
      reason: 'a.txt: the text to replace is not in the file (nearest: line 2, "$& 2")',
    });
    expect((await step(3)).body).toMatchObject({ state: "failed", changed: [], matchesRecording: false });
    expect((await preview(5)).reason).toContain('the change does not fit the file (nearest: line 1, "one")');
    expect(await preview(7)).toMatchObject({ applies: true, command: "ls", diff: null });
    expect((await preview(7)).cwd).toMatch(/\/work\/project\/sub$|^\/workspace\/sub$/);
  });

  it("are at the session's own folder, and never over the system's", () => {
    expect(toMount("/code/project")).toBe("/code/project");
    for (const root of ["/usr/bin", "/code/../usr/bin", "/./usr/bin", "/code/./../lib64/x", "/a\0/b", "/code"])
      expect(toMount(root), root).toBe("/workspace");
  });

  it("outlive the service; a session that was imported with other steps must begin again", async () => {
    const home = await mkdtemp(join(tmpdir(), "sessarc-replay-"));
    onTestFinished(() => rm(home, { recursive: true, force: true }));
    const first = await bench([edit("a.txt", "two", "2"), put("b.txt", "B")], home);
    const { path } = (await first.start()).body;
    await first.step(1);
    await first.t.close();
    const t = await replayKernel([toEcho("echo", TOOLS)], {}, home);
    const again = client(t, first.id);
    const { steps, next, sandbox } = await again.plan();
    expect([steps[0]?.state, next?.seq, sandbox?.path]).toEqual(["done", 3, path]);
    expect((await again.step(3)).body.state).toBe("done");
    expect(await again.result()).toMatchObject({ same: 2, differs: 0, missing: 0, extra: 0 });
    const calls = [edit("a.txt", "other", "2"), put("b.txt", "B")];
    await writeSession(home, "echo", "s", { cwd: first.root, startedAt: "2026-01-02T00:00:00.000Z", calls });
    await t.send("POST", `/api/sessions/${encodeURIComponent(first.id)}/sync`, {});
    expect((await again.step(3)).body.code).toBe("REPLAY_STALE");
    expect((await again.start()).status).toBe(200);
  });

  it("that a kill of the service cut in half are put back when the sandbox is used next", async () => {
    const home = await mkdtemp(join(tmpdir(), "sessarc-replay-"));
    onTestFinished(() => rm(home, { recursive: true, force: true }));
    const first = await bench([edit("a.txt", "two", "2"), put("b.txt", "B")], home);
    const { path } = (await first.start()).body;
    await first.step(1);
    await first.step(3);
    // As a kill between the last file and the row leaves it.
    await first.t.kernel.storage.db.run("update replay_step set state = 'running' where step = '3'");
    await first.t.close();
    const t = await replayKernel([toEcho("echo", TOOLS)], {}, home);
    const again = client(t, first.id);
    expect((await again.preview(3)).applies).toBe(true);
    expect(await readdir(path)).toEqual(["a.txt"]);
    expect(await readFile(join(path, "a.txt"), "utf8")).toBe("one\n2\nthree\n");
    expect((await again.step(3)).body.state).toBe("done");
  });

  it("end beside the commit the session led to, file by file", async () => {
    const { start, step, result } = await bench([edit("a.txt", "two", "zwei"), put("c.txt", "C")]);
    await start();
    await step(1);
    await step(3);
    const { commit, files } = await result();
    expect(commit?.at).toBe("2026-01-05T00:00:00.000Z");
    expect(files).toEqual([
      { path: "a.txt", state: "differs" },
      { path: "b.txt", state: "missing" },
      { path: "c.txt", state: "extra" },
    ]);
  });

  it("of two requests at once run sequentially", async () => {
    const { start, step } = await bench([edit("a.txt", "two", "2")]);
    await start();
    const answers = await Promise.all([step(1), step(1), step(1)]);
    expect(answers.map(({ body }) => body.state ?? body.code).sort()).toEqual([
      "REPLAY_STEP_DONE",
      "REPLAY_STEP_DONE",
      "done",
    ]);
  });
});

it("what a sub-agent changed is a part of its session's replay, in the order of time", async () => {
  const { t, root, id, start, step, plan } = await bench([edit("a.txt", "two", "2"), edit("a.txt", "child", "parent")]);
  // Its call comes a second before the session's second one.
  const calls = [edit("a.txt", "2", "child")];
  await writeSession(t.home, "echo", "child", { cwd: root, startedAt: "2026-01-02T00:00:00.500Z", parent: "s", calls });
  await t.send("POST", "/api/import", { all: true });
  const { steps } = await plan();
  expect(steps.map(({ source, seq }) => [source, seq])).toEqual([
    [null, 1],
    ["echo:child", 1],
    [null, 3],
  ]);
  const { path } = (await start()).body;
  for (const { seq, source } of steps)
    expect((await step(seq, { source })).body).toMatchObject({ state: "done", source });
  expect(await readFile(join(path, "a.txt"), "utf8")).toBe("one\nparent\nthree\n");
  expect(id).toBe("echo:s");
});

it("S1: a start wipes its own sandbox and nothing else", async () => {
  const { t, id, start } = await bench([put("b.txt", "B")]);
  const { path } = (await start()).body;
  await writeFile(join(path, "left.txt"), "x");
  for (const sessionId of ["../../work", "echo:../../../work", "/", `${id}/..`])
    expect((await t.send<Refused>("POST", "/api/replay/start", { sessionId })).body.code).toBe("SESSION_NOT_FOUND");
  await start();
  expect(await readdir(path)).toEqual(["a.txt"]);
  expect(await readdir(join(t.home, "work/project"))).toEqual([".git", "a.txt", "b.txt"]);
});

it("old sandboxes go when there are too many, the ones used longest ago first", async () => {
  const { t, root } = await bench([]);
  const paths: string[] = [];
  for (const key of ["s1", "s2", "s3", "s4", "s5"]) {
    await writeSession(t.home, "echo", key, {
      cwd: root,
      startedAt: "2026-01-02T00:00:00.000Z",
      calls: [put("b.txt", "B")],
    });
  }
  await t.send("POST", "/api/import", { all: true });
  for (const key of ["s1", "s2", "s3", "s4", "s5"]) paths.push((await client(t, `echo:${key}`).start()).body.path);
  await t.kernel.inject("replay").sweep();
  const left = await Promise.all(
    paths.map((path) =>
      readdir(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  expect(left).toEqual([false, false, true, true, true]);
  expect((await client(t, "echo:s1").step(1)).body.code).toBe("REPLAY_NOT_STARTED");
});

it("a sweep that fails is reported", async () => {
  const { t } = await bench([]);
  await t.kernel.storage.db.close();
  await t.kernel.inject("replay").sweep();
  expect(t.errors.splice(0)).toMatchObject([{ message: "The catalogue is closed" }]);
});

it("a file browser that is not there is 422", async () => {
  const { t, id, start } = await bench([]);
  await start();
  const screen = process.env.DISPLAY;
  delete process.env.DISPLAY;
  const { status, body } = await t.send<Refused>("POST", "/api/replay/open", { sessionId: id });
  if (screen !== undefined) process.env.DISPLAY = screen;
  if (process.platform === "linux") expect([status, body.code]).toEqual([422, "REPLAY_NO_FILE_BROWSER"]);
});
