/** Sessions that move, add and commit by git end at the tree that the real session committed. */
import { exec } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { EndState, PlanReport, SandboxInfo, StepReport } from "../../plugins/replay/index.ts";
import { LONG } from "../rounds.ts";
import { type LoggedCall, replayKernel, runGit, toEcho, writeSession } from "./_replay.ts";

const run = promisify(exec);
const TOOLS = { tools: { put: "write", sh: "shell" } } as const;

/** One call of a session: a command, or a file that is written. */
type Call = string | { path: string; content: string };

/** Twenty ways in which assistants work with git; each ends with a commit. */
const SESSIONS: readonly [name: string, calls: readonly Call[]][] = [
  ["a move and a commit", ["git mv src/a.txt src/b.txt", "git commit -m 'move a'"]],
  [
    "an edit that is added and committed",
    [{ path: "src/a.txt", content: "new\n" }, "git add -A && git commit -m edit"],
  ],
  [
    "a branch",
    ["git checkout -b feature", { path: "new.txt", content: "n\n" }, "git add new.txt", "git commit -m new"],
  ],
  ["a path of the project in the command", ["cd {root} && git mv src/a.txt moved.txt && git commit -m 'move out'"]],
  ["a removal and a folder moved", ["git rm -q src/deep/c.txt", "git mv lib library", "git commit -q -m tidy"]],
  ["commit -am", [{ path: "lib/l.txt", content: "L2\n" }, "git commit -am 'change l'"]],
  [
    "two commits",
    [
      { path: "x", content: "1\n" },
      "git add x && git commit -m one",
      { path: "x", content: "2\n" },
      "git commit -am two",
    ],
  ],
  [
    "an amended commit",
    [
      { path: "x", content: "1\n" },
      "git add x && git commit -m one",
      { path: "y", content: "2\n" },
      "git add y && git commit --amend --no-edit",
    ],
  ],
  [
    "switch -c and a merge back",
    [
      "git switch -c work",
      { path: "w", content: "w\n" },
      "git add . && git commit -m w",
      "git checkout - && git merge --no-ff -m merge work",
    ],
  ],
  [
    "a fast-forward",
    [
      "git switch -c work",
      { path: "w", content: "w\n" },
      "git add . && git commit -m w",
      "git checkout - && git merge work",
    ],
  ],
  [
    "a stash",
    [
      { path: "src/a.txt", content: "later\n" },
      "git stash",
      { path: "s", content: "s\n" },
      "git add s && git commit -m s && git stash pop && git commit -am later",
    ],
  ],
  [
    "a restore",
    [
      { path: "src/a.txt", content: "bad\n" },
      "git restore src/a.txt",
      { path: "ok", content: "ok\n" },
      "git add -A && git commit -m ok",
    ],
  ],
  [
    "a partial add",
    [
      { path: "one", content: "1\n" },
      { path: "two", content: "2\n" },
      "git add one && git commit -m one",
      "git add two && git commit -m two",
    ],
  ],
  ["an executable bit", ["chmod +x run.sh && git add run.sh && git commit -m executable"]],
  ["a link", ["ln -s a.txt src/link && git add src/link && git commit -m link"]],
  ["a rename by mv", ["mv src/a.txt src/z.txt && git add -A && git commit -m rename"]],
  [
    "a revert",
    [
      { path: "x", content: "1\n" },
      "git add x && git commit -m x",
      "git revert --no-edit HEAD",
      { path: "y", content: "y\n" },
      "git add y && git commit -m y",
    ],
  ],
  [
    "a cherry-pick",
    [
      "git switch -c side",
      { path: "p", content: "p\n" },
      "git add p && git commit -m p",
      "git checkout - && git cherry-pick side",
    ],
  ],
  [
    "a reset",
    [
      { path: "x", content: "1\n" },
      "git add x && git commit -m x",
      "git reset --soft HEAD~1 && git commit -m 'x again'",
    ],
  ],
  ["an older version", ["git checkout HEAD~1 -- src/a.txt && git commit -m 'old a'", "git log --oneline | wc -l"]],
];
/** The kinds that differ most, in the usual run. */
const CHOSEN = LONG ? SESSIONS : SESSIONS.filter((_, i) => [0, 2, 3, 8, 19].includes(i));

const FIRST = { GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z", GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z" };
const START = "2026-01-02T00:00:00.000Z";
const WHO = ["-c", "user.name=Real", "-c", "user.email=real@example.com", "-c", "commit.gpgsign=false"];

