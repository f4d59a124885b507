/** The guard reads the history of a repository that may be hostile: it runs nothing that the repository names. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeGit, makeRepo, type Repo, repoAt, tempFolder, testEnv } from "../git/_repo.ts";
import { createTestKernel } from "../kernel.ts";
import { plugins } from "./_kernel.ts";
import { letters } from "./_samples.ts";

const CALLS = [
  "git show",
  "git show HEAD~1:.env",
  "git show -m HEAD",
  "git show HEAD -- .env",
  "git show :a.txt",
  'git show "$(git rev-parse HEAD)"',
  "git log -p",
  "git log -p -m --all",
  "git log -p -S TOKEN -- .env",
  "git log -G TOKEN",
  "git log --format=%G? -p",
  "git whatchanged -p",
  "git reflog show -p",
  "git fast-export --all",
  "git diff",
  "git diff --cached",
  "git diff HEAD",
  "git diff HEAD~1 -- .env",
  "git diff --ext-diff --textconv HEAD~1",
  "git diff --submodule=diff HEAD~1",
  "git difftool HEAD~1",
  "git stash show -p",
  "git cat-file -p HEAD:.env",
  "git cat-file --filters HEAD:.env",
  "git cat-file --textconv HEAD:.env",
  "git grep TOKEN",
  "git grep TOKEN HEAD",
  "git grep --textconv TOKEN HEAD -- .env",
  "git blame .env",
  "git blame HEAD -- .env",
  "git annotate a.txt",
  "git archive HEAD",
  "git archive --format=zip HEAD | cat",
  "git archive --format=evil HEAD",
  "git format-patch --stdout HEAD~1",
  "git -c core.pager=cat -p show HEAD",
  "git --no-pager diff",
];

/** A repository with a file with a secret in its past, and a folder where each program that ran leaves a file. */
function hostile() {
  const marks = tempFolder();
  const trap = (name: string) => {
    const script = join(marks, `${name}.sh`);
    writeFileSync(script, `#!/bin/sh\ntouch '${join(marks, name)}'\n`);
    chmodSync(script, 0o755);
    return script;
  };
  const ran = () => readdirSync(marks).filter((name) => !name.endsWith(".sh"));
  const forget = () => {
    for (const name of ran()) rmSync(join(marks, name));
  };
  return { trap, ran, forget };
}

function history(repo: Repo): void {
  repo.write(".env", `TOKEN=ghp_${letters(36, 71)}\n`);
  repo.write("a.txt", "$Format:%G?$\n");
  repo.commit("one");
  repo.write(".env", "TOKEN=\n");
  repo.commit("two");
  repo.git("checkout", "--quiet", "-b", "side", "HEAD~1");
  repo.write("a.txt", "side\n");
  repo.commit("three");
  repo.git("checkout", "--quiet", "-");
  repo.write("a.txt", "main\n");
  repo.commit("four");
  repo.git("merge", "--quiet", "--no-edit", "-X", "ours", "side");
  repo.write("a.txt", "stashed\n");
  repo.git("stash", "--quiet");
}

function setTraps(repo: Repo, trap: (name: string) => string): void {
  const set = (key: string, value: string) => repo.git("config", key, value);
  for (const hook of ["post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"]) {
    mkdirSync(join(repo.root, ".git/hooks"), { recursive: true });
    writeFileSync(join(repo.root, ".git/hooks", hook), `#!/bin/sh\nexec ${trap(`hook-${hook}`)}\n`, { mode: 0o755 });
  }
  for (const part of ["clean", "smudge", "process"]) set(`filter.evil.${part}`, trap(`filter-${part}`));
  set("filter.e=v=il.clean", trap("filter-named"));
  for (const part of ["textconv", "command"]) set(`diff.evil.${part}`, trap(`diff-${part}`));
  for (const key of ["core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "diff.external", "pager.show"])
    set(key, trap(key));
  for (const key of ["gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.x509.program"]) set(key, trap(key));
  set("log.showSignature", "true");
  set("format.pretty", "format:%H %G? %GS");
  set("log.diffMerges", "remerge");
  set("diff.submodule", "diff");
  set("merge.evil.driver", trap("merge"));
  set("tar.tar.command", trap("tar"));
  set("tar.evil.command", trap("tar-evil"));
  set("difftool.evil.cmd", trap("difftool"));
  set("diff.tool", "evil");
  writeFileSync(
    join(repo.root, ".git/info/attributes"),
    "* filter=evil diff=evil merge=evil export-subst\n.env filter=e=v=il diff=evil\n",
  );
}

/** Git checks a file again whose time has changed. */
const touch = (repo: Repo) => {
  for (const name of [".env", "a.txt"]) utimesSync(join(repo.root, name), new Date(), new Date(Date.now() - 9e6));
};

async function toGuard(cwd: string) {
  const t = await createTestKernel({ plugins: plugins() });
  return async (command: string) => {
    const body = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command }, cwd };
    return (await t.send<{ decision: string; partial: boolean }>("POST", "/api/security/pretooluse", body)).body;
  };
}

