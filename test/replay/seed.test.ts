/** What a sandbox begins with: the commit's files and nothing of the repository's own programs. */
import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { PlanReport, SandboxInfo } from "../../plugins/replay/index.ts";
import { filesBelow, type LoggedCall, replayKernel, runGit, toEcho, writeCommits, writeSession } from "./_replay.ts";

const TOOLS = { tools: { put: "write", edit: "edit", look: "read" } } as const;
const FIRST = "2026-01-01T00:00:00Z";
const START = "2026-01-02T00:00:00.000Z";
const put = (path: string, content = "x"): LoggedCall => ({ name: "put", input: { path, content } });

async function start(root: (home: string) => Promise<string>, calls: readonly LoggedCall[] = []) {
  const t = await replayKernel([toEcho("echo", TOOLS)]);
  const cwd = await root(t.home);
  const sessionId = await writeSession(t.home, "echo", "s", { cwd, startedAt: START, calls });
  await t.send("POST", "/api/import", { all: true });
  const { status, body } = await t.send<SandboxInfo>("POST", "/api/replay/start", { sessionId });
  expect(status, JSON.stringify(body)).toBe(200);
  return {
    t,
    cwd,
    sandbox: body,
    plan: () => t.json<PlanReport>(`/api/sessions/${encodeURIComponent(sessionId)}/replay-plan`),
  };
}

it("hostile trees stay inside: links out, .git, unsafe names and submodules are left out, and said", async () => {
  const { sandbox } = await start(async (home) => {
    const root = join(home, "repo");
    const files = new Map<string, Buffer | { mode: string; data: Buffer | string }>([
      ["fine.sh", { mode: "100755", data: Buffer.from("#!/bin/sh\n") }],
      ["inside", { mode: "120000", data: Buffer.from("fine.sh") }],
      ["absolute", { mode: "120000", data: Buffer.from("/etc/passwd") }],
      ["up", { mode: "120000", data: Buffer.from("../../..") }],
      ["deep/up", { mode: "120000", data: Buffer.from("../../x") }],
      ["sub", { mode: "160000", data: "1".repeat(40) }],
      ["big.psd", Buffer.from("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n")],
      ["new\nline.txt", Buffer.from("n")],
    ]);
    await writeCommits(root, [{ at: FIRST, files }]);
    return root;
  });
  expect((await readdir(sandbox.path)).sort()).toEqual(["big.psd", "fine.sh", "inside", "new\nline.txt"]);
  expect((await lstat(join(sandbox.path, "fine.sh"))).mode & 0o777).toBe(0o755);
  const notes = sandbox.notes.join("\n");
  expect(notes).toContain("3: links that lead out of the project are left out");
  expect(notes).toContain("1: submodules are empty");
  expect(notes).toContain("1: files of Git LFS are pointers");
});

it("hooks, filters and attributes of the repository do not run", async () => {
  const { t, sandbox } = await start(async (home) => {
    const root = join(home, "repo");
    const files = new Map([
      [".gitattributes", Buffer.from("*.txt filter=evil text eol=crlf ident export-subst\n")],
      ["a.txt", Buffer.from("$Id$ $Format:%H$\n")],
    ]);
    await writeCommits(root, [{ at: FIRST, files }]);
    await runGit(root, ["config", "filter.evil.smudge", `touch ${home}/pwned`]);
    await runGit(root, ["config", "filter.evil.process", `touch ${home}/pwned`]);
    for (const hook of ["post-checkout", "post-index-change"]) {
      await mkdir(join(root, ".git/hooks"), { recursive: true });
      await writeFile(join(root, ".git/hooks", hook), `#!/bin/sh\ntouch ${home}/pwned\n`);
      await chmod(join(root, ".git/hooks", hook), 0o755);
    }
    return root;
  });
  expect(await readFile(join(sandbox.path, "a.txt"), "utf8")).toBe("$Id$ $Format:%H$\n");
  expect(existsSync(join(t.home, "pwned"))).toBe(false);
});

