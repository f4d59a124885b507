/** Commands: only what was confirmed to the letter, and nothing outside the sandbox. */
import { existsSync } from "node:fs";
import { link, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PlanReport, StepReport } from "../../plugins/replay/index.ts";
import { findIsolation } from "../../plugins/replay/run/isolation.ts";
import type { TestKernel } from "../kernel.ts";
import { type LoggedCall, replayKernel, toEcho, writeCommits, writeSession } from "./_replay.ts";

const isolation = await findIsolation({ platform: process.platform, path: process.env.PATH ?? "", readable: [] });
const isolated = describe.skipIf(isolation.kind === "none");
if (isolation.kind === "none") console.warn(`Tests of isolated commands are skipped: ${isolation.reason}`);

const SHELL = { tools: { sh: "shell", put: "write" } } as const;
const START = "2026-01-02T00:00:00.000Z";

interface Bench {
  t: TestKernel;
  id: string;
  root: string;
  run(seq: number, more?: object): Promise<{ status: number; body: StepReport & { code?: string } }>;
  plan(): Promise<PlanReport>;
}

const sh = (command: string, text = "", failed = false): LoggedCall => ({
  name: "sh",
  input: { command },
  result: { text, failed },
});

/** A session of these calls in a repository with one file; started. Call i is message 1 + 2i. */
async function bench(calls: readonly LoggedCall[], start: object = {}, limits = {}): Promise<Bench> {
  const t = await replayKernel([toEcho("echo", SHELL)], { limits });
  const root = join(t.home, "work/project");
  await writeCommits(root, [{ at: "2026-01-01T00:00:00Z", files: new Map([["a.txt", Buffer.from("one\n")]]) }]);
  const id = await writeSession(t.home, "echo", "s", { cwd: root, startedAt: START, calls });
  await t.send("POST", "/api/import", { all: true });
  const started = await t.send("POST", "/api/replay/start", { sessionId: id, ...start });
  expect(started.status).toBe(200);
  const plan = () => t.json<PlanReport>(`/api/sessions/${encodeURIComponent(id)}/replay-plan`);
  const run = async (seq: number, more: object = {}) => {
    const step = (await plan()).steps.find((one) => one.seq === seq);
    return t.send<StepReport & { code?: string }>("POST", "/api/replay/step", {
      sessionId: id,
      seq,
      ...(step?.command ? { confirmCommand: step.command } : {}),
      ...more,
    });
  };
  return { t, id, root, run, plan };
}

describe("confirmation", () => {
  it("of another text, or none, is refused and runs nothing", async () => {
    const { t, run, plan } = await bench([sh("touch b.txt")], { allowUnisolated: true });
    for (const confirmCommand of [undefined, true, "touch b.txt ", ""]) {
      const { status, body } = await run(1, { confirmCommand });
      expect([confirmCommand, status, body.code]).toEqual([confirmCommand, 409, "COMMAND_NOT_CONFIRMED"]);
      const { sandbox, steps } = await plan();
      expect(await readdir(sandbox?.path ?? "")).toEqual(["a.txt"]);
      expect(steps[0]?.state).toBe("pending");
    }
    await t.close();
  });

  it("without isolation a command is refused until it is switched on, and the answer reports it", async () => {
    const t = await replayKernel([toEcho("echo", SHELL)]);
    const path = process.env.PATH;
    process.env.PATH = join(t.home, "nothing");
    try {
      const id = await writeSession(t.home, "echo", "s", {
        cwd: join(t.home, "gone"),
        startedAt: START,
        calls: [sh("/bin/echo hi", "hi\n")],
      });
      await t.send("POST", "/api/import", { all: true });
      const begin = (more: object) =>
        t.send<{ isolation: string }>("POST", "/api/replay/start", { sessionId: id, ...more });
      const step = () =>
        t.send<{ code: string; fix: string }>("POST", "/api/replay/step", {
          sessionId: id,
          seq: 1,
          confirmCommand: "/bin/echo hi",
        });
      expect((await begin({})).body.isolation).toBe("none");
      const refused = await step();
      expect([refused.status, refused.body.code]).toEqual([422, "REPLAY_NO_ISOLATION"]);
      expect(refused.body.fix).toContain("allowUnisolated");
      await begin({ allowUnisolated: true });
      expect((await step()).body).toMatchObject({ state: "done", stdout: "hi\n", matchesRecording: true });
    } finally {
      process.env.PATH = path;
    }
  });
});