/** A repository with two commits; answers its folder. */
async function repository(home: string): Promise<string> {
  const root = join(home, "work/project");
  const files = { "src/a.txt": "one\n", "src/deep/c.txt": "c\n", "lib/l.txt": "L\n", "run.sh": "#!/bin/sh\n" };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  await runGit(root, ["init", "-q", "-b", "main", "--template="]);
  await runGit(root, ["config", "user.name", "Real"]);
  await runGit(root, ["config", "user.email", "real@example.com"]);
  for (const text of ["zero\n", "one\n"]) {
    await writeFile(join(root, "src/a.txt"), text);
    await runGit(root, ["add", "-A"]);
    const who = { ...process.env, ...FIRST };
    await run(`git ${WHO.join(" ")} commit -q -m ${JSON.stringify(text.trim())}`, { cwd: root, env: who });
  }
  return root;
}

/** Does the calls in the real repository, as the assistant did, and logs what they wrote. */
async function record(root: string, calls: readonly Call[]): Promise<LoggedCall[]> {
  const logged: LoggedCall[] = [];
  for (const [i, call] of calls.entries()) {
    if (typeof call !== "string") {
      await writeFile(join(root, call.path), call.content);
      logged.push({ name: "put", input: { path: call.path, content: call.content } });
      continue;
    }
    const command = call.replaceAll("{root}", root);
    const at = new Date(Date.parse(START) + (i + 1) * 1_000).toISOString();
    const env = { ...process.env, HOME: dirname(root), GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at, LC_ALL: "C" };
    const { stdout, stderr } = await run(command, { cwd: root, env });
    logged.push({ name: "sh", input: { command }, result: { text: stdout + stderr } });
  }
  return logged;
}

async function replayed(calls: readonly Call[]) {
  const t = await replayKernel([toEcho("echo", TOOLS)]);
  const root = await repository(t.home);
  const sessionId = await writeSession(t.home, "echo", "s", {
    cwd: root,
    startedAt: START,
    calls: await record(root, calls),
  });
  await t.send("POST", "/api/import", { all: true });
  const started = await t.send<SandboxInfo>("POST", "/api/replay/start", { sessionId, allowUnisolated: true });
  expect(started.status, JSON.stringify(started.body)).toBe(200);
  const { steps } = await t.json<PlanReport>(`/api/sessions/${sessionId}/replay-plan`);
  const results: StepReport[] = [];
  for (const { seq, command } of steps) {
    const confirm = command === null ? {} : { confirmCommand: command };
    const { status, body } = await t.send<StepReport>("POST", "/api/replay/step", { sessionId, seq, ...confirm });
    expect([command, status, body.state, body.exitCode ?? 0], body.stderr).toEqual([command, 200, "done", 0]);
    results.push(body);
  }
  return {
    t,
    root,
    sessionId,
    steps,
    results,
    path: started.body.path,
    end: await t.json<EndState>(`/api/replay/result?sessionId=${sessionId}`),
  };
}

describe("a session with", () => {
  it.each(CHOSEN)("%s ends at the recorded tree", async (_, calls) => {
    const { root, end, path } = await replayed(calls);
    const real = (await runGit(root, ["rev-parse", "HEAD"])).trim();
    expect(end.commit?.commit).toBe(real);
    expect(end).toMatchObject({ differs: 0, missing: 0, extra: 0, head: { sameTree: true } });
    expect(end.head?.branch).toBe((await runGit(root, ["branch", "--show-current"])).trim());
    expect(await runGit(path, ["rev-parse", "HEAD^{tree}"])).toBe(await runGit(root, ["rev-parse", "HEAD^{tree}"]));
    expect(await runGit(root, ["status", "--porcelain"])).toBe("");
  });
});

it("begins on the branch that was checked out at its start, also where the log names the one that it ended on", async () => {
  const t = await replayKernel([toEcho("echo", TOOLS)]);
  const root = await repository(t.home);
  await runGit(root, ["branch", "-m", "trunk"]);
  const calls = await record(root, ["git checkout -b feature && git checkout trunk", "git checkout feature"]);
  const sessionId = await writeSession(t.home, "echo", "s", {
    cwd: root,
    startedAt: START,
    calls,
    branch: "feature",
  });
  await t.send("POST", "/api/import", { all: true });
  await t.send("POST", "/api/replay/start", { sessionId, allowUnisolated: true });
  for (const [i, { input }] of calls.entries()) {
    const { command } = input as { command: string };
    const body = { sessionId, seq: 1 + 2 * i, confirmCommand: command };
    expect((await t.send<StepReport>("POST", "/api/replay/step", body)).body).toMatchObject({ exitCode: 0 });
  }
  const { path } = (await t.json<PlanReport>(`/api/sessions/${sessionId}/replay-plan`)).sandbox ?? {};
  expect(path && (await runGit(path, ["branch", "--show-current"])).trim()).toBe("feature");
});

