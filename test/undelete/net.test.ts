/** The net: what git does not hold is stored before a call destroys it, and comes back as it was. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import git from "../../plugins/git/index.ts";
import replay from "../../plugins/replay/index.ts";
import security from "../../plugins/security/index.ts";
import undelete, {
  type FileHistory,
  type LostFile,
  type NetCatch,
  type PutBack,
} from "../../plugins/undelete/index.ts";
import { runCommand } from "../command.ts";
import { describeGit, tempFolder } from "../git/_repo.ts";
import { fillDisk, mountSmall } from "../small-disk.ts";
import { ALL, below, LINES, makeTree, of, TREE } from "./_lines.ts";
import { createLog } from "./_log.ts";

const KEY = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0e";

async function start(net: object = {}, install = true, home = tempFolder()): Promise<TestKernel> {
  const t = await createTestKernel({
    home,
    plugins: [archive(), git(), claude(), codex(), replay(), security(), undelete()],
    config: { net: { ms: 60_000, ...net } },
  });
  if (install) await t.send("POST", "/api/security/install-hook", { tool: "claude-code", net: true });
  return t;
}

let calls = 0;
const call = (t: TestKernel, cwd: string, tool_name: string, tool_input: object, client = "claude-code") =>
  t.send<{ decision: string; ask: string | null }>("POST", `/api/security/pretooluse?client=${client}`, {
    ...{ hook_event_name: "PreToolUse", session_id: KEY, cwd, tool_name, tool_input, tool_use_id: `t${calls++}` },
  });
const stored = (t: TestKernel) => t.json<NetCatch[]>("/api/files/net");

describeGit("the net under shell lines", () => {
  let t: TestKernel;
  beforeAll(async () => {
    t = await start({}, true, join(process.env.TMPDIR ?? "/tmp", `sessarc-net-${process.pid}`));
    return async () => {
      await t.close();
      rmSync(t.home, { recursive: true, force: true });
    };
  });

  it.each(LINES)("stores and brings back what `%s` destroys", async (line, files) => {
    const { root } = makeTree();
    const before = new Map(files.map((path) => [path, readFileSync(join(root, path))]));
    const known = new Set((await stored(t)).map((one) => one.id));
    await call(t, root, "Bash", { command: line });
    const caught = (await stored(t)).filter((one) => !known.has(one.id));
    const paths = caught.flatMap((one) => one.files.map(({ path }) => path.slice(root.length + 1)));
    for (const path of paths) expect(Object.keys(TREE.built)).not.toContain(path);
    expect(paths).toEqual(expect.arrayContaining([...files]));
    if (files.length === 0) return expect(caught).toEqual([]);
    // What is destroyed for real comes back byte for byte.
    try {
      execFileSync("bash", ["-c", line], { cwd: root, stdio: "ignore" });
    } catch {
      // A line may do its work and fail, or lack its program here.
    }
    const [one] = caught;
    const to = join(tempFolder(), "back");
    const { body } = await t.send<PutBack>("POST", "/api/files/put-back", { net: one?.id, to });
    const back = new Map(body.files.map(({ path, to: place }) => [path, place]));
    for (const [path, bytes] of before)
      expect(readFileSync(back.get(join(root, path)) ?? "").equals(bytes), path).toBe(true);
  });
});

describeGit("the net", () => {
  it("stores nothing for a call that destroys nothing, opens no file and starts no process for it", async () => {
    const t = await start();
    const { root } = makeTree();
    for (const command of [
      ...["ls -la", "cat a.txt", "grep -rn x src", "git status", "git diff", "git log -3", "git commit -am x"],
      ...[
        "echo x >> a.txt",
        "echo x > /dev/null",
        "npm test 2>&1 | tail",
        "mkdir -p x/y",
        "git stash",
        "git checkout other",
      ],
      ...[
        "git clean -nd",
        "git restore --staged a.txt",
        "git rm --cached a.txt",
        "cp a.txt fresh.txt",
        "mv a.txt fresh.txt",
      ],
      ...[
        "echo x > fresh.txt",
        "rm -f gone.txt",
        "rm -rf node_modules dist",
        "T=$(mktemp); rm $T",
        "git push",
        "find . -name x",
      ],
    ])
      await call(t, root, "Bash", { command });
    await call(t, root, "Read", { file_path: join(root, "a.txt") });
    await call(t, root, "Write", { file_path: join(root, "fresh.txt"), content: "x" });
    await call(t, root, "Edit", { file_path: join(root, "kept.txt"), old_string: "kept", new_string: "x" });
    expect(await stored(t)).toEqual([]);
    expect(readdirSync(t.kernel.storage.dataDir)).not.toContain("net");
  });

  it("is off until the user chose it, and off again after --no-net", async () => {
    const t = await start({}, false);
    const { root } = makeTree();
    await t.send("POST", "/api/security/install-hook", { tool: "claude-code" });
    await call(t, root, "Bash", { command: "rm a.txt" });
    expect(await stored(t)).toEqual([]);
    await t.send("POST", "/api/security/install-hook", { tool: "claude-code", net: true });
    await t.send("POST", "/api/security/install-hook", { tool: "claude-code", mode: "observe" });
    await call(t, root, "Bash", { command: "rm a.txt" });
    await call(t, root, "shell", { command: "rm a.txt" }, "codex");
    expect(await stored(t)).toHaveLength(1);
    await t.send("POST", "/api/security/install-hook", { tool: "claude-code", net: false });
    await call(t, root, "Bash", { command: "rm new.txt" });
    expect(await stored(t)).toHaveLength(1);
  });

  it.each([
    ["Write", "claude-code", { file_path: "a.txt", content: "x" }],
    ["Write", "claude-code", { file_path: ".env", content: "x" }],
    ["Edit", "claude-code", { file_path: "new.txt", old_string: "new", new_string: "x" }],
    ["apply_patch", "codex", "*** Begin Patch\n*** Delete File: src/new.ts\n*** End Patch"],
    ["apply_patch", "codex", { input: "*** Begin Patch\n*** Update File: a.txt\n@@\n-a changed\n+x\n*** End Patch" }],
    ["shell", "codex", { command: ["bash", "-lc", "rm src/b.ts"] }],
  ])("stores what %s of %s overwrites", async (tool, client, input) => {
    const t = await start();
    await t.send("POST", "/api/security/install-hook", { tool: "codex", net: true });
    const { root } = makeTree();
    const named = JSON.stringify(input).match(/src\/new\.ts|src\/b\.ts|new\.txt|a\.txt|\.env/)?.[0] ?? "";
    const bytes = readFileSync(join(root, named));
    const given =
      typeof input === "object" && "file_path" in input ? { ...input, file_path: join(root, named) } : input;
    await call(t, root, tool, given as object, client);
    const [one] = await stored(t);
    expect(one?.files.map(({ path }) => path)).toEqual([join(root, named)]);
    const { body } = await t.send<PutBack>("POST", "/api/files/put-back", {
      net: one?.id,
      to: join(tempFolder(), "x"),
    });
    expect(readFileSync(body.files[0]?.to ?? "").equals(bytes)).toBe(true);
  });

  it("stores the files of a dropped stash, and the names of branches that are deleted", async () => {
    const t = await start();
    const repo = makeTree();
    repo.git("stash", "-u");
    await call(t, repo.root, "Bash", { command: "git stash drop" });
    const commit = repo.git("rev-parse", "other").trim();
    await call(t, repo.root, "Bash", { command: "git branch -D other" });
    const [branch, stash] = await stored(t);
    expect(stash?.files.map(({ path, from }) => [path.slice(repo.root.length + 1), from]).sort()).toEqual(
      of("changed", "untracked")
        .map((path) => [path, "stash@{0}"])
        .sort(),
    );
    expect(branch?.names).toContainEqual({ name: "refs/heads/other", commit, folder: repo.root });
  });

  it("puts back in place only where nothing is, and is among the versions of the file and of what the session destroyed", async () => {
    const home = tempFolder();
    const { root } = makeTree();
    const log = createLog({ home, root, key: KEY });
    const t = await start({}, true, home);
    await call(t, root, "Bash", { command: "rm -rf pic.bin notes" });
    const now = Date.now() / 1_000;
    rmSync(join(root, "pic.bin"));
    rmSync(join(root, "notes"), { recursive: true });
    log.prompt(now - 1, "Go");
    log.call(now, "Bash", { command: "rm -rf pic.bin notes" }, "");
    log.write();
    await t.send("POST", "/api/import", { all: true });
    const lost = await t.json<LostFile[]>(`/api/sessions/claude-code:${KEY}/lost-files`);
    expect(lost.map(({ path, version }) => [path, version.state, version.source]).sort()).toEqual(
      ["notes/one.md", "notes/two.log", "pic.bin"].map((path) => [join(root, path), "exact", "net"]),
    );
    const path = join(root, "pic.bin");
    const { versions } = await t.json<FileHistory>(`/api/files/history?${new URLSearchParams({ path })}`);
    expect(versions[0]).toMatchObject({ source: "net", state: "exact", sessionId: `claude-code:${KEY}` });
    writeFileSync(join(root, "pic.bin"), "other");
    const [one] = await stored(t);
    const refused = await t.send("POST", "/api/files/put-back", { net: one?.id });
    expect(refused).toMatchObject({ status: 409, body: { code: "UNDELETE_EXISTS" } });
    const { body } = await t.send<PutBack>("POST", "/api/files/put-back", { net: one?.id, force: true });
    expect([...readFileSync(path)]).toEqual([...TREE.untracked["pic.bin"]]);
    await t.send("POST", "/api/files/undo", { id: body.receipt.id });
    expect(readFileSync(path, "utf8")).toBe("other");
  });

  it("follows a link that is written through, and no link in a folder that is removed", async () => {
    const t = await start();
    const { root } = makeTree();
    const outside = join(tempFolder(), "outside.txt");
    writeFileSync(outside, "outside\n");
    symlinkSync(outside, join(root, "link.txt"));
    symlinkSync(dirname(outside), join(root, "notes/out"));
    await call(t, root, "Bash", { command: "rm -rf notes; rm link.txt" });
    const [removed] = await stored(t);
    expect(removed?.files.map(({ path }) => path).sort()).toEqual(below("notes").map((path) => join(root, path)));
    await call(t, root, "Bash", { command: "echo x > link.txt" });
    const [written] = await stored(t);
    expect(written?.files.map(({ path }) => path)).toEqual([outside]);
  });

  it("stores all of a folder without git, and of a repository that is removed as a whole", async () => {
    const t = await start();
    const { root } = makeTree();
    await call(t, dirname(root), "Bash", { command: "rm -rf project" });
    const [one] = await stored(t);
    const paths = one?.files.map(({ path }) => path.slice(root.length + 1)) ?? [];
    expect(paths).toEqual(expect.arrayContaining([...ALL, "kept.txt", ".git/HEAD"]));
    const plain = tempFolder();
    writeFileSync(join(plain, "a"), "a");
    await call(t, plain, "Bash", { command: "rm a" });
    expect((await stored(t))[0]?.files.map(({ path }) => path)).toEqual([join(plain, "a")]);
  });

  it("stores in part beyond its limits, names what it left, and asks if the user wants", async () => {
    const t = await start({ callMegabytes: 1, ask: "on" });
    const { root } = makeTree();
    writeFileSync(join(root, "large.bin"), Buffer.alloc(2 ** 20 + 1, 1));
    const { body } = await call(t, root, "Bash", { command: "git clean -fd" });
    const [one] = await stored(t);
    expect(one?.isPartial).toBe(true);
    expect(one?.left).toEqual([{ path: join(root, "large.bin"), reason: "is larger than what a call may store" }]);
    expect(one?.files).toHaveLength(of("untracked").length);
    expect(body).toMatchObject({ decision: "allow", ask: expect.stringContaining("in part only") });
  });

  it("holds a call up no longer than its time in a tree of many files, and says that it is in part", async () => {
    const t = await start({ ms: 1 });
    const root = tempFolder();
    for (let folder = 0; folder < 20; folder++) {
      mkdirSync(join(root, `f${folder}`));
      for (let n = 0; n < 50; n++) writeFileSync(join(root, `f${folder}/${n}`), `${folder} ${n}`);
    }
    const { body } = await call(t, root, "Bash", { command: "rm -rf *" });
    expect(body.decision).toBe("allow");
    const [one] = await stored(t);
    expect(one?.isPartial).toBe(true);
    expect(one?.files.length).toBeLessThan(1_000);
  });

  it("stores a part of a tree that is too large to go through in its time", async () => {
    const t = await start({ ms: 400 });
    const root = tempFolder();
    for (let folder = 0; folder < 40; folder++) {
      mkdirSync(join(root, `f${folder}`));
      for (let n = 0; n < 500; n++) writeFileSync(join(root, `f${folder}/${n}`), `${folder} ${n}`);
    }
    await expect
      .poll(async () => {
        await call(t, root, "Bash", { command: "rm -rf *" });
        return (await stored(t))[0]?.files.length;
      })
      .toBeGreaterThan(0);
    await call(t, root, "Bash", { command: "rm f*/*" });
    expect((await stored(t))[0]?.isPartial).toBe(true);
  });

  it("is not held up by a pattern with many ways to match", async () => {
    const t = await start({ ms: 200 });
    const { root } = makeTree();
    for (let n = 0; n < 20; n++) writeFileSync(join(root, `${"a".repeat(240)}${n}`), "a");
    // A matcher that tries one way after another would need years.
    const command = `rm ${"*a*a*a*a".repeat(10)}?b ${"{a,*}".repeat(40)}c`;
    expect((await call(t, root, "Bash", { command })).body.decision).toBe("allow");
  });

  it.each([
    ["rm {new,a}.txt", ["a.txt", "new.txt"]],
    ["rm [mn]ew.t?t", ["new.txt"]],
    ["rm [!a-m]ew.tx[t]", ["new.txt"]],
    ["rm src/**/new.ts", ["src/new.ts"]],
    ["rm *.sqlite", ["local.sqlite"]],
    ["find . -name 'N*.TXT' -delete", []],
    ["find . -iname 'N*.LOG' -delete", []],
    ["find . -name '*.log' -delete", ["logs/app.log", "notes/two.log"]],
  ])("matches as the shell does: %s", async (command, names) => {
    const t = await start();
    const { root } = makeTree();
    await call(t, root, "Bash", { command });
    const files = (await stored(t)).flatMap((one) => one.files.map(({ path }) => path.slice(root.length + 1)));
    expect(files.sort()).toEqual(expect.arrayContaining(names));
    expect(files.filter((name) => !names.includes(name) && !/^(?:new|sp|a)/.test(name))).toEqual([]);
  });

  it.skipIf(process.getuid?.() === 0)("says which files it may not read", async () => {
    const t = await start();
    const { root } = makeTree();
    chmodSync(join(root, "new.txt"), 0);
    await call(t, root, "Bash", { command: "rm new.txt a.txt" });
    const [one] = await stored(t);
    expect(one?.left).toEqual([{ path: join(root, "new.txt"), reason: "cannot be read" }]);
    expect(one?.files.map(({ path }) => path)).toEqual([join(root, "a.txt")]);
  });

  it("lets the call run when the disk is full", async () => {
    const t = await start();
    const folder = t.kernel.storage.path("net");
    mkdirSync(folder, { recursive: true });
    const unmount = mountSmall(folder, "256k");
    if (!unmount) return;
    onTestFinished(unmount);
    fillDisk(join(folder, "full"));
    const { root } = makeTree();
    const { status, body } = await call(t, root, "Bash", { command: "rm -rf *" });
    expect([status, body.decision]).toEqual([200, "allow"]);
    expect(t.errors.splice(0)).toEqual([expect.objectContaining({ code: "ENOSPC" })]);
  });

  it("removes the oldest calls beyond its space, and no content that a later call has", async () => {
    const home = tempFolder();
    let t = await start({ megabytes: 1 }, true, home);
    const root = tempFolder();
    const put = (name: string, fill: number) => writeFileSync(join(root, name), Buffer.alloc(400_000, fill));
    put("same", 9);
    for (const name of ["a", "b", "c"]) {
      put(name, name.charCodeAt(0));
      await call(t, root, "Bash", { command: `rm same ${name}` });
    }
    await t.close();
    t = await start({}, false, home);
    const all = await stored(t);
    expect(all.map(({ files }) => files.map(({ path }) => path.slice(root.length + 1)).sort())).toEqual([
      ["c", "same"],
    ]);
    expect(readdirSync(t.kernel.storage.path("net", "blobs"))).toHaveLength(2);
  });

  it("has the content of every file that it lists, also of calls at the same time as it makes room", async () => {
    const t = await start({ megabytes: 1 });
    const root = tempFolder();
    const folder = t.kernel.storage.path("net");
    writeFileSync(join(root, "same"), Buffer.alloc(300_000, 9));
    for (let round = 0; round < 30; round++) {
      // A call of its own file lets the one before go; the next has what that one had, while room is made.
      writeFileSync(join(root, "other"), Buffer.alloc(900_000, `${round}`));
      await call(t, root, "Bash", { command: "rm same" });
      await call(t, root, "Bash", { command: "rm other" });
      await call(t, root, "Bash", { command: "rm same" });
    }
    await t.kernel.close();
    const records = readdirSync(folder).filter((name) => name.endsWith(".json"));
    const hashes = records.flatMap((name) =>
      (JSON.parse(readFileSync(join(folder, name), "utf8")) as NetCatch).files.map(({ hash }) => hash),
    );
    expect(hashes.length).toBeGreaterThan(0);
    expect(hashes.filter((hash) => !existsSync(join(folder, "blobs", hash)))).toEqual([]);
  });

  it("keeps its files to the user, and the words of a secret out of its list", async () => {
    const t = await start();
    const { root } = makeTree();
    await call(t, root, "Bash", { command: "rm a.txt; echo done" });
    const [one] = await stored(t);
    expect(one?.command).toBe("rm a.txt; echo done");
    const folder = t.kernel.storage.path("net");
    for (const path of [folder, join(folder, "blobs")]) expect(lstatSync(path).mode & 0o77).toBe(0);
    for (const name of readdirSync(join(folder, "blobs")))
      expect(lstatSync(join(folder, "blobs", name)).mode & 0o77).toBe(0);
  });
});

describe("sessarc undelete --net", () => {
  it("lists calls, shows one, and puts its files back", async () => {
    const home = tempFolder();
    const t = await start({}, true, home);
    const { root } = makeTree();
    await call(t, root, "Bash", { command: "rm a.txt" });
    await t.close();
    const run = (args: string[]) => runCommand([...args, "--data-dir", join(home, "data")], home);
    const list = await run(["undelete", "--net", "--json"]);
    const [one] = JSON.parse(list.stdout) as NetCatch[];
    expect((await run(["undelete", "--net"])).stdout).toContain(one?.id);
    const shown = await run(["undelete", "--net", one?.id ?? ""]);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining(join(root, "a.txt")) });
    const to = join(tempFolder(), "back");
    expect(await run(["undelete", "--net", one?.id ?? "", "--to", to])).toMatchObject({ code: 0 });
    expect(readFileSync(join(to, "a.txt"), "utf8")).toBe(TREE.changed["a.txt"]);
  });
});
