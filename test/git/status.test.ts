import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, it } from "vitest";
import { createDerived } from "../../core/storage/derived.ts";
import type { GitInfo } from "../../plugins/git/index.ts";
import { countingGit, describeGit, makeRepo, openGit, repoAt, tempFolder } from "./_repo.ts";

describeGit("status", () => {
  it("tells branch, head, count and dirtiness as git does", async () => {
    const repo = makeRepo();
    repo.write("a.txt", "1");
    repo.commit("one");
    repo.write("a.txt", "2");
    const head = repo.commit("two");
    const git = openGit();
    const clean = { branch: "main", detached: false, head, commitCount: 2, dirty: false, ahead: null, behind: null };
    expect(await git.status(repo.root)).toEqual({ ...clean, remote: null });
    repo.write("new.txt", "untracked");
    expect(await git.status(repo.root)).toMatchObject({ dirty: true });
    repo.git("add", ".");
    expect(await git.status(join(repo.root))).toMatchObject({ dirty: true });
    repo.commit("three");
    expect(await git.status(repo.root)).toMatchObject({ dirty: false, commitCount: 3 });
  });

  it("knows an unborn branch, a detached head and a branch with slashes", async () => {
    const repo = makeRepo();
    const git = openGit();
    expect(await git.status(repo.root)).toMatchObject({ branch: "main", head: null, commitCount: 0, dirty: false });
    const first = repo.commit("one");
    repo.git("checkout", "-q", "-b", "feature/ü x".replace(" ", "-"));
    expect(await git.status(repo.root)).toMatchObject({ branch: "feature/ü-x", detached: false });
    repo.git("checkout", "-q", "--detach");
    expect(await git.status(repo.root)).toMatchObject({ branch: null, detached: true, head: first, commitCount: 1 });
  });

  it("counts ahead and behind of the upstream, and shows its address without credentials", async () => {
    const upstream = makeRepo();
    upstream.commit("one");
    const root = join(tempFolder(), "clone");
    upstream.git("clone", "-q", upstream.root, root);
    const clone = repoAt(root);
    clone.commit("mine");
    clone.commit("mine too", 1_700_000_900);
    upstream.commit("theirs");
    clone.git("fetch", "-q");
    clone.git("remote", "set-url", "origin", "https://user:secret-token@example.org/team/app.git?key=1");
    const git = openGit();
    expect(await git.status(root)).toMatchObject({
      ahead: 2,
      behind: 1,
      remote: "https://example.org/team/app.git",
    });
    clone.git("branch", "-q", "-r", "-d", "origin/main");
    expect(await git.status(root)).toMatchObject({ ahead: null, behind: null });
  });

  it("counts right when HEAD moves forward, back, sideways and to rewritten history", async () => {
    const repo = makeRepo();
    const git = openGit();
    const check = async () => {
      const count = Number(repo.git("rev-list", "--count", "HEAD"));
      expect(await git.status(repo.root)).toMatchObject({ commitCount: count, head: repo.git("rev-parse", "HEAD") });
    };
    for (let i = 0; i < 4; i++) repo.commit(`c${i}`);
    await check();
    repo.commit("more");
    await check();
    repo.git("reset", "-q", "--hard", "HEAD~3");
    await check();
    repo.git("checkout", "-q", "-b", "side", "HEAD~1");
    repo.commit("s1");
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "main");
    await check();
    repo.git("checkout", "-q", "--orphan", "fresh");
    repo.commit("new root");
    repo.git("branch", "-q", "-D", "side", "main");
    repo.git("reflog", "expire", "--expire=now", "--all");
    repo.git("gc", "-q", "--prune=now");
    await check();
  });

  it("answers null for no folder, no repository, a broken link and a damaged repository", async () => {
    const folder = tempFolder();
    const git = openGit();
    expect(await git.status(join(folder, "none"))).toBeNull();
    expect(await git.status("relative/path")).toBeNull();
    expect(await git.status(folder)).toBeNull();
    mkdirSync(join(folder, "linked"));
    writeFileSync(join(folder, "linked", ".git"), "gitdir: /nowhere/at/all\n");
    expect(await git.status(join(folder, "linked"))).toBeNull();
    const repo = makeRepo();
    repo.write("a", "1");
    repo.commit("one");
    writeFileSync(join(repo.root, ".git", "index"), "garbage");
    expect(await git.status(repo.root)).toBeNull();
  });

  it("answers null when git is not installed", async () => {
    const repo = makeRepo();
    expect(await openGit({ binary: "/nonexistent/git" }).status(repo.root)).toBeNull();
  });

  it("answers timedOut for a repository that does not answer, and the others at once", async () => {
    const slow = makeRepo();
    const fine = makeRepo();
    fine.commit("one");
    // A pipe without a writer: git waits for it for good.
    repoAt(slow.root).git("config", "core.excludesFile", join(slow.root, ".git", "pipe"));
    const { execFileSync } = await import("node:child_process");
    execFileSync("mkfifo", [join(slow.root, ".git", "pipe")]);
    slow.write("x", "1");
    const ask = (deadlineMs: number) => openGit().statusMany([slow.root, fine.root, slow.root], { deadlineMs });
    let states = await ask(1_000);
    // The few gits that the other needs take longer than that on a busy machine.
    const isLate = () => isDeepStrictEqual(states.get(fine.root), { timedOut: true });
    for (let ms = 2_000; isLate() && ms < 100_000; ms *= 2) states = await ask(ms);
    expect(states.get(slow.root)).toEqual({ timedOut: true });
    expect(states.get(fine.root)).toMatchObject({ branch: "main" });
  });

  it("knows the state of bare repositories and of each worktree", async () => {
    const repo = makeRepo();
    repo.commit("one");
    const head = repo.commit("two");
    const bare = join(tempFolder(), "bare.git");
    repo.git("clone", "-q", "--bare", repo.root, bare);
    const git = openGit();
    expect(await git.status(bare)).toMatchObject({ branch: "main", head, commitCount: 2, dirty: false });
    const tree = join(tempFolder(), "tree");
    repo.git("worktree", "add", "-q", "-b", "topic", tree);
    repoAt(tree).commit("three", 1_700_000_999);
    writeFileSync(join(tree, "junk"), "x");
    expect(await git.status(tree)).toMatchObject({ branch: "topic", commitCount: 3, dirty: true });
    expect(await git.status(repo.root)).toMatchObject({ branch: "main", commitCount: 2, dirty: false });
  });

  it("counts what is there of a shallow clone, and again when it is deepened", async () => {
    const repo = makeRepo();
    for (let i = 0; i < 5; i++) repo.commit(`c${i}`);
    const root = join(tempFolder(), "shallow");
    repo.git("clone", "-q", "--depth", "2", `file://${repo.root}`, root);
    const git = openGit();
    expect(await git.status(root)).toMatchObject({ commitCount: 2 });
    repoAt(root).git("fetch", "-q", "--unshallow");
    expect(await git.status(root)).toMatchObject({ commitCount: 5 });
  });

  it("P4: needs one process per repository once heads are known, however many paths are asked", async () => {
    const { binary, calls } = countingGit();
    const repos = Array.from({ length: 6 }, () => makeRepo());
    for (const repo of repos) repo.commit("one");
    const paths = repos.map((repo) => repo.root);
    const git = openGit({ binary });
    await git.statusMany(paths);
    const before = calls().length;
    const states = await git.statusMany([...paths, ...paths]);
    expect(calls().slice(before)).toEqual(repos.map(() => "status"));
    expect([...states.values()].every((state) => (state as GitInfo).commitCount === 1)).toBe(true);
  });

  it("P4: needs one process per repository after a start too, and counts what HEAD moved by since", async () => {
    const { binary, calls } = countingGit();
    const repos = Array.from({ length: 3 }, () => makeRepo());
    for (const repo of repos) repo.commit("one");
    const paths = repos.map((repo) => repo.root);
    const store = createDerived(join(tempFolder(), "index", "git"));
    const counts = {
      store,
      onError(error: unknown) {
        throw error;
      },
    };
    const after = async () => {
      const git = openGit({ binary, counts });
      const before = calls().length;
      const states = await git.statusMany(paths);
      await git.close();
      // The user's own configuration is asked for once a start.
      const asked = calls()
        .slice(before)
        .filter((command) => command !== "config")
        .sort();
      return { asked, counts: paths.map((path) => (states.get(path) as GitInfo).commitCount) };
    };
    const all = ["rev-list", "rev-list", "rev-list", "status", "status", "status"];
    expect(await after()).toEqual({ asked: all, counts: [1, 1, 1] });
    expect(await after()).toEqual({ asked: all.slice(3), counts: [1, 1, 1] });
    repos[1]?.commit("two");
    expect(await after()).toEqual({ asked: all.slice(2), counts: [1, 2, 1] });
    expect(await after()).toEqual({ asked: all.slice(3), counts: [1, 2, 1] });
    const head = repos[0]?.git("rev-parse", "HEAD");
    const odd = [{ gitDir: join(paths[0] ?? "", ".git"), head, shallow: "", count: "--all" }, null, 7];
    const file = join(store.folder, "commits.json");
    const flipped = readFileSync(file, "latin1").replaceAll(/"count":./g, '"count":7');
    for (const text of [flipped, "", "{"]) {
      writeFileSync(file, text, "latin1");
      expect(await after()).toEqual({ asked: all, counts: [1, 2, 1] });
    }
    for (const text of [JSON.stringify(odd), '{"rows":[]}']) {
      await store.set("commits.json", text);
      expect(await after()).toEqual({ asked: all, counts: [1, 2, 1] });
    }
  });

  it("respects the user's global ignore list and nothing else of the user's configuration", async () => {
    const home = tempFolder();
    writeFileSync(join(home, "ignored"), "*.swp\n");
    writeFileSync(
      join(home, ".gitconfig"),
      `[core]\n\texcludesFile = ${join(home, "ignored")}\n[status]\n\tshowUntrackedFiles = no\n`,
    );
    const repo = makeRepo();
    repo.commit("one");
    repo.write("x.swp", "");
    const git = openGit({ env: { PATH: process.env.PATH, HOME: home } });
    expect(await git.status(repo.root)).toMatchObject({ dirty: false });
    repo.write("y", "");
    expect(await git.status(repo.root)).toMatchObject({ dirty: true });
  });

  it("sees at once that a repository is gone, replaced or made bare, though its place is remembered", async () => {
    const repo = makeRepo();
    repo.commit("one");
    const git = openGit();
    expect(await git.status(repo.root)).toMatchObject({ commitCount: 1 });
    repo.git("config", "core.bare", "true");
    expect(await git.status(repo.root)).toMatchObject({ commitCount: 1, dirty: false });
    rmSync(join(repo.root, ".git"), { recursive: true });
    expect(await git.status(repo.root)).toBeNull();
    expect(makeRepo(repo.root).root).toBe(repo.root);
    expect(await git.status(repo.root)).toMatchObject({ head: null, commitCount: 0 });
  });

  it("reads through a symbolic link and below a subfolder", async () => {
    const repo = makeRepo();
    repo.write("deep/down/a", "1");
    const head = repo.commit("one");
    const link = join(tempFolder(), "link");
    symlinkSync(repo.root, link);
    const git = openGit();
    expect(await git.status(join(link, "deep", "down"))).toMatchObject({ head });
    rmSync(join(repo.root, "deep"), { recursive: true });
    expect(await git.status(join(repo.root, "deep"))).toBeNull();
  });
});