it("the repository is apart: no remote, no hook, an invented author, and nothing is written to the real one", async () => {
  const t = await replayKernel([toEcho("echo", TOOLS)]);
  const root = await repository(t.home);
  await runGit(root, ["remote", "add", "origin", "https://example.com/x"]);
  await mkdir(join(root, ".git/hooks"), { recursive: true });
  for (const hook of ["pre-commit", "post-commit", "post-checkout"])
    await writeFile(join(root, ".git/hooks", hook), `#!/bin/sh\ntouch ${t.home}/pwned\n`, { mode: 0o755 });
  const before = await runGit(root, ["for-each-ref"]);
  const count = await runGit(root, ["count-objects", "-v"]);
  const command =
    "git remote; git branch -a; git log -1 --format=%H; echo z > z && git add z && git commit -qm z && git log -1 --format='%an %ae'";
  // The name of a branch is the one that the log gives, `main` without one.
  const sessionId = await writeSession(t.home, "echo", "s", {
    cwd: root,
    startedAt: START,
    calls: [
      { name: "sh", input: { command: command.replace("git remote; ", "") } },
      { name: "put", input: { path: "k", content: "k" } },
    ],
  });
  await t.send("POST", "/api/import", { all: true });
  const { path } = (await t.send<SandboxInfo>("POST", "/api/replay/start", { sessionId, allowUnisolated: true })).body;
  const { body } = await t.send<StepReport>("POST", "/api/replay/step", {
    sessionId,
    seq: 1,
    confirmCommand: command.replace("git remote; ", ""),
  });
  const head = (await runGit(root, ["rev-parse", "HEAD"])).trim();
  expect(body.stdout).toBe(`* main\n${head}\nReplay replay@sessarc.invalid\n`);
  expect(body.changed).toEqual(["z"]);
  expect(await runGit(path, ["remote"])).toBe("");
  expect(existsSync(join(t.home, "pwned"))).toBe(false);
  expect([await runGit(root, ["for-each-ref"]), await runGit(root, ["count-objects", "-v"])]).toEqual([before, count]);

  // Taken back: the commit is gone, and the file.
  const back = await t.send<{ restored: string[] }>("POST", "/api/replay/back", { sessionId, seq: 1 });
  expect(back.body.restored).toEqual(["z"]);
  expect((await runGit(path, ["rev-parse", "HEAD"])).trim()).toBe(head);
  expect(await runGit(path, ["status", "--porcelain"])).toBe("");
  expect(existsSync(join(path, "z"))).toBe(false);
});

it("what a command puts in the place of the repository's files is not written through", async () => {
  const t = await replayKernel([toEcho("echo", TOOLS)]);
  const root = await repository(t.home);
  const commands = ["git status", "true", "rm -rf .git", "git status"];
  const sessionId = await writeSession(t.home, "echo", "s", {
    cwd: root,
    startedAt: START,
    calls: commands.map((command) => ({ name: "sh", input: { command } })),
  });
  await t.send("POST", "/api/import", { all: true });
  const { path } = (await t.send<SandboxInfo>("POST", "/api/replay/start", { sessionId, allowUnisolated: true })).body;
  const step = async (i: number) =>
    (
      await t.send<StepReport>("POST", "/api/replay/step", {
        sessionId,
        seq: 1 + 2 * i,
        confirmCommand: commands[i],
      })
    ).body;
  expect((await step(0)).exitCode).toBe(0);
  const mine = join(t.home, "mine.txt");
  await writeFile(mine, "mine");
  const alternates = join(path, ".git/objects/info/alternates");
  await rm(alternates);
  await symlink(mine, alternates);
  expect((await step(1)).state).toBe("done");
  expect(await readFile(mine, "utf8")).toBe("mine");
  expect(await readFile(alternates, "utf8")).toBe(`${join(root, ".git/objects")}\n`);
  expect((await step(2)).state).toBe("done");
  expect((await step(3)).exitCode).toBe(128);
  expect(existsSync(join(path, ".git"))).toBe(false);
});

it("files that the sandbox was made without are not committed as deleted", async () => {
  const t = await replayKernel([toEcho("echo", TOOLS)]);
  const root = await repository(t.home);
  await run("ln -s /etc/passwd absolute && git add absolute && git commit -qm link", {
    cwd: root,
    env: { ...process.env, ...FIRST },
  });
  const calls = await record(root, [{ path: "n", content: "n\n" }, "git add -A && git commit -qm n"]);
  const sessionId = await writeSession(t.home, "echo", "s", { cwd: root, startedAt: START, calls });
  await t.send("POST", "/api/import", { all: true });
  await t.send("POST", "/api/replay/start", { sessionId, allowUnisolated: true });
  await t.send("POST", "/api/replay/step", { sessionId, seq: 1 });
  await t.send("POST", "/api/replay/step", { sessionId, seq: 3, confirmCommand: "git add -A && git commit -qm n" });
  const end = await t.json<EndState>(`/api/replay/result?sessionId=${sessionId}`);
  expect(end.head?.sameTree).toBe(true);
  expect(await readFile(join(root, "n"), "utf8")).toBe("n\n");
});
