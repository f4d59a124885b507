import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { gitEnvironment } from "../../plugins/git/process/exec.ts";
import { describeGit, makeRepo, openGit, type Repo, repoAt, T0, tempFolder, testEnv } from "./_repo.ts";

/** A repository with a little history, and a place where every hostile program leaves a mark. */
function hostileRepo() {
  const repo = makeRepo();
  repo.write("a.txt", "one\n");
  repo.write("b.txt", "two\n");
  const first = repo.commit("one");
  repo.write("a.txt", "one\nmore\n");
  repo.git("mv", "b.txt", "c.txt");
  const second = repo.commit("two");
  const marks = tempFolder();
  const trap = (name: string) => {
    const script = join(marks, `${name}.sh`);
    writeFileSync(script, `#!/bin/sh\ntouch '${join(marks, name)}'\ncat 2>/dev/null\n`);
    chmodSync(script, 0o755);
    return script;
  };
  const ran = () => readdirSync(marks).filter((name) => !name.endsWith(".sh"));
  return { repo, first, second, trap, ran };
}

/** Makes git look at the contents again. */
function touch(repo: Repo, seconds: number) {
  for (const name of ["a.txt", "c.txt"]) utimesSync(join(repo.root, name), seconds, seconds);
}

async function askEverything(repo: Repo, commits: string[]) {
  const git = openGit();
  const answers: unknown[] = [await git.identity(repo.root), await git.status(repo.root)];
  answers.push(await git.commitAt(repo.root, new Date((T0 + 9999) * 1000).toISOString()));
  for (const commit of commits) {
    const tree = await git.treeAt(repo.root, commit);
    answers.push(tree);
    for (const { path } of tree.files) answers.push(await git.fileAt(repo.root, commit, path));
  }
  return answers;
}

