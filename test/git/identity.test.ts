import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseCommit } from "../../plugins/git/history/objects.ts";
import { findRemote, parseConfig, withoutUserinfo } from "../../plugins/git/repository/config.ts";
import { countingGit, describeGit, makeRepo, openGit, repoAt, tempFolder, testEnv } from "./_repo.ts";

describeGit("identity", () => {
  it("folds subfolders, files, links and worktrees into the main repository", async () => {
    const repo = makeRepo();
    repo.write("packages/a/index.ts", "1");
    const first = repo.commit("one");
    repo.git("remote", "add", "origin", "git@example.org:team/app.git");
    const tree = join(tempFolder(), "tree");
    repo.git("worktree", "add", "-q", "-b", "topic", tree);
    mkdirSync(join(tree, "sub"));
    const link = join(tempFolder(), "link");
    symlinkSync(join(repo.root, "packages"), link);
    const git = openGit();
    const main = {
      kind: "repository",
      root: repo.root,
      worktree: repo.root,
      gitDir: join(repo.root, ".git"),
      commonDir: join(repo.root, ".git"),
      bare: false,
      remote: "example.org:team/app.git",
      rootCommits: [first],
    };
    for (const path of [repo.root, `${repo.root}/`, join(repo.root, "packages/a"), link, join(link, "a/index.ts")]) {
      expect(await git.identity(path), path).toEqual(main);
    }
    const linked = { ...main, worktree: tree, gitDir: join(repo.root, ".git/worktrees/tree") };
    expect(await git.identity(tree)).toEqual(linked);
    expect(await git.identity(join(tree, "sub"))).toEqual(linked);
  });

  it("takes a submodule and a nested repository as their own, and a submodule's worktree as the submodule", async () => {
    const inner = makeRepo();
    inner.write("a", "1");
    inner.commit("inner");
    const outer = makeRepo();
    outer.commit("outer");
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.root, "lib/inner");
    const nested = makeRepo(join(outer.root, "nested"));
    const git = openGit();
    const sub = join(outer.root, "lib/inner");
    expect(await git.identity(sub)).toMatchObject({ root: sub, gitDir: join(outer.root, ".git/modules/lib/inner") });
    expect(await git.identity(nested.root)).toMatchObject({ root: nested.root, rootCommits: [] });
    const tree = join(tempFolder(), "tree");
    repoAt(sub).git("worktree", "add", "-q", "--detach", tree);
    expect(await git.identity(tree)).toMatchObject({ root: sub, worktree: tree });
  });

  it("knows bare repositories, alone and in the .git of a folder of worktrees", async () => {
    const repo = makeRepo();
    repo.commit("one");
    const folder = tempFolder();
    repo.git("clone", "-q", "--bare", repo.root, join(folder, "app.git"));
    repo.git("clone", "-q", "--bare", repo.root, join(folder, "app/.git"));
    const git = openGit();
    expect(await git.identity(join(folder, "app.git"))).toMatchObject({
      root: join(folder, "app.git"),
      bare: true,
      worktree: null,
    });
    expect(await git.identity(join(folder, "app.git/objects"))).toMatchObject({ root: join(folder, "app.git") });
    expect(await git.identity(join(folder, "app"))).toMatchObject({ root: join(folder, "app"), bare: true });
    repoAt(join(folder, "app/.git")).git("worktree", "add", "-q", "-b", "topic", join(folder, "app/topic"));
    expect(await git.identity(join(folder, "app/topic"))).toMatchObject({
      root: join(folder, "app"),
      worktree: join(folder, "app/topic"),
      bare: false,
    });
    expect(await git.identity(join(repo.root, ".git"))).toMatchObject({ root: repo.root, bare: false });
  });

  it("tells missing from folder, and takes no half repository", async () => {
    const folder = tempFolder();
    const git = openGit();
    expect(await git.identity(folder)).toEqual({ kind: "folder" });
    expect(await git.identity(join(folder, "gone"))).toEqual({ kind: "missing" });
    expect(await git.identity(".")).toEqual({ kind: "missing" });
    expect(await git.identity("")).toEqual({ kind: "missing" });
    expect(await git.identity("/x\0y")).toEqual({ kind: "missing" });
    mkdirSync(join(folder, "empty/.git"), { recursive: true });
    expect(await git.identity(join(folder, "empty"))).toEqual({ kind: "folder" });
    mkdirSync(join(folder, "broken"));
    writeFileSync(join(folder, "broken/.git"), "gitdir: ../nowhere\n");
    expect(await git.identity(join(folder, "broken"))).toEqual({ kind: "folder" });
  });

  it("does not believe a configuration that names another folder as its work tree", async () => {
    const repo = makeRepo();
    repo.commit("one");
    renameSync(join(repo.root, ".git"), join(repo.root, "store"));
    const victim = tempFolder();
    writeFileSync(join(repo.root, ".git"), "gitdir: store\n");
    repoAt(repo.root).git("config", "core.worktree", victim);
    execFileSync("git", ["--git-dir=store", "worktree", "add", "-q", "--detach", join(repo.root, "wt")], {
      cwd: repo.root,
      env: testEnv(),
    });
    expect(await openGit().identity(join(repo.root, "wt"))).toMatchObject({ root: join(repo.root, "store") });
  });

  it("does not hang on a pipe in place of a file", async () => {
    const repo = makeRepo();
    execFileSync("mkfifo", [join(repo.root, "pipe")]);
    renameSync(join(repo.root, "pipe"), join(repo.root, ".git/HEAD"));
    expect(await openGit().identity(repo.root)).toEqual({ kind: "folder" });
  });

  it("asks for root commits once per HEAD, and not in a shallow clone", async () => {
    const repo = makeRepo();
    const first = repo.commit("one");
    repo.git("checkout", "-q", "--orphan", "other");
    const second = repo.commit("two");
    repo.git("merge", "-q", "--allow-unrelated-histories", "-m", "merge", "main");
    const { binary, calls } = countingGit();
    const git = openGit({ binary });
    const roots = [first, second].sort();
    await Promise.all(["", "/.", "//"].map((tail) => git.identity(repo.root + tail)));
    expect(await git.identity(repo.root)).toMatchObject({ rootCommits: roots });
    expect(calls()).toEqual(["rev-list"]);
    await git.identity(repo.root, { rootCommits: false });
    repo.commit("three");
    repo.git("pack-refs", "--all");
    expect(await git.identity(repo.root)).toMatchObject({ rootCommits: roots });
    expect(calls()).toEqual(["rev-list", "rev-list"]);
    const root = join(tempFolder(), "shallow");
    repo.git("clone", "-q", "--depth", "1", `file://${repo.root}`, root);
    expect(await git.identity(root)).not.toHaveProperty("rootCommits");
  });

  it("works without git, only without root commits", async () => {
    const repo = makeRepo();
    repo.commit("one");
    const identity = await openGit({ binary: "/nonexistent/git" }).identity(repo.root);
    expect(identity).toMatchObject({ kind: "repository", root: repo.root });
    expect(identity).not.toHaveProperty("rootCommits");
  });
});

