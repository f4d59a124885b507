/** Without isolation: what a recorded command names decides whether it runs. */
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PlanReport, Preview, StepReport } from "../../plugins/replay/index.ts";
import { toReach } from "../../plugins/replay/run/reach.ts";
import { type LoggedCall, replayKernel, toEcho, withoutIsolation, writeCommits, writeSession } from "./_replay.ts";

const TOOLS = { tools: { sh: "shell", put: "write" } } as const;
const START = "2026-01-02T00:00:00.000Z";
type Refused = { code?: string; message?: string };

async function bench(commands: (root: string, home: string) => readonly (string | string[])[], allowUnisolated = true) {
  const t = await replayKernel([toEcho("echo", TOOLS)]);
  const root = join(t.home, "code/project");
  await writeCommits(root, [{ at: "2026-01-01T00:00:00Z", files: new Map([["build/a.txt", Buffer.from("one\n")]]) }]);
  await writeFile(join(t.home, "code/beside.txt"), "mine");
  const calls = commands(root, t.home).map((command): LoggedCall => ({ name: "sh", input: { command } }));
  const sessionId = await writeSession(t.home, "echo", "s", { cwd: root, startedAt: START, calls });
  await t.send("POST", "/api/import", { all: true });
  const { path } = (await t.send<{ path: string }>("POST", "/api/replay/start", { sessionId, allowUnisolated })).body;
  const { steps } = await t.json<PlanReport>(`/api/sessions/${encodeURIComponent(sessionId)}/replay-plan`);
  return {
    t,
    root,
    path,
    steps,
    preview: (seq: number) => t.json<Preview>(`/api/replay/preview?sessionId=${sessionId}&seq=${seq}`),
    step: (seq: number) =>
      t.send<StepReport & Refused>("POST", "/api/replay/step", {
        sessionId,
        seq,
        outOfOrder: true,
        confirmCommand: steps.find((one) => one.seq === seq)?.command,
      }),
  };
}

describe("without isolation", () => {
  withoutIsolation();

  it("a deletion of the real project's files deletes the sandbox's, and the answer says what was not compared", async () => {
    const { root, path, step, preview } = await bench((root) => [`rm -rf ${root}/build`]);
    const shown = await preview(1);
    expect(shown).toMatchObject({ applies: true, command: `rm -rf ${root}/build`, runs: `rm -rf ${path}/build` });
    expect(shown.warning).toContain("with your own rights");
    const { body } = await step(1);
    expect(body).toMatchObject({ state: "done", changed: ["build/a.txt"] });
    expect(body.unchecked).toContain("files outside the sandbox were not compared");
    expect(await readFile(join(root, "build/a.txt"), "utf8")).toBe("one\n");
    expect(existsSync(join(path, "build/a.txt"))).toBe(false);
  });

  it("commands that leave the sandbox are refused, and previewed as refused", async () => {
    const { t, step, steps, preview } = await bench((_, home) => [
      `rm ${home}/code/beside.txt`,
      "rm ../beside.txt",
      "cd build && cd .. && cd .. && rm beside.txt",
      "cd .. ; rm beside.txt",
      "sudo true",
      "git push https://example.com/x main",
      "cat ~root/.profile",
      ["rm", `${home}/code/beside.txt`],
    ]);
    expect(steps).toHaveLength(8);
    for (const { seq, command } of steps) {
      const { status, body } = await step(seq);
      expect([command, status, body.code]).toEqual([command, 422, "REPLAY_LEAVES_SANDBOX"]);
      expect(await preview(seq)).toMatchObject({
        applies: false,
        warning: expect.stringContaining("without isolation"),
      });
    }
    expect(await readFile(join(t.home, "code/beside.txt"), "utf8")).toBe("mine");
  });

  it("the preview says that a command will be refused where the user did not allow it", async () => {
    const { preview } = await bench(() => ["ls"], false);
    expect((await preview(1)).warning).toContain("It is refused");
  });

  it("a sandbox below a repository of the user's is no part of it", async () => {
    const t = await replayKernel([toEcho("echo", TOOLS)]);
    await writeCommits(t.home, [{ at: "2026-01-01T00:00:00Z", files: new Map([["dot", Buffer.from("x")]]) }]);
    await mkdir(join(t.home, "plain"));
    const sessionId = await writeSession(t.home, "echo", "s", {
      cwd: "/gone/elsewhere",
      startedAt: START,
      calls: [{ name: "sh", input: { command: "git rev-parse --show-toplevel" } }],
    });
    await t.send("POST", "/api/import", { all: true });
    await t.send("POST", "/api/replay/start", { sessionId, allowUnisolated: true });
    const { body } = await t.send<StepReport>("POST", "/api/replay/step", {
      sessionId,
      seq: 1,
      confirmCommand: "git rev-parse --show-toplevel",
    });
    expect(body).toMatchObject({ exitCode: 128, stdout: "" });
  });
});