describeGit("a hostile repository runs nothing", () => {
  it("S3: no program named in its configuration", async () => {
    const { repo, first, second, trap, ran } = hostileRepo();
    const set = (key: string, value: string) => repo.git("config", key, value);
    const plain = await askEverything(repo, [first, second]);
    mkdirSync(join(repo.root, ".git", "evil-hooks"));
    for (const hook of ["post-index-change", "pre-auto-gc", "reference-transaction", "fsmonitor-watchman"]) {
      for (const folder of ["evil-hooks", "hooks"]) {
        writeFileSync(join(repo.root, ".git", folder, hook), readFileSync(trap(`hook-${hook}`)), { mode: 0o755 });
      }
    }
    set("core.hooksPath", join(repo.root, ".git", "evil-hooks"));
    for (const key of [
      "core.fsmonitor",
      "core.pager",
      "core.editor",
      "core.askPass",
      "core.sshCommand",
      "core.gitProxy",
    ]) {
      set(key, trap(key));
    }
    for (const key of ["pager.status", "gpg.program", "gpg.ssh.program", "credential.helper", "diff.external"])
      set(key, trap(key));
    for (const part of ["clean", "smudge", "process"]) set(`filter.evil.${part}`, trap(`filter-${part}`));
    set("filter.evil.required", "true");
    for (const part of ["textconv", "command"]) set(`diff.evil.${part}`, trap(`diff-${part}`));
    set("merge.evil.driver", trap("merge"));
    for (const name of ["status", "cat-file", "rev-list", "ls-tree", "diff-tree"])
      set(`alias.${name}`, `!${trap(`alias-${name}`)}`);
    set("log.showSignature", "true");
    set("status.submoduleSummary", "true");
    set("trailer.x.command", trap("trailer"));
    set("remote.origin.url", `ext::sh -c ${trap("ext")}`);
    set("protocol.ext.allow", "always");
    writeFileSync(join(repo.root, ".git", "info", "attributes"), "* filter=evil diff=evil merge=evil\n");
    touch(repo, T0);

    const answers = await askEverything(repo, [first, second]);
    expect(ran()).toEqual([]);
    const origin = { remote: expect.stringContaining("ext::") };
    expect(answers).toEqual([
      { ...(plain[0] as object), ...origin },
      { ...(plain[1] as object), ...origin },
      ...plain.slice(2),
    ]);

    // The traps are real: plain git steps into them.
    repo.git("config", "--unset", "core.fsmonitor");
    repo.git("config", "--unset", "filter.evil.process");
    touch(repo, T0 + 1);
    execFileSync("git", ["status"], { cwd: repo.root, env: testEnv(), stdio: "ignore" });
    expect(ran()).toContain("filter-clean");
  });

  it.each([
    ["plain", "evil"],
    ["with = and dots", "e.v=i.l"],
    ["empty", ""],
    ["with quotes", 'e"v"il'],
  ])("no filter with a name that is %s", async (_, name) => {
    const { repo, first, trap, ran } = hostileRepo();
    const quoted = name.replace(/[\\"]/g, "\\$&");
    const file = join(repo.root, ".git", "config");
    const section = `[filter "${quoted}"]\n\tclean = ${trap("clean")}\n\trequired = true\n`;
    writeFileSync(file, `${readFileSync(file, "utf8")}${section}`);
    writeFileSync(join(repo.root, ".git", "info", "attributes"), `* filter=${name}\n`);
    touch(repo, T0);
    await askEverything(repo, [first]);
    expect(ran()).toEqual([]);
  });

  it("no filter from an included file, from a worktree's configuration, or added later", async () => {
    const { repo, trap, ran } = hostileRepo();
    const section = (name: string) => `[filter "${name}"]\n\tclean = ${trap(name)}\n`;
    const more = join(repo.root, ".git", "more");
    writeFileSync(more, section("one"));
    const git = openGit();
    writeFileSync(join(repo.root, ".git", "info", "attributes"), "a.txt filter=one\nc.txt filter=two\n");
    expect(await git.status(repo.root)).toMatchObject({ dirty: false });
    repo.git("config", "InClude.path", more);
    touch(repo, T0);
    expect(await git.status(repo.root)).toMatchObject({ dirty: false });
    writeFileSync(more, section("one") + section("two"));
    touch(repo, T0 + 1);
    expect(await git.status(repo.root)).toMatchObject({ dirty: false });
    repo.git("config", "--unset", "include.path");
    repo.git("config", "extensions.worktreeConfig", "true");
    writeFileSync(join(repo.root, ".git", "config.worktree"), section("two"));
    touch(repo, T0 + 2);
    expect(await git.status(repo.root)).toMatchObject({ dirty: false });
    expect(ran()).toEqual([]);
  });

  it("refuses status where a filter cannot be named: bytes that are no UTF-8, a configuration too large to look at", async () => {
    const { repo, trap, ran } = hostileRepo();
    const file = join(repo.root, ".git", "config");
    const config = readFileSync(file, "latin1");
    const section = `[filter "e\xffl"]\n\tclean = ${trap("bytes")}\n`;
    writeFileSync(file, config + section, "latin1");
    writeFileSync(join(repo.root, ".git", "info", "attributes"), "* filter=e\xffl\n", "latin1");
    touch(repo, T0);
    const git = openGit();
    expect(await git.status(repo.root)).toBeNull();
    writeFileSync(file, `${config}[filter "e"]\n\tclean = ${trap("large")}\n${"# padding\n".repeat(200_000)}`);
    writeFileSync(join(repo.root, ".git", "info", "attributes"), "* filter=e\n");
    touch(repo, T0 + 1);
    await git.status(repo.root);
    expect(ran()).toEqual([]);
  });

  it("does not enter submodules, whose configuration is their own", async () => {
    const inner = hostileRepo();
    const outer = makeRepo();
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.repo.root, "sub");
    outer.commit("one");
    const sub = repoAt(join(outer.root, "sub"));
    const gitDir = join(outer.root, ".git/modules/sub");
    sub.git("config", "filter.evil.clean", inner.trap("clean"));
    sub.git("config", "core.fsmonitor", inner.trap("fsmonitor"));
    mkdirSync(join(gitDir, "info"), { recursive: true });
    writeFileSync(join(gitDir, "info/attributes"), "* filter=evil\n");
    touch(sub, T0);
    const git = openGit();
    expect(await git.status(outer.root)).toMatchObject({ dirty: false });
    expect(await git.status(sub.root)).toMatchObject({ dirty: false });
    expect(inner.ran()).toEqual([]);
  });

  it("fetches nothing for an object that is not there, whatever the remote is", async () => {
    const { repo, second, trap, ran } = hostileRepo();
    const blob = repo.git("rev-parse", `${second}:a.txt`);
    execFileSync("rm", ["-f", join(repo.root, ".git/objects", blob.slice(0, 2), blob.slice(2))]);
    for (const url of [`ext::${trap("ext")} x`, `ssh://${trap("ssh")}/x`]) {
      repo.git("config", "remote.origin.url", url);
      repo.git("config", "remote.origin.promisor", "true");
      repo.git("config", "remote.origin.uploadpack", trap("uploadpack"));
      repo.git("config", "extensions.partialClone", "origin");
      repo.git("config", "core.repositoryFormatVersion", "1");
      for (const kind of ["ext", "ssh", "file"]) repo.git("config", `protocol.${kind}.allow`, "always");
      repo.git("config", "core.sshCommand", trap("sshCommand"));
      const git = openGit();
      await expect(git.fileAt(repo.root, second, "a.txt")).rejects.toMatchObject({ name: "SessarcError" });
      await git.status(repo.root);
      await git.treeAt(repo.root, second);
      expect(ran()).toEqual([]);
      await git.close();
    }
  });

  it("connects to no network for an object that is not there", async () => {
    const { repo, second } = hostileRepo();
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const place = `127.0.0.1:${(server.address() as AddressInfo).port}/x.git`;
    const blob = repo.git("rev-parse", `${second}:a.txt`);
    rmSync(join(repo.root, ".git/objects", blob.slice(0, 2), blob.slice(2)));
    repo.git("config", "core.repositoryFormatVersion", "1");
    repo.git("config", "extensions.partialClone", "origin");
    repo.git("config", "remote.origin.promisor", "true");
    repo.git("config", "protocol.allow", "always");
    for (const kind of ["http", "git"]) {
      repo.git("config", "remote.origin.url", `${kind}://${place}`);
      repo.git("config", `protocol.${kind}.allow`, "always");
      const git = openGit();
      await expect(git.fileAt(repo.root, second, "a.txt")).rejects.toMatchObject({ name: "SessarcError" });
      await git.treeAt(repo.root, second);
      await git.status(repo.root);
      await git.commitAt(repo.root, new Date((T0 + 9999) * 1000).toISOString());
      await git.close();
    }
    expect(connections).toBe(0);
    // The trap is real: plain git asks that server.
    const plain = spawn("git", ["cat-file", "-p", blob], { cwd: repo.root, env: testEnv(), stdio: "ignore" });
    await once(plain, "exit");
    expect(connections).toBeGreaterThan(0);
  });

  it("follows no included file to a program", async () => {
    const { repo, first, second, trap, ran } = hostileRepo();
    const plain = await askEverything(repo, [first, second]);
    const more = join(repo.root, ".git", "more");
    const keys = ["fsmonitor", "hooksPath", "pager", "editor", "sshCommand", "askPass", "alternateRefsCommand"];
    const core = keys.map((key) => `\t${key} = ${trap(key)}\n`).join("");
    const diff = `[diff]\n\texternal = ${trap("external")}\n[diff "evil"]\n\ttextconv = ${trap("textconv")}\n`;
    writeFileSync(
      more,
      `[core]\n${core}${diff}[filter "evil"]\n\tclean = ${trap("clean")}\n\tprocess = ${trap("process")}\n`,
    );
    repo.git("config", "include.path", more);
    repo.git("config", "includeIf.gitdir:/.path", more);
    writeFileSync(join(repo.root, ".git", "info", "attributes"), "* filter=evil diff=evil\n");
    touch(repo, T0);
    expect(await askEverything(repo, [first, second])).toEqual(plain);
    expect(ran()).toEqual([]);
    touch(repo, T0 + 1);
    execFileSync("git", ["status"], { cwd: repo.root, env: testEnv(), stdio: "ignore" });
    expect(ran()).toContain("fsmonitor");
  });

  it("S2: shell text in a path and in file names is only text", async () => {
    const folder = tempFolder();
    const mark = join(folder, "pwned");
    const root = join(folder, `$(touch pwned) ; touch pwned & \`touch pwned\` "'`);
    const repo = makeRepo(root);
    const name = "$(touch pwned).txt";
    repo.write(name, "safe");
    const head = repo.commit("one");
    const git = openGit();
    expect(await git.status(root)).toMatchObject({ head });
    expect(await git.fileAt(root, head, name)).toMatchObject({ content: "safe" });
    expect(await git.identity(root)).toMatchObject({ root });
    expect(existsSync(mark) || existsSync(join(root, "pwned"))).toBe(false);
  });

  it("S3: an option in place of a commit writes no file", async () => {
    const { repo } = hostileRepo();
    const before = readdirSync(repo.root);
    const git = openGit();
    for (const commit of [
      "--output=pwned",
      "--output=/tmp/pwned",
      "-opwned",
      "1234567 --output=pwned",
      "1234567\n--output=x",
    ]) {
      await expect(git.treeAt(repo.root, commit)).rejects.toMatchObject({ status: 400 });
      await expect(git.fileAt(repo.root, commit, "a.txt")).rejects.toMatchObject({ status: 400 });
    }
    for (const path of ["--output=pwned", "-opwned"]) {
      const head = repo.git("rev-parse", "HEAD");
      await expect(git.fileAt(repo.root, head, path)).rejects.toMatchObject({ status: 404 });
    }
    expect(readdirSync(repo.root)).toEqual(before);
  });

  it("is not steered by the environment the service was started in", async () => {
    const other = makeRepo();
    other.commit("other");
    const { repo, second, trap, ran } = hostileRepo();
    const env = {
      ...testEnv(),
      GIT_DIR: join(other.root, ".git"),
      GIT_WORK_TREE: other.root,
      GIT_INDEX_FILE: join(other.root, "index"),
      GIT_OBJECT_DIRECTORY: join(other.root, ".git/objects"),
      GIT_EXTERNAL_DIFF: trap("external"),
      GIT_PAGER: trap("pager"),
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.fsmonitor",
      GIT_CONFIG_VALUE_0: trap("fsmonitor"),
      GIT_TRACE: join(other.root, "trace"),
    };
    const git = openGit({ env });
    expect(await git.status(repo.root)).toMatchObject({ head: second, dirty: false });
    expect((await git.treeAt(repo.root, second)).files).toHaveLength(2);
    expect(ran()).toEqual([]);
    expect(existsSync(join(other.root, "trace"))).toBe(false);
    const kept = Object.keys(gitEnvironment(env)).filter((name) => name.startsWith("GIT_"));
    expect(kept).not.toContain("GIT_DIR");
    expect(gitEnvironment(env)).toMatchObject({
      GIT_TERMINAL_PROMPT: "0",
      GIT_OPTIONAL_LOCKS: "0",
      GIT_CONFIG_NOSYSTEM: "1",
    });
  });

  it("changes no byte of the repository", async () => {
    const { repo, first, second } = hostileRepo();
    const list = () =>
      execFileSync("find", [".", "-type", "f", "-printf", "%p %s %T@\n"], { cwd: repo.root }).toString();
    touch(repo, T0); // git would like to refresh its index
    const before = list();
    await askEverything(repo, [first, second]);
    expect(list()).toBe(before);
  });

  it.skipIf(process.getuid?.() !== 0)("reads a repository owned by another user", async () => {
    const { repo, second } = hostileRepo();
    for (const path of [".", ".git", "a.txt"]) chownSync(join(repo.root, path), 12345, 12345);
    const plain = () => execFileSync("git", ["status"], { cwd: repo.root, env: testEnv(), stdio: "pipe" });
    expect(plain).toThrow(/dubious ownership/);
    const git = openGit();
    expect(await git.status(repo.root)).toMatchObject({ head: second, dirty: false });
    expect(await git.fileAt(repo.root, second, "a.txt")).toMatchObject({ content: "one\nmore\n" });
  });
});
