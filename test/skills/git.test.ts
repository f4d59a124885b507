import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkUpstream } from "../../plugins/skills/upstream/address.ts";
import { makeTempDir } from "../_setup.ts";
import { createRemote, type RemoteFiles } from "./remote.ts";
import { env, fetchFrom, setUp } from "./repository.ts";
import { picture, skillKernel, skillText, toStore } from "./world.ts";

const plain: RemoteFiles = {
  "README.md": "# Skills\n",
  "skills/one/SKILL.md": skillText("one"),
  "skills/one/scripts/run.sh": { text: "#!/bin/sh\necho one\n", mode: "100755" },
  "skills/two/SKILL.md": skillText("two"),
  "skills/two/nested/SKILL.md": skillText("nested"),
  "skills/two.md": "no skill",
};

describe("import from a repository", () => {
  it("copies every skill with its commit and leaves nothing behind", async () => {
    const { t, remote, commit } = await setUp(plain);
    const { status, body } = await fetchFrom(t, { url: remote.url });
    expect(status).toBe(200);
    expect(body).toMatchObject({ commit, skipped: [], found: [] });
    expect(body.imported.map((skill) => skill.id)).toEqual(["one", "two"]);
    const tree = await remote.git(["rev-parse", `${commit}:skills/one`]);
    expect(body.imported[0]?.origin).toEqual({
      kind: "git",
      url: remote.url,
      ref: null,
      path: "skills/one",
      commit,
      tree,
    });
    expect(await picture(toStore(t.home, "one"))).toEqual({
      "SKILL.md": `file 644 ${Buffer.from(skillText("one")).toString("base64")}`,
      scripts: "folder 755",
      "scripts/run.sh": `file 755 ${Buffer.from("#!/bin/sh\necho one\n").toString("base64")}`,
    });
    expect(existsSync(join(toStore(t.home, "two"), "nested/SKILL.md"))).toBe(true);
    expect(await readdir(join(t.home, "data/skills/fetch"))).toEqual([]);
    const again = await fetchFrom(t, { url: remote.url });
    expect(again.body.imported).toEqual([]);
    expect(again.body.skipped.map((one) => one.path)).toEqual(["skills/one", "skills/two"]);
  });

  it("takes one folder, a branch, a tag, a commit; shows with dryRun and writes nothing", async () => {
    const { t, remote, commit } = await setUp(plain);
    const dry = await fetchFrom(t, { url: remote.url, dryRun: true });
    expect(dry.body).toMatchObject({
      commit,
      imported: [],
      found: [{ path: "skills/one", name: "one", files: 2 }, { name: "two" }],
    });
    expect(await t.json("/api/skills")).toEqual({ skills: [], tools: [] });
    const other = await remote.commit({ "SKILL.md": skillText("other") }, "feature/x");
    await remote.git(["tag", "-a", "v1", "-m", "one", other]);
    for (const ref of ["feature/x", "v1", "refs/heads/feature/x", other]) {
      const found = await fetchFrom(t, { url: remote.url, ref, dryRun: true });
      expect([ref, found.body.commit, found.body.found?.[0]?.path]).toEqual([ref, other, ""]);
    }
    const one = await fetchFrom(t, { url: remote.url, path: "skills/two/" });
    expect(one.body.imported.map((skill) => skill.id)).toEqual(["two"]);
    expect(await fetchFrom(t, { url: remote.url, path: "none" })).toMatchObject({
      status: 422,
      body: { code: "SKILL_UPSTREAM_GONE" },
    });
    expect(await fetchFrom(t, { url: remote.url, ref: "none" })).toMatchObject({
      status: 422,
      body: { code: "SKILL_UPSTREAM_GONE" },
    });
    const gone = await fetchFrom(t, { url: `file://${t.home}/none.git` });
    expect([gone.status, gone.body.code]).toEqual([502, "SKILL_UPSTREAM_FAILED"]);
    expect(gone.body.message).not.toContain("fatal");
    expect(t.errors.splice(0)).toHaveLength(1);
  });

  it("reads a repository over ssh as the user `git`, with the user's agent and without questions", async () => {
    const home = await makeTempDir();
    const remote = await createRemote(home);
    const commit = await remote.commit({ "skills/one/SKILL.md": skillText("one") });
    // Stands for ssh: writes down what it was asked, and runs the command on the repository here.
    const ssh = join(home, "bin/ssh");
    await mkdir(join(home, "bin"));
    await writeFile(
      ssh,
      `#!/bin/sh\necho "$SSH_AUTH_SOCK $GIT_TERMINAL_PROMPT $@" >> ${home}/asked\nexec git-upload-pack ${remote.folder}\n`,
    );
    await chmod(ssh, 0o755);
    const path = `${join(home, "bin")}:${process.env.PATH}`;
    const t = await skillKernel({ env: { PATH: path, SSH_AUTH_SOCK: "/agent", GIT_SSH_COMMAND: "false" } });
    for (const url of ["git@gitlab.com:group/sub/skills.git", "ssh://git@github.com:443/o/skills.git"]) {
      const { status, body } = await fetchFrom(t, { url, dryRun: true });
      expect([url, status, body.commit]).toEqual([url, 200, commit]);
    }
    const asked = await readFile(join(home, "asked"), "utf8");
    expect(asked).toContain("/agent 0 ");
    expect(asked).toMatch(
      /BatchMode=yes .*StrictHostKeyChecking=yes .*git@gitlab\.com git-upload-pack '\/group\/sub\/skills\.git'/,
    );
    expect(asked).toMatch(/-p 443 git@github\.com git-upload-pack '\/o\/skills\.git'/);
    const { body } = await fetchFrom(t, { url: "git@gitlab.com:group/sub/skills.git" });
    expect(body.imported[0]?.origin).toMatchObject({ url: "ssh://git@gitlab.com/group/sub/skills.git", commit });
    for (const url of [
      "git@evil.example:o/r",
      "root@github.com:o/r",
      "ssh://github.com/o/r",
      "ssh://git:pw@github.com/o/r",
      "ssh://git@-oProxyCommand=x/o/r",
      "git@-oProxyCommand=x:o/r",
      "git@github.com:-o/r",
      "git@github.com:../r",
      "git@github.com:/etc/passwd",
      "ssh://git@github.com/o/r;touch x",
    ])
      expect([url, (await fetchFrom(t, { url })).body.code]).toEqual([url, "SKILL_UPSTREAM_REFUSED"]);
  });

  it("takes addresses of GitLab with groups, and those of its file browser", () => {
    const rules = { hosts: ["git.example.org"], files: false };
    expect(checkUpstream({ url: "https://gitlab.com/a/b/c/-/tree/main/skills/x" }, rules)).toEqual({
      url: "https://gitlab.com/a/b/c",
      ref: "main",
      path: "skills/x",
    });
    expect(checkUpstream({ url: "https://git.example.org/a/b" }, rules).url).toBe("https://git.example.org/a/b");
  });

  const hostile: [what: string, files: RemoteFiles, reason: RegExp][] = [
    ["a link to a file of the user", { "x/key": { text: "/etc/passwd", mode: "120000" } }, /key is a link/],
    ["a link inside", { "x/key": { text: "SKILL.md", mode: "120000" } }, /is a link/],
    ["SKILL.md as a link", { "x/SKILL.md": { text: "/etc/passwd", mode: "120000" } }, /is a link/],
    ["a submodule", { "x/sub": { text: "1".repeat(40), mode: "160000" } }, /submodule/],
    [
      "an LFS pointer",
      { "x/big.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n" },
      /large file/,
    ],
    ["`..`", { "x/../../up": "out" }, /leads elsewhere/],
    ["`.git`", { "x/.git/hooks/post-checkout": "#!/bin/sh\n" }, /git's own/],
    ["`.GIT `", { "x/.GIT /config": "x" }, /git's own/],
    ["`git~1`", { "x/git~1/config": "x" }, /git's own/],
    ["a hidden character in .git", { "x/.g\u200cit/config": "x" }, /git's own/],
    ["a backslash", { "x/a\\..\\..\\b": "x" }, /characters/],
    ["a control character", { "x/a\u001b[2J": "x" }, /characters/],
    ["a device", { "x/con.md": "x" }, /device/],
    ["two names in different case", { "x/a.md": "1", "x/A.md": "2" }, /case alone/],
    ["too deep", { [`x/${"d/".repeat(20)}f`]: "x" }, /deeper/],
    ["too many files", Object.fromEntries(Array.from({ length: 2_001 }, (_, i) => [`x/${i}`, "same"])), /2000 files/],
    ["no description", { "x/SKILL.md": "---\nname: x\n---\n" }, /line 1.*description/],
  ];
  it("skips skills that must not be taken, each with its reason, and takes the others", async () => {
    const folders = hostile.map(([, files], i) => {
      const moved = Object.entries(files).map(([path, file]) => [path.replace(/^x\//, `bad${i}/`), file] as const);
      return { [`bad${i}/SKILL.md`]: skillText(`bad${i}`), ...Object.fromEntries(moved) };
    });
    const { t, remote } = await setUp(Object.assign({ "good/SKILL.md": skillText("good") }, ...folders));
    const outside = async () => Object.entries(await picture(t.home)).filter(([path]) => !path.startsWith("data"));
    const before = await outside();
    const { body } = await fetchFrom(t, { url: remote.url });
    expect(body.imported.map((skill) => skill.id)).toEqual(["good"]);
    const reasons = new Map(body.skipped.map((one) => [one.path, one.reason]));
    for (const [i, [what, , reason]] of hostile.entries())
      expect([what, reasons.get(`bad${i}`)]).toEqual([what, expect.stringMatching(reason)]);
    expect(body.skipped).toHaveLength(hostile.length);
    expect(await outside()).toEqual(before);
    expect(await readdir(join(t.home, "data/skills/store"))).toEqual(["good"]);
  });

  it("runs no hook, filter or configured command of the repository or the user", async () => {
    const t = await skillKernel({ env: { ...env, GIT_SSH_COMMAND: "touch ssh-ran", GIT_DIR: "/nowhere" } });
    const remote = await createRemote(t.home);
    const mark = join(t.home, "ran");
    const script = `#!/bin/sh\ntouch ${mark}\ncat\n`;
    const evil = join(t.home, "evil.sh");
    await writeFile(evil, script);
    await chmod(evil, 0o755);
    for (const hook of [
      "post-checkout",
      "post-merge",
      "pre-receive",
      "post-upload-pack",
      "fsmonitor-watchman",
      "reference-transaction",
    ]) {
      await writeFile(join(remote.folder, "hooks", hook), script);
      await chmod(join(remote.folder, "hooks", hook), 0o755);
    }
    const config = `[core]\n\tfsmonitor = ${evil}\n\thooksPath = ${join(remote.folder, "hooks")}\n\talternateRefsCommand = ${evil}\n[filter "x"]\n\tsmudge = ${evil}\n\tclean = ${evil}\n\tprocess = ${evil}\n[uploadpack]\n\tpackObjectsHook = ${evil}\n[credential]\n\thelper = !${evil}\n[url "ext::${evil}"]\n\tinsteadOf = file://\n`;
    await writeFile(join(remote.folder, "config"), `[core]\n\trepositoryformatversion = 0\n\tbare = true\n${config}`);
    await writeFile(join(t.home, ".gitconfig"), config);
    await mkdir(join(t.home, ".config/git"), { recursive: true });
    await writeFile(join(t.home, ".config/git/config"), config);
    await remote.commit({ "SKILL.md": skillText("one"), ".gitattributes": "* filter=x\n", "a.txt": "as it is" });
    // The preparation may have run some of them: what the import runs counts.
    await rm(mark, { force: true });
    const { body } = await fetchFrom(t, { url: remote.url });
    expect(body.imported?.map((skill) => skill.id)).toEqual(["one"]);
    expect(await readFile(join(toStore(t.home, "one"), "a.txt"), "utf8")).toBe("as it is");
    expect(existsSync(mark)).toBe(false);
  });

  it("refuses an address, ref or path that is not allowed before git runs", async () => {
    const t = await skillKernel({ env: { PATH: process.env.PATH ?? "" } });
    const bin = join(t.home, "bin");
    await mkdir(bin);
    await writeFile(join(bin, "git"), `#!/bin/sh\n: > ${join(t.home, "git-ran")}\nexit 1\n`);
    await chmod(join(bin, "git"), 0o755);
    const watched = await skillKernel({ home: join(t.home, "second"), env: { PATH: bin } });
    const url = "https://github.com/owner/name";
    const refused: [body: object][] = [
      ...[
        "ext::sh -c touch% /tmp/x",
        "http://github.com/o/r",
        "git://github.com/o/r",
        "ssh://root@github.com/o/r",
        "root@github.com:o/r",
      ].map((bad): [object] => [{ url: bad }]),
      ...[
        "file:///etc",
        "https://evil.example/o/r",
        "https://github.com.evil.example/o/r",
        "https://user@github.com/o/r",
        "https://u:p@github.com/o/r",
        "https://github.com:8443/o/r",
        "https://github.com/o",
        "https://github.com/o/r?x=1",
        "https://github.com/o/r#x",
        "https://github.com/-o/r",
        "https://github.com/o/..",
        "https://github.com/o/%2e%2e/x",
        "https://127.0.0.1/o/r",
        "https://github.com\\@evil.example/o/r",
        "https://github.com/o/r\n--upload-pack=x",
        "--upload-pack=touch x",
        "-o/r",
        "../r",
        "/etc/passwd",
        "x",
      ].map((bad): [object] => [{ url: bad }]),
      ...[
        "--upload-pack=x",
        "-x",
        "a..b",
        "a b",
        "a:b",
        "a~1",
        "a^{tree}",
        "HEAD:x",
        "refs/pull/1/head",
        "a.lock",
        "/a",
        "a/",
        "@{u}",
        "x\ny",
        "a\\b",
        "é",
      ].map((ref): [object] => [{ url, ref }]),
      ...["../x", "/etc", "-x", "a/../b", ".git/hooks", "a\\b", "a:b", "con/x"].map((path): [object] => [
        { url, path },
      ]),
    ];
    for (const [body] of refused) {
      const answer = await fetchFrom(watched, body);
      expect([body, answer.status, answer.body.code]).toEqual([body, 422, "SKILL_UPSTREAM_REFUSED"]);
    }
    expect(existsSync(join(t.home, "git-ran"))).toBe(false);
    // And with an address that is allowed it does run.
    expect((await fetchFrom(watched, { url })).body.code).toBe("SKILL_UPSTREAM_FAILED");
    expect(existsSync(join(t.home, "git-ran"))).toBe(true);
    expect(watched.errors.splice(0)).toHaveLength(1);
  });

  it("says when git is not installed", async () => {
    const t = await skillKernel({ env: { PATH: "/nowhere" } });
    expect(await fetchFrom(t, { url: "owner/name" })).toMatchObject({
      status: 422,
      body: { code: "SKILL_GIT_MISSING" },
    });
  });
});