it("a request for the status starts no program: how commands are isolated is in it once a replay needed that", async () => {
  const t = await replayKernel([toEcho("echo", SHELL)]);
  const shown = async () => (await t.json<{ isolation: { kind: string } }>("/api/status")).isolation.kind;
  const id = await writeSession(t.home, "echo", "s", { cwd: t.home, startedAt: START, calls: [sh("true")] });
  await t.send("POST", "/api/import", { all: true });
  expect([await shown(), await shown()]).toEqual(["unknown", "unknown"]);
  const plan = await t.json<{ isolation: { kind: string } }>(`/api/sessions/${id}/replay-plan`);
  expect(await shown()).toBe(plan.isolation.kind);
});

it("a file that a command linked hard to one outside is edited without the other", async () => {
  const { t, run } = await bench(
    [sh("ln ../../../../outside.txt hard.txt"), { name: "put", input: { path: "hard.txt", content: "changed" } }],
    { allowUnisolated: true },
  );
  const outside = join(t.home, "outside.txt");
  await writeFile(outside, "mine");
  const place = (await t.json<PlanReport>("/api/sessions/echo%3As/replay-plan")).sandbox?.path ?? "";
  await link(outside, join(place, "hard.txt"));
  await t.send("POST", "/api/replay/step", { sessionId: "echo:s", seq: 1, skip: true });
  expect((await run(3)).body).toMatchObject({ state: "done", changed: ["hard.txt"] });
  expect([await readFile(outside, "utf8"), await readFile(join(place, "hard.txt"), "utf8")]).toEqual([
    "mine",
    "changed",
  ]);
});

