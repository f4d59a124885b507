import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Git } from "../../plugins/git/index.ts";
import { importHistory } from "./_history.ts";
import { describeGit, iso, makeRepo, oldGit, openGit, repoAt, T0, tempFolder, testEnv } from "./_repo.ts";

/** git 2.45 knows references in tables. */
const hasReftable = / --ref-format/.test(spawnSync("git", ["init", "-h"]).stdout?.toString() ?? "");

describeGit("commitAt", () => {
  it("answers beforeHistory before the first commit and on an unborn branch", async () => {
    const repo = makeRepo();
    const git = openGit();
    expect(await git.commitAt(repo.root, iso(T0))).toEqual({
      ...{ commit: null, beforeHistory: true, dirtyUnknown: true },
      ...{ evidence: "time", others: [] },
    });
    const first = repo.commit("one", T0 + 100);
    expect(await git.commitAt(repo.root, iso(T0 + 99))).toMatchObject({ commit: null, beforeHistory: true });
    expect(await git.commitAt(repo.root, iso(T0 + 100))).toMatchObject({
      commit: { hash: first },
      beforeHistory: false,
      dirtyUnknown: false,
    });
    expect(await git.commitAt(repo.root, iso(T0 + 101))).toMatchObject({ commit: { hash: first }, dirtyUnknown: true });
  });

  it("sees a new commit at once, though the list of commits is kept", async () => {
    const repo = makeRepo();
    const git = openGit();
    repo.commit("one", T0 + 100);
    await git.commitAt(repo.root, iso(T0 + 500));
    const second = repo.commit("two", T0 + 200);
    expect(await git.commitAt(repo.root, iso(T0 + 500))).toMatchObject({ commit: { hash: second, subject: "two" } });
    repo.git("reset", "-q", "--hard", "HEAD~1");
    expect(await git.commitAt(repo.root, iso(T0 + 500))).toMatchObject({ commit: { subject: "one" } });
  });

  it("reads messages in old encodings, empty ones and folded subjects", async () => {
    const repo = makeRepo();
    const git = openGit();
    repo.git("config", "i18n.commitEncoding", "ISO-8859-1");
    repo.write(".msg", Buffer.from("gr\xfc\xdfe\n", "latin1"));
    repo.git("commit", "-q", "--allow-empty", "-F", ".msg");
    expect(await git.commitAt(repo.root, iso(T0 + 9999))).toMatchObject({ commit: { subject: "grüße" } });
    repo.git("config", "--unset", "i18n.commitEncoding");
    repo.commit("first line\nsecond line\n\nbody");
    expect(await git.commitAt(repo.root, iso(T0 + 9999))).toMatchObject({
      commit: { subject: "first line second line" },
    });
    repo.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "");
    expect(await git.commitAt(repo.root, iso(T0 + 9999))).toMatchObject({
      commit: { subject: "", author: "Ada Author" },
    });
  });
});

