import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createGit } from "../../plugins/git/git.ts";
import { countingGit, describeGit, makeRepo, oldGit, openGit, repoAt, T0, tempFolder } from "./_repo.ts";

const catFiles = () => children(/ cat-file --batch/);

/** Process ids of our children. */
function children(pattern: RegExp): number[] {
  const rows = execFileSync("ps", ["-o", "pid=,ppid=,args=", "-A"]).toString().split("\n");
  return rows.flatMap((row) => {
    const [, pid, parent, args = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(row) ?? [];
    return Number(parent) === process.pid && pattern.test(args) ? [Number(pid)] : [];
  });
}

function repoWithFiles(count = 3) {
  const repo = makeRepo();
  for (let i = 0; i < count; i++) repo.write(`f${i}`, `content ${i}`);
  return { repo, head: repo.commit("one") };
}

describeGit("processes", () => {
  it("keeps one cat-file per repository, at most as many as allowed, and none after close", async () => {
    const repos = [repoWithFiles(), repoWithFiles(), repoWithFiles()];
    const git = createGit({ maxProcesses: 2 });
    const ask = ({ repo, head }: (typeof repos)[number]) =>
      Promise.all(["f0", "f1", "f2"].map((path) => git.fileAt(repo.root, head, path)));
    for (const one of repos.slice(0, 2)) await ask(one);
    const first = catFiles();
    expect(first).toHaveLength(2);
    for (const one of repos.slice(0, 2)) await ask(one);
    expect(catFiles()).toEqual(first);
    const answers = await Promise.all([...repos, ...repos].map(ask));
    expect(answers.flat().every((file) => file.content?.startsWith("content"))).toBe(true);
    await expect.poll(catFiles).toHaveLength(2);
    await git.close();
    expect(catFiles()).toEqual([]);
    await expect(git.fileAt(repos[0]?.repo.root ?? "", repos[0]?.head ?? "", "f0")).rejects.toMatchObject({
      code: "GIT_FAILED",
    });
  });

  it("ends on close what is still running", async () => {
    const { repo } = repoWithFiles();
    execFileSync("mkfifo", [join(repo.root, ".git", "pipe")]);
    repo.git("config", "core.excludesFile", join(repo.root, ".git", "pipe"));
    repo.write("untracked", "1");
    const git = createGit();
    const waiting = git.status(repo.root, { deadlineMs: 20_000 });
    await expect.poll(() => children(/ status /)).toHaveLength(1);
    await git.close();
    expect(await waiting).toBeNull();
    expect(children(/ status /)).toEqual([]);
  });

  it("ends a process that is idle, and starts another when it is needed", async () => {
    const { repo, head } = repoWithFiles();
    const git = openGit({ idleMs: 20 });
    await git.fileAt(repo.root, head, "f0");
    await expect.poll(catFiles).toEqual([]);
    expect(await git.fileAt(repo.root, head, "f1")).toMatchObject({ content: "content 1" });
  });

  it("goes on when the process was ended from outside", async () => {
    const { repo, head } = repoWithFiles();
    const git = openGit();
    await git.fileAt(repo.root, head, "f0");
    for (const pid of catFiles()) process.kill(pid, "SIGKILL");
    expect(await git.fileAt(repo.root, head, "f1")).toMatchObject({ content: "content 1" });
  });

  it("gives up on an object that does not come, and goes on with another process", async () => {
    const { repo, head } = repoWithFiles();
    const folder = tempFolder();
    const stuck = join(folder, "stuck");
    writeFileSync(stuck, "");
    const binary = join(folder, "git");
    const wait = `if [ -e '${stuck}' ]; then case "$*" in *cat-file*) exec tail -f /dev/null;; esac; fi`;
    writeFileSync(binary, `#!/bin/sh\n${wait}\nexec git "$@"\n`, { mode: 0o755 });
    const git = openGit({ binary, timeoutMs: 1_000 });
    const both = await Promise.allSettled([git.fileAt(repo.root, head, "f0"), git.fileAt(repo.root, head, "f1")]);
    expect(both.map((one) => one.status === "rejected" && one.reason)).toMatchObject([
      { code: "GIT_TIMEOUT", status: 504 },
      { code: expect.stringMatching(/GIT_(TIMEOUT|FAILED)/) },
    ]);
    await expect.poll(() => children(/tail -f/)).toEqual([]);
    rmSync(stuck);
    // On a busy machine git itself may start later than in the second it has here.
    const file = () => git.fileAt(repo.root, head, "f0").catch(() => undefined);
    await expect.poll(file).toMatchObject({ content: "content 0" });
    await expect.poll(catFiles).toHaveLength(1);
  });

  it("fails only the reader of a damaged object, not those beside it", async () => {
    const { repo, head } = repoWithFiles(8);
    const hash = repo.git("rev-parse", `${head}:f3`);
    execFileSync("sh", [
      "-c",
      `chmod u+w "$1" && printf garbage > "$1"`,
      "sh",
      join(repo.root, ".git/objects", hash.slice(0, 2), hash.slice(2)),
    ]);
    const git = openGit();
    const answers = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => git.fileAt(repo.root, head, `f${i}`)));
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: 8 }, (_, i) => (i === 3 ? "rejected" : "fulfilled")),
    );
  });

  it("needs no further process for what is known of a commit", async () => {
    const { repo, head } = repoWithFiles();
    repo.write("other", "1");
    const second = repo.commit("two");
    const { binary, calls } = countingGit();
    const git = openGit({ binary });
    const at = new Date((T0 + 9999) * 1000).toISOString();
    await git.commitAt(repo.root, at);
    await git.fileAt(repo.root, second, "f0");
    expect(calls()).toEqual(["version", "cat-file", "rev-list", "rev-list"]);
    await git.commitAt(repo.root, at);
    await git.fileAt(repo.root, second, "f0");
    await git.fileAt(repo.root, head, "f1");
    await git.treeAt(repo.root, second);
    await git.treeAt(repo.root, second);
    expect(calls().slice(4).sort()).toEqual(["diff-tree", "ls-tree"]);
  });

  it("works with git older than --batch-command", async () => {
    const { repo, head } = repoWithFiles();
    const git = openGit({ binary: oldGit() });
    expect(await git.fileAt(repo.root, head, "f2")).toMatchObject({ content: "content 2", status: "added" });
    expect((await git.treeAt(repo.root, head)).files).toHaveLength(3);
    await expect(git.fileAt(repo.root, "1234567", "f2")).rejects.toMatchObject({ code: "COMMIT_NOT_FOUND" });
  });

  it("says that git is missing", async () => {
    const { repo, head } = repoWithFiles();
    const git = openGit({ binary: "/nonexistent/git" });
    await expect(git.fileAt(repo.root, head, "f0")).rejects.toMatchObject({ code: "GIT_MISSING", status: 422 });
  });

  it("reads what was packed and what was added while it runs", async () => {
    const { repo, head } = repoWithFiles();
    const git = openGit();
    await git.fileAt(repo.root, head, "f0");
    repo.write("f0", "changed");
    const second = repo.commit("two");
    repo.git("gc", "-q", "--prune=now");
    expect(await git.fileAt(repo.root, second, "f0")).toMatchObject({ content: "changed", previous: "content 0" });
    const clone = join(tempFolder(), "clone");
    repo.git("clone", "-q", repo.root, clone);
    repoAt(clone).write("f0", "again");
    const third = repoAt(clone).commit("three", T0 + 500);
    repo.git("pull", "-q", clone);
    expect(await git.fileAt(repo.root, third, "f0")).toMatchObject({ previous: "changed", previousCommit: second });
  });
});