describe("configuration", () => {
  it("is read as git reads it", () => {
    const text = [
      "\uFEFF# comment",
      "[core] bare = false ; inline",
      '[Remote "Ori.Gin \\"x\\""]',
      '\turl = "https://h/a;b" # rest',
      "[remote.old]",
      "\turl = a\\",
      " b  c   ",
      "[flags]\r",
      "\tON",
      '\ttext = "  kept " \\t',
      '[remote "origin"] url = first',
      '[remote "origin"]',
      "url=ssh://git:pw@h:22/x",
    ].join("\n");
    const entries = Object.fromEntries(parseConfig(text).map(({ key, value }) => [key, value]));
    expect(entries).toEqual({
      "core.bare": "false",
      'remote.Ori.Gin "x".url': "https://h/a;b",
      "remote.old.url": "a b  c",
      "flags.on": "true",
      "flags.text": "  kept  \t",
      "remote.origin.url": "ssh://git:pw@h:22/x",
    });
    expect(findRemote(parseConfig(text))).toBe("first");
  });

  it("takes hostile text in linear time and constant depth", () => {
    const long = 400_000;
    for (const text of [`[a${" ".repeat(long)}x`, `[a "${"\\\\".repeat(long)}`, `[a]\n${"b ".repeat(long)}`])
      parseConfig(text);
    const url = `${"a::".repeat(long)}https://u:p@h/x`;
    expect(withoutUserinfo(url)).toHaveLength(url.length - "u:p@".length);
    expect(findRemote([{ key: "remote.origin.url", value: url }])).toHaveLength(2048);
    const author = Buffer.from(`tree x\nauthor ${"<".repeat(long)}\n\n${" \n".repeat(long)}`);
    expect(parseCommit("0", author)).toMatchObject({ author: "", subject: "" });
  });

  it.each([
    ["https://user:tok%40en@h/x.git?a=b#c", "https://h/x.git"],
    ["https://tok@en@h/x", "https://h/x"],
    ["git@github.com:o/r.git", "github.com:o/r.git"],
    ["ssh://git@h:22/~/r", "ssh://h:22/~/r"],
    ["/srv/git/a@b:c.git", "/srv/git/a@b:c.git"],
    ["../up", "../up"],
    ["C:\\repos\\x", "C:\\repos\\x"],
    ["ext::https://u:p@h/x", "ext::https://h/x"],
    ["HTTPS://u:p@H/x", "HTTPS://H/x"],
    ["host:path@v", "host:path@v"],
  ])("%s is shown as %s", (url, shown) => {
    expect(withoutUserinfo(url)).toBe(shown);
  });
});