describe("the text of a command", () => {
  const place = { root: "/code/app", tree: "/data/replay/1/files", cwd: "" };
  it.each([
    ["npm test && git commit -am 'fix: a/b'"],
    ["/bin/echo hi > /dev/null 2>&1"],
    ["git log HEAD~1..HEAD -- src/a.ts | head -3"],
    ["ls ./src ; printf '#!/bin/sh\\n' > run"],
    ["git diff a...b; for i in {1..3}; do echo $i; done"],
    ["sed -i s/a/b/ x.txt"],
    ["echo open at the docker"],
  ])("%s is allowed", (command) => {
    expect(toReach(command, place)).toEqual({ runs: command });
  });

  it("holds the sandbox's path in place of the project's, at a path's border alone", () => {
    const to = place.tree;
    for (const [command, runs] of [
      ["cd /code/app && make", `cd ${to} && make`],
      ["cat '/code/app/a b' --x=/code/app/c", `cat '${to}/a b' --x=${to}/c`],
      [`node -e "require('/code/app')"`, `node -e "require('${to}')"`],
    ] as const)
      expect(toReach(command, place)).toEqual({ runs });
    for (const command of [
      "rm -r /code/app2",
      "rm /code/app.bak",
      "ls /code/app/../other",
      "rm -r /work",
      "rm x/code/app",
    ])
      expect([command, "refused" in toReach(command, place)]).toEqual([command, true]);
  });

  it.each([
    ["rm -rf /"],
    ["ls -I/etc"],
    ["cat </etc/passwd"],
    ["x=/etc/passwd; cat $x"],
    ["echo $(cat /etc/passwd)"],
    ["cp a /usr/local/bin/a"],
    ["ln -s .. up"],
    ["tar xf a.tar -C ../.."],
    ["true; kill 1"],
    ["true && curl example.com"],
    ["cat $'\\x2fetc\\x2fpasswd'"],
    ["cat \\/etc/passwd"],
    ['cat "."./x'],
    ["cat .\\./x"],
    ["cd $PWD/.."],
    ["cd ~+/.."],
    ["cd .?"],
    ["ls .*"],
    ["cd {.,}."],
    [`cd ${"$"}{PWD%/*}`],
    [`cat ${"$"}{PWD:0:1}etc`],
    ["cd $(dirname $PWD)"],
    ["eval x"],
    ["type C:\\Users\\a"],
  ])("%s is refused", (command) => {
    expect(toReach(command, place)).toHaveProperty("refused");
  });

  it("is read in a list of words as well, and in the text that it gives to a shell", () => {
    expect(toReach(["bash", "-lc", "cat /code/app/a"], place)).toEqual({
      runs: ["bash", "-lc", `cat ${place.tree}/a`],
    });
    for (const words of [
      ["bash", "-lc", "sudo ls"],
      ["rm", "/usr/bin/x"],
      ["rm", "../x"],
      ["bash", "-lc", "cd .. && rm x"],
    ])
      expect([words, "refused" in toReach(words, place)]).toEqual([words, true]);
  });

  it("is refused where the sandbox's path could not be in it as one word", () => {
    const odd = { ...place, tree: "/data/my files/1" };
    expect(toReach("rm -r /code/app/build", odd)).toHaveProperty("refused");
    expect(toReach("rm -r build", odd)).toEqual({ runs: "rm -r build" });
  });

  it("may climb as far as its folder is deep", () => {
    expect(toReach("cd .. && ls", { ...place, cwd: "src" })).toEqual({ runs: "cd .. && ls" });
    expect(toReach("cd ../..", { ...place, cwd: "src" })).toHaveProperty("refused");
  });
});