describeGit("fileAt", () => {
  it("takes the shown path, the percent form and the bytes of a name that is no UTF-8", async () => {
    const repo = importHistory(
      [
        { branch: 0, merge: [], root: false, step: 1, edits: [edit("write", 17)] },
        { branch: 0, merge: [], root: false, step: 1, edits: [edit("write", 18)] },
      ],
      join(tempFolder(), "repo.git"),
    );
    const head = repo.git("rev-parse", "HEAD");
    const git = openGit();
    const tree = await git.treeAt(repo.root, head);
    expect(tree.files.map((file) => file.pathBytes)).toEqual(["caf%E8.txt", "caf%E9.txt"]);
    for (const file of tree.files) {
      const byForm = await git.fileAt(repo.root, head, file.pathBytes ?? "");
      expect(byForm).toMatchObject({ path: "caf\uFFFD.txt", pathBytes: file.pathBytes });
      expect(await git.fileAt(repo.root, head, file.path)).toMatchObject({ path: "caf\uFFFD.txt" });
    }
  });

  it("cuts off binary and huge content on either side, without holding it", async () => {
    const repo = makeRepo();
    repo.write("big", Buffer.alloc(2 * 1024 * 1024 + 1, "x"));
    repo.write("edge", Buffer.alloc(2 * 1024 * 1024, "x"));
    repo.write("bin", Buffer.from([1, 0, 2]));
    repo.write("late", `${"x".repeat(8000)}\0`);
    const first = repo.commit("one");
    repo.write("big", "small now");
    repo.write("bin", "text now");
    const second = repo.commit("two");
    for (const git of [openGit(), openGit({ binary: oldGit() })]) {
      expect(await git.fileAt(repo.root, first, "big")).toMatchObject({ content: null, tooLarge: true, binary: false });
      expect((await git.fileAt(repo.root, first, "edge")).content).toHaveLength(2 * 1024 * 1024);
      expect(await git.fileAt(repo.root, first, "bin")).toMatchObject({ content: null, tooLarge: false, binary: true });
      expect((await git.fileAt(repo.root, first, "late")).content).toHaveLength(8001);
      expect(await git.fileAt(repo.root, second, "big")).toMatchObject({
        content: "small now",
        previous: null,
        tooLarge: true,
        previousCommit: first,
      });
      expect(await git.fileAt(repo.root, second, "bin")).toMatchObject({
        content: "text now",
        previous: null,
        binary: true,
      });
    }
  });

  it("cuts listings at 50,000 files and reports it", async () => {
    const root = join(tempFolder(), "many.git");
    const repo = importHistory([{ branch: 0, merge: [], root: false, step: 1, edits: [edit("write", 0)] }], root);
    const rows = Array.from({ length: 50_001 }, (_, i) => `M 100644 inline d${i % 50}/f${i}\ndata 1\nx`);
    const commit = `commit refs/heads/main\ncommitter a <a@x> ${T0 + 9} +0000\ndata 1\nc\nfrom refs/heads/main^0\n`;
    const input = `${commit}${rows.join("\n")}\n`;
    execFileSync("git", ["fast-import", "--quiet"], { cwd: root, env: testEnv(), input });
    const tree = await openGit().treeAt(root, repo.git("rev-parse", "main"));
    expect(tree).toMatchObject({ truncated: true });
    expect([tree.files.length, tree.changed.length]).toEqual([50_000, 50_000]);
  });

  it("shows what a commit deleted, and knows no path that was never there, no folder and no way out of the tree", async () => {
    const repo = makeRepo();
    repo.write("d/a", "old");
    repo.write("b", "1");
    const first = repo.commit("one");
    repo.git("rm", "-q", "d/a");
    const second = repo.commit("two");
    const git = openGit();
    expect(await git.fileAt(repo.root, second, "d/a")).toMatchObject({
      content: null,
      previous: "old",
      previousCommit: first,
      status: "deleted",
    });
    const third = repo.commit("three");
    for (const path of ["d/a", "d", "", "/", "/b", "b/", "./b", "../b", "b/../b", "b\0", ".git/config", "HEAD"]) {
      await expect(git.fileAt(repo.root, third, path), path).rejects.toMatchObject({
        code: "FILE_NOT_FOUND",
        status: 404,
      });
    }
  });

  it("follows a chain of renames, one version at a time", async () => {
    const repo = makeRepo();
    const text = Array.from({ length: 30 }, (_, i) => `line ${i}\n`).join("");
    repo.write("a", text);
    const first = repo.commit("one");
    repo.git("mv", "a", "b");
    repo.write("b", text.replace("line 3\n", "line three\n"));
    const second = repo.commit("two");
    repo.commit("unrelated");
    repo.git("mv", "b", "c");
    const fourth = repo.commit("four");
    const git = openGit();
    const last = await git.fileAt(repo.root, fourth, "c");
    expect(last).toMatchObject({ status: "renamed", previousPath: "b" });
    const middle = await git.fileAt(repo.root, last.previousCommit ?? "", last.previousPath ?? "");
    expect(middle).toMatchObject({ status: "unchanged", lastCommit: second, previousPath: "a", previousCommit: first });
    expect(middle.previous).toBe(text);
  });
});