it("the commit is the newest at or before the session's start, and a session in a subfolder stands for the repository", async () => {
  const { sandbox, plan } = await start(
    async (home) => {
      const root = join(home, "repo");
      const at = (text: string) => new Map([["sub/a.txt", Buffer.from(text)]]);
      await writeCommits(root, [
        { at: FIRST, files: at("first") },
        { at: START, files: at("at the start") },
        { at: "2026-01-03T00:00:00Z", files: at("later") },
      ]);
      return join(root, "sub");
    },
    [
      put("a.txt", "new"),
      put("../b.txt"),
      put("../../outside.txt"),
      put("/etc/passwd"),
      put("../.git/config"),
      put(".GIT/hooks/x"),
    ],
  );
  expect(await filesBelow(sandbox.path)).toEqual(new Map([["sub/a.txt", Buffer.from("at the start")]]));
  const { steps } = await plan();
  expect(steps.map(({ path, supported, outside }) => [path, supported, outside])).toEqual([
    ["sub/a.txt", true, false],
    ["b.txt", true, false],
    ["../../outside.txt", false, true],
    ["/etc/passwd", false, true],
    [".git/config", false, false],
    ["sub/.GIT/hooks/x", false, false],
  ]);
});

it("work that was not committed is laid over, as far as the log shows it whole, and said", async () => {
  const look = (path: string, text: string, more: object = {}): LoggedCall => ({
    name: "look",
    input: { path, ...more },
    result: { text },
  });
  const numbered = (text: string) =>
    text
      .split("\n")
      .map((line, i) => `${String(i + 1).padStart(6)}\t${line}`)
      .join("\n");
  const { sandbox } = await start(
    async (home) => {
      const root = join(home, "repo");
      const names = ["changed.txt", "same.txt", "part.txt", "cut.txt", "after.txt", "crlf.txt", "only-read.txt"];
      const files = new Map(
        names.map((name) => [name, Buffer.from(name === "crlf.txt" ? "one\r\ntwo\r\n" : "one\ntwo\n")]),
      );
      await writeCommits(root, [{ at: FIRST, files }]);
      return root;
    },
    [
      look("changed.txt", numbered("one\nuncommitted")),
      look("same.txt", numbered("one\ntwo")),
      look("part.txt", numbered("two"), { offset: 2 }),
      look("cut.txt", "one"),
      look("crlf.txt", "one\nzwei\n"),
      look("fresh.txt", "not in git\n"),
      look("only-read.txt", "other\n"),
      put("after.txt"),
      look("after.txt", "x"),
      ...["changed.txt", "same.txt", "part.txt", "cut.txt", "crlf.txt", "fresh.txt"].map((name) => put(name)),
    ],
  );
  const files = await filesBelow(sandbox.path);
  expect(Object.fromEntries([...files].map(([path, data]) => [path, data.toString()]))).toEqual({
    "changed.txt": "one\nuncommitted\n",
    "same.txt": "one\ntwo\n",
    "part.txt": "one\ntwo\n",
    "cut.txt": "one\ntwo\n",
    "after.txt": "one\ntwo\n",
    "crlf.txt": "one\r\nzwei\r\n",
    "fresh.txt": "not in git\n",
    "only-read.txt": "one\ntwo\n",
  });
  expect(sandbox.notes).toEqual([
    "Not committed when the session began, taken from what it read: changed.txt (message 1), crlf.txt (message 9)",
    "Not in the commit, taken from what the session read: fresh.txt (message 11)",
  ]);
});

it.each([
  ["a folder without a repository", async (home: string) => join(home, "plain"), "no repository"],
  ["a folder that is gone", async (home: string) => join(home, "gone/for/good"), "no repository"],
  [
    "a history that began later",
    async (home: string) => {
      await writeCommits(join(home, "repo"), [
        { at: "2026-02-01T00:00:00Z", files: new Map([["a", Buffer.from("a")]]) },
      ]);
      return join(home, "repo");
    },
    "Nothing was committed before",
  ],
])("%s begins empty, and reports it", async (_, root, note) => {
  const { sandbox } = await start(root, [put("made.txt")]);
  expect(sandbox.base).toBeNull();
  expect(sandbox.notes[0]).toContain(note);
  expect(await readdir(sandbox.path)).toEqual([]);
});