isolated("isolated commands", () => {
  it("see the project where it stood, an empty home and a clean environment, and no file of this machine", async () => {
    process.env.SESSARC_TEST_SECRET = "hunter2";
    const { t, root, run } = await bench([
      sh("pwd; cat a.txt; ls -A ~; env; ls /root /etc/passwd; ls -A ..; cat /proc/1/environ"),
    ]);
    delete process.env.SESSARC_TEST_SECRET;
    await writeFile(join(t.home, "work/beside.txt"), "secret");
    const { body } = await run(1);
    expect(body.stdout).toContain(`${root}\none\n`);
    expect(body.stdout + body.stderr).not.toContain("hunter2");
    expect(body.stdout).not.toContain("beside.txt");
    expect(body.stderr).toMatch(/\/root.*No such file/);
    expect(body.stdout).toContain("HOME=/home/sandbox");
  });

  it("reach no network, not even this machine's own ports", async () => {
    const seen: string[] = [];
    const server = createServer((socket) => seen.push(socket.remoteAddress ?? "") && socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const { run } = await bench([sh(`(echo > /dev/tcp/127.0.0.1/${port}) 2>&1; cat /proc/net/dev | wc -l`)]);
    const { body } = await run(1);
    expect(body.stdout).toMatch(/refused|unreachable/i);
    await new Promise((resolve) => server.close(resolve));
    expect(seen).toEqual([]);
  });

  it("cannot write outside, through links or to the system, and what they make stays in the sandbox", async () => {
    const { t, root, run, plan } = await bench([
      sh(
        "ln -s / out; ln -s /etc etc; echo x > /usr/pwned; echo x > out/pwned; echo x > etc/pwned; mkdir -p d; echo y > d/e; chmod 600 a.txt; echo two >> a.txt",
      ),
      { name: "put", input: { path: "out/tmp/pwned", content: "x" } },
      { name: "put", input: { path: "etc/pwned", content: "x" } },
      { name: "put", input: { path: "fine", content: "x" } },
    ]);
    const { body } = await run(1);
    expect(body.changed.sort()).toEqual(["a.txt", "d/e", "etc", "out"]);
    expect(body.unchecked).toBeNull();
    for (const seq of [3, 5])
      expect((await run(seq)).body).toMatchObject({ state: "failed", changed: [], matchesRecording: false });
    for (const seq of [5, 3]) await t.send("POST", "/api/replay/back", { sessionId: "echo:s", seq });
    expect(["/usr/pwned", "/pwned", "/etc/pwned", "/tmp/pwned"].filter((path) => existsSync(path))).toEqual([]);
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("one\n");
    // Taken back: links, folders and rights are as before.
    expect((await t.send("POST", "/api/replay/back", { sessionId: "echo:s", seq: 1 })).status).toBe(200);
    const path = (await plan()).sandbox?.path ?? "";
    expect(await readdir(path)).toEqual([".git", "a.txt"]);
    expect(await readFile(join(path, "a.txt"), "utf8")).toBe("one\n");
  });

  it("end at their time although they ignore SIGTERM, and what they left in the background ends with them", async () => {
    const { run, t } = await bench(
      [sh("trap '' TERM; (while :; do echo tick >> ticks; sleep 0.05; done) & sleep 600")],
      {},
      { timeMs: 1_500 },
    );
    const { body } = await run(1);
    expect(body).toMatchObject({ state: "failed", exitCode: null });
    expect(body.reason).toContain("longer than 1.5 s");
    // That one has the usual time: on a busy machine a command starts late.
    const other = await bench([sh("(while :; do echo late >> late; sleep 0.05; done) & echo done")]);
    expect((await other.run(1)).body).toMatchObject({ state: "done", stdout: "done\n" });
    const homes = [t.home, other.t.home];
    const left = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    const lines = await Promise.all(left.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
    expect(lines.filter((line) => homes.some((home) => line.includes(home)) && !line.startsWith("git"))).toEqual([]);
  });

  it("are ended when they fork without end, write without end, or take too much memory", async () => {
    const calls = [
      sh("for i in $(seq 400); do sleep 30 & done; wait"),
      sh("yes"),
      sh(`node -e 'const a=[]; for(;;) a.push(Buffer.alloc(1<<24, 1))'`),
    ];
    const { run } = await bench(
      calls,
      {},
      { processes: 60, outputBytes: 20_000, memoryBytes: 300 * 2 ** 20, timeMs: 20_000 },
    );
    const many = (await run(1)).body;
    expect(many.state === "failed" || /fork|Resource temporarily unavailable/.test(many.stderr)).toBe(true);
    const yes = (await run(3)).body;
    expect(yes.reason).toContain("without end");
    expect(yes.stdout.length).toBeLessThan(30_000);
    const hungry = (await run(5)).body;
    expect(hungry.exitCode === 0).toBe(false);
  });

  it("are taken literally: no shell reads a project's name", async () => {
    const t = await replayKernel([toEcho("echo", SHELL)]);
    const root = join(t.home, "x$(touch pwned)`touch pwned2`;touch pwned3");
    await writeCommits(root, [{ at: "2026-01-01T00:00:00Z", files: new Map([["a.txt", Buffer.from("one\n")]]) }]);
    const id = await writeSession(t.home, "echo", "s", { cwd: root, startedAt: START, calls: [sh("pwd")] });
    await t.send("POST", "/api/import", { all: true });
    await t.send("POST", "/api/replay/start", { sessionId: id });
    const { body } = await t.send<StepReport>("POST", "/api/replay/step", {
      sessionId: id,
      seq: 1,
      confirmCommand: "pwd",
    });
    expect(body.stdout).toBe(`${root}\n`);
    expect((await readdir(t.home, { recursive: true })).filter((name) => /(^|\/)pwned\d?$/.test(name))).toEqual([]);
  });

  it("D13: are compared with the recording: exit codes and outputs, of failing ones too, times and paths made alike", async () => {
    const { root, run } = await bench([
      sh(`date; pwd; echo "took 12ms"; echo 2026-11-20T10:11:12.345Z`, ""),
      sh("pwd; echo took 15 ms", `${"{root}"}\ntook 3 ms\n`),
      sh("echo broken; exit 3", "Exit code 3\nbroken", true),
      sh("echo other", "expected"),
      { name: "sh", input: { command: "exit 1" }, result: null },
    ]);
    expect((await run(1)).body).toMatchObject({
      matchesRecording: false,
      comparison: { exitCode: "same", output: "differs" },
    });
    expect((await run(3)).body.stdout).toContain(root);
    expect((await run(5)).body).toMatchObject({ exitCode: 3, stdout: "broken\n", matchesRecording: true });
    expect((await run(7)).body).toMatchObject({ exitCode: 0, matchesRecording: false });
    // Without a recorded result nothing can be said.
    expect((await run(9)).body).toMatchObject({ exitCode: 1, matchesRecording: null });
  });

  it("leave other requests to be answered, and a kill of the service in the middle is put back", async () => {
    const { t, run, plan } = await bench([sh("echo gone > a.txt; sleep 600")]);
    const running = run(1);
    const path = (await plan()).sandbox?.path ?? "";
    while ((await readFile(join(path, "a.txt"), "utf8")) !== "gone\n") await t.fetch("/api/status");
    expect((await t.fetch("/api/status")).status).toBe(200);
    await Promise.all([t.close(), running.catch(() => undefined)]);
    await mkdir(path, { recursive: true });
  });
});