describeGit("unusual repositories", () => {
  it("answers for shallow clones up to where they are cut", async () => {
    const repo = makeRepo();
    repo.write("a", "1");
    repo.commit("one", T0 + 10);
    repo.write("a", "2");
    const second = repo.commit("two", T0 + 20);
    repo.write("b", "1");
    repo.commit("three", T0 + 30);
    const root = join(tempFolder(), "shallow");
    repo.git("clone", "-q", "--depth", "2", `file://${repo.root}`, root);
    const git = openGit();
    expect(await git.commitAt(root, iso(T0 + 15))).toMatchObject({ commit: null, beforeHistory: true });
    expect(await git.commitAt(root, iso(T0 + 25))).toMatchObject({ commit: { hash: second, parents: [] } });
    expect(await git.fileAt(root, second, "a")).toMatchObject({ content: "2", status: "added", previous: null });
    expect((await git.treeAt(root, second)).changed).toEqual([{ path: "a", status: "added" }]);
  });

  it("reports it when a partial clone lacks a content, and fetches nothing", async () => {
    const repo = makeRepo();
    repo.git("config", "uploadpack.allowFilter", "true");
    repo.write("a", "1");
    const first = repo.commit("one");
    repo.write("a", "2");
    const second = repo.commit("two");
    const root = join(tempFolder(), "partial");
    repo.git("clone", "-q", "--filter=blob:none", `file://${repo.root}`, root);
    const git = openGit();
    expect((await git.treeAt(root, first)).files).toEqual([{ path: "a", mode: "100644", size: null }]);
    await expect(git.fileAt(root, first, "a")).rejects.toMatchObject({ code: "OBJECT_MISSING", status: 422 });
    expect(await git.commitAt(root, iso(T0 + 9999))).toMatchObject({ commit: { hash: second } });
    expect(repoAt(root).git("rev-list", "--objects", "--missing=print", "--all")).toContain("?");
  });

  it("reads worktrees, submodules and detached heads by their own HEAD", async () => {
    const repo = makeRepo();
    const first = repo.commit("one", T0 + 10);
    repo.commit("two", T0 + 20);
    const tree = join(tempFolder(), "tree");
    repo.git("worktree", "add", "-q", "--detach", tree, first);
    const git = openGit();
    expect(await git.commitAt(tree, iso(T0 + 99))).toMatchObject({ commit: { subject: "one" } });
    expect(await git.commitAt(repo.root, iso(T0 + 99))).toMatchObject({ commit: { subject: "two" } });
  });

  it("reads what other object folders hold, and reports it when they are gone", async () => {
    const repo = makeRepo();
    repo.write("a", "1");
    const first = repo.commit("one", T0 + 10);
    const root = join(tempFolder(), "shared");
    repo.git("clone", "-q", "--shared", repo.root, root);
    const clone = repoAt(root);
    clone.write("a", "2");
    const second = clone.commit("two", T0 + 20);
    const git = openGit();
    expect(await git.fileAt(root, second, "a")).toMatchObject({ content: "2", previous: "1", previousCommit: first });
    expect(await git.commitAt(root, iso(T0 + 15))).toMatchObject({ commit: { hash: first } });
    rmSync(join(repo.root, ".git", "objects"), { recursive: true });
    const other = openGit();
    await expect(other.fileAt(root, first, "a")).rejects.toMatchObject({ name: "SessarcError" });
    expect(await other.fileAt(root, second, "a").catch((error: Error) => error.name)).toBe("SessarcError");
  });

  it("takes a hash for what was committed: replacements and grafts change nothing, also when they come later", async () => {
    const repo = makeRepo();
    repo.write("a", "true");
    const first = repo.commit("one", T0 + 10);
    repo.write("a", "changed");
    const second = repo.commit("two", T0 + 20);
    const git = openGit();
    const ask = async (from: Git) => [
      await from.commitAt(repo.root, iso(T0 + 99)),
      await from.treeAt(repo.root, second),
      await from.fileAt(repo.root, second, "a"),
      await from.fileAt(repo.root, first, "a"),
      await from.status(repo.root),
    ];
    const before = await ask(git);
    expect(before[2]).toMatchObject({ content: "changed", previous: "true", previousCommit: first });
    const forged = repo.git("commit-tree", "-m", "forged", `${first}^{tree}`);
    repo.git("replace", second, forged);
    const blob = execFileSync("git", ["hash-object", "-w", "--stdin"], {
      cwd: repo.root,
      env: testEnv(),
      input: "forged",
    });
    repo.git("replace", repo.git("rev-parse", `${first}:a`), blob.toString().trim());
    writeFileSync(join(repo.root, ".git", "info", "grafts"), `${second}\n`);
    expect(await ask(git)).toEqual(before);
    expect(await ask(openGit())).toEqual(before);
  });

  it("finds branches that stand only among the packed references", async () => {
    const repo = makeRepo();
    repo.write("a", "1");
    const first = repo.commit("one", T0 + 10);
    repo.git("pack-refs", "--all", "--prune");
    expect(existsSync(join(repo.root, ".git/refs/heads/main"))).toBe(false);
    const git = openGit();
    expect(await git.commitAt(repo.root, iso(T0 + 99))).toMatchObject({ commit: { hash: first } });
    expect(await git.status(repo.root)).toMatchObject({ branch: "main", head: first });
    repo.write("a", "2");
    const second = repo.commit("two", T0 + 20);
    expect(await git.commitAt(repo.root, iso(T0 + 99))).toMatchObject({ commit: { hash: second } });
  });

  it.skipIf(!hasReftable)("reads references kept in tables (git 2.45 and later)", async () => {
    const repo = makeRepo(tempFolder(), "--ref-format=reftable");
    repo.write("a", "1");
    const first = repo.commit("one", T0 + 10);
    repo.git("checkout", "-q", "-b", "topic");
    const git = openGit();
    expect(await git.commitAt(repo.root, iso(T0 + 99))).toMatchObject({ commit: { hash: first } });
    expect(await git.fileAt(repo.root, first, "a")).toMatchObject({ content: "1", status: "added" });
    expect(await git.status(repo.root)).toMatchObject({ branch: "topic", head: first, commitCount: 1 });
    expect(await git.identity(repo.root)).toMatchObject({ root: repo.root });
  });

  it("reads a submodule as its own repository, and as an entry without content in the one around it", async () => {
    const inner = makeRepo();
    inner.write("a", "inner");
    const innerHead = inner.commit("inner", T0 + 5);
    const outer = makeRepo();
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.root, "lib/inner");
    const head = outer.commit("outer", T0 + 10);
    const git = openGit();
    expect((await git.treeAt(outer.root, head)).files).toContainEqual({
      path: "lib/inner",
      mode: "160000",
      size: null,
    });
    expect(await git.fileAt(outer.root, head, "lib/inner")).toMatchObject({
      mode: "160000",
      content: null,
      status: "added",
    });
    await expect(git.fileAt(outer.root, head, "lib/inner/a")).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    const sub = join(outer.root, "lib/inner");
    expect(await git.commitAt(sub, iso(T0 + 99))).toMatchObject({ commit: { hash: innerHead } });
    expect(await git.fileAt(sub, innerHead, "a")).toMatchObject({ content: "inner" });
  });

  it("knows commits by hash alone: not by name, range, option or a branch that looks like a hash", async () => {
    const repo = makeRepo();
    const head = repo.commit("one");
    repo.git("branch", "abcdef1");
    const git = openGit();
    expect((await git.treeAt(repo.root, head.slice(0, 7).toUpperCase())).commit).toBe(head);
    for (const commit of [
      "HEAD",
      "main",
      `${head}^`,
      `${head}..`,
      "--output=x",
      "-1234567",
      head.slice(0, 6),
      `${head}\n`,
      "",
    ]) {
      await expect(git.treeAt(repo.root, commit), commit).rejects.toMatchObject({ code: "INVALID_INPUT", status: 400 });
    }
    for (const commit of ["abcdef1", "0".repeat(40), "f".repeat(64), repo.git("rev-parse", "HEAD^{tree}")]) {
      await expect(git.treeAt(repo.root, commit), commit).rejects.toMatchObject({
        code: "COMMIT_NOT_FOUND",
        status: 404,
      });
    }
    await expect(git.treeAt(tempFolder(), head)).rejects.toMatchObject({ code: "NO_REPOSITORY", status: 422 });
  });
});

function edit(kind: "write", name: number) {
  return { kind, name, to: 0, seed: 7 };
}