const gitAt = (repo: Repo, ...args: string[]) => {
  try {
    execFileSync("git", args, {
      cwd: repo.root,
      env: testEnv(),
      stdio: "ignore",
      timeout: 5_000,
      killSignal: "SIGKILL",
    });
  } catch {
    // The traps make it fail.
  }
};

describeGit("the guard's git in a hostile repository", () => {
  it("runs no filter, hook, external diff, text conversion, signature check or merge driver", async () => {
    const repo = makeRepo();
    const { trap, ran, forget } = hostile();
    history(repo);
    setTraps(repo, trap);
    forget();
    const decide = await toGuard(repo.root);
    for (const command of CALLS) {
      touch(repo);
      await decide(command);
      expect({ command, ran: ran() }).toEqual({ command, ran: [] });
    }
    // The guard did read the history: the file with the secret is only there.
    expect((await decide("git show HEAD~3:.env")).decision).not.toBe("allow");

    // The traps are real: the same commands of plain git run them.
    for (const args of [["diff"], ["show", "HEAD"], ["log", "-p"], ["archive", "HEAD"], ["blame", "a.txt"]]) {
      touch(repo);
      gitAt(repo, ...args);
    }
    expect(ran()).toEqual(expect.arrayContaining(["core.fsmonitor", "filter-process", "diff-textconv"]));
    repo.git("config", "--unset", "filter.evil.process");
    touch(repo);
    gitAt(repo, "archive", "HEAD");
    expect(ran()).toContain("filter-smudge");
  });

  it("runs no filter that an included file names, and answers in part where a name cannot be switched off", async () => {
    const repo = makeRepo();
    const { trap, ran } = hostile();
    history(repo);
    writeFileSync(
      join(repo.root, ".git/more"),
      `[filter "one"]\n\tclean = ${trap("one")}\n\tsmudge = ${trap("two")}\n`,
    );
    repo.git("config", "include.path", join(repo.root, ".git/more"));
    writeFileSync(join(repo.root, ".git/info/attributes"), "* filter=one\n");
    const decide = await toGuard(repo.root);
    for (const command of CALLS) {
      touch(repo);
      await decide(command);
    }
    writeFileSync(join(repo.root, ".git/more"), `[filter "e\xffl"]\n\tsmudge = ${trap("bytes")}\n`, "latin1");
    writeFileSync(join(repo.root, ".git/info/attributes"), "* filter=e\xffl\n", "latin1");
    expect(await decide("git show HEAD~3:.env")).toMatchObject({ partial: true });
    expect(ran()).toEqual([]);
  });

  it("enters no submodule, whose configuration is its own", async () => {
    const inner = makeRepo();
    history(inner);
    const repo = makeRepo();
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.root, "sub");
    history(repo);
    const { trap, ran, forget } = hostile();
    const sub = repoAt(join(repo.root, "sub"));
    const place = join(repo.root, ".git/modules/sub");
    for (const part of ["clean", "smudge"]) sub.git("config", `filter.evil.${part}`, trap(`sub-${part}`));
    sub.git("config", "core.fsmonitor", trap("sub-fsmonitor"));
    sub.git("config", "diff.external", trap("sub-external"));
    mkdirSync(join(place, "info"), { recursive: true });
    writeFileSync(join(place, "info/attributes"), "* filter=evil\n");
    repo.git("config", "diff.submodule", "diff");
    repo.git("config", "submodule.sub.ignore", "none");
    forget();
    const decide = await toGuard(repo.root);
    for (const command of CALLS) {
      touch(sub);
      await decide(command);
      expect({ command, ran: ran() }).toEqual({ command, ran: [] });
    }
    touch(sub);
    gitAt(repo, "diff");
    expect(ran()).not.toEqual([]);
  });

  it("fetches no object that is missing, whatever the repository allows", async () => {
    const repo = makeRepo();
    const { trap, ran } = hostile();
    history(repo);
    const blob = repo.git("rev-parse", "HEAD~3:.env");
    rmSync(join(repo.root, ".git/objects", blob.slice(0, 2), blob.slice(2)), { force: true });
    expect(existsSync(join(repo.root, ".git/objects", blob.slice(0, 2), blob.slice(2)))).toBe(false);
    repo.git("config", "remote.origin.url", `ext::${trap("ext")} x`);
    repo.git("config", "remote.origin.promisor", "true");
    repo.git("config", "extensions.partialClone", "origin");
    repo.git("config", "core.repositoryFormatVersion", "1");
    for (const kind of ["ext", "ssh", "file"]) repo.git("config", `protocol.${kind}.allow`, "always");
    const decide = await toGuard(repo.root);
    for (const command of [...CALLS, "git show HEAD~3:.env"]) await decide(command);
    expect(ran()).toEqual([]);
    gitAt(repo, "show", "HEAD~3:.env");
    expect(ran()).toEqual(["ext"]);
  });
});
