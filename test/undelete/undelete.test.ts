/** What sessions destroyed, what was in a file, and the way back. */
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createTestKernel } from "sessarc/test";
import { expect, it, vi } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import git from "../../plugins/git/index.ts";
import replay from "../../plugins/replay/index.ts";
import security from "../../plugins/security/index.ts";
import undelete, {
  type FileAtVersion,
  type FileHistory,
  type LostFile,
  type PutBack,
} from "../../plugins/undelete/index.ts";
import { runCommand } from "../command.ts";
import { describeGit, makeRepo, type Repo, T0, tempFolder } from "../git/_repo.ts";
import { createLog, shown } from "./_log.ts";

const KEY = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0a";
const ID = `claude-code:${KEY}`;
type Log = ReturnType<typeof createLog>;

/** `session`: writes the rows of one session; the disk is as the function leaves it. */
async function open(session: (log: Log, repo: Repo, home: string) => void) {
  const home = tempFolder();
  const repo = makeRepo(join(home, "project"));
  const log = createLog({ home, root: repo.root, key: KEY });
  log.prompt(T0, "Go");
  session(log, repo, home);
  log.write();
  const t = await createTestKernel({
    home,
    plugins: [archive(), git(), claude(), codex(), replay(), security(), undelete()],
  });
  await t.send("POST", "/api/import", { all: true });
  const path = (name: string) => join(repo.root, name);
  return {
    ...{ t, home, repo, path },
    history: (name: string) => t.json<FileHistory>(`/api/files/history?${new URLSearchParams({ path: path(name) })}`),
    at: (name: string, at?: string) =>
      t.json<FileAtVersion>(`/api/files/at?${new URLSearchParams({ path: path(name), ...(at && { at }) })}`),
    lost: () => t.json<LostFile[]>(`/api/sessions/${encodeURIComponent(ID)}/lost-files`),
    destroyed: (since: Date) => t.json<object>(`/api/files/destroyed?since=${since.toISOString()}`),
    putBack: (body: object) => t.send("POST", "/api/files/put-back", body),
  };
}

const read = (log: Log, seconds: number, repo: Repo, name: string) =>
  log.call(seconds, "Read", { file_path: join(repo.root, name) }, shown(readFileSync(join(repo.root, name), "utf8")));
const bash = (log: Log, seconds: number, command: string, act: () => void) => {
  act();
  log.call(seconds, "Bash", { command }, "");
};

describeGit("what a session destroyed", () => {
  it.each<[string, string, (repo: Repo) => void]>([
    ["rm", "rm -f src/new.ts", (repo) => rmSync(join(repo.root, "src/new.ts"))],
    ["rm of a folder", "cd src && rm -rf ../src", (repo) => rmSync(join(repo.root, "src"), { recursive: true })],
    ["git clean", "git clean -fdq", (repo) => repo.git("clean", "-fdq")],
    ["find", "find src -name '*.ts' -delete", (repo) => rmSync(join(repo.root, "src/new.ts"))],
    ["mv over it", "mv other src/new.ts", (repo) => repo.write("src/new.ts", "other\n")],
    [">", "echo > src/new.ts", (repo) => repo.write("src/new.ts", "\n")],
  ])("lists a file that was never committed: %s", async (_, command, act) => {
    const { lost, destroyed } = await open((log, repo) => {
      repo.write("tracked.ts", "x\n");
      repo.commit("first");
      repo.write("src/new.ts", "one\ntwo\n");
      read(log, T0 + 10, repo, "src/new.ts");
      read(log, T0 + 11, repo, "tracked.ts");
      bash(log, T0 + 20, command, () => act(repo));
    });
    const files = await lost();
    expect(files.map(({ path }) => path.split("/").at(-1))).toEqual(["new.ts"]);
    expect(files[0]).toMatchObject({ command, version: { state: "exact", source: "read" } });
    expect(await destroyed(new Date(0))).toEqual({ files: 1, sessions: [{ id: ID, files: 1 }] });
    expect(await destroyed(new Date(Date.now() + 86_400_000))).toEqual({ files: 0, sessions: [] });
  });

  it.each(["git reset -q --hard", "git checkout -q -- .", "git checkout -q -- a.ts", "git restore a.ts"])(
    "lists changes of a tracked file that were never committed: %s",
    async (command) => {
      const { lost, at } = await open((log, repo) => {
        repo.write("a.ts", "old\n");
        repo.write("same.ts", "same\n");
        repo.commit("first");
        repo.write("a.ts", "work of two days\n");
        read(log, T0 + 10, repo, "a.ts");
        read(log, T0 + 11, repo, "same.ts");
        bash(log, T0 + 20, command, () => repo.git(...command.split(" ").slice(1)));
      });
      const files = await lost();
      expect(files.map(({ path }) => path.split("/").at(-1))).toEqual(["a.ts"]);
      expect((await at("a.ts", files[0]?.version.id)).text).toBe("work of two days\n");
    },
  );

  it("reads a session once for all the files that a session destroyed", async () => {
    const names = ["a.ts", "b.ts", "c.ts", "d.ts"];
    const { t, lost } = await open((log, repo) => {
      for (const [i, name] of names.entries()) {
        repo.write(name, `${name}\n`);
        read(log, T0 + 10 + i, repo, name);
        bash(log, T0 + 20 + i, `rm ${name}`, () => rmSync(join(repo.root, name)));
      }
    });
    const events = vi.spyOn(t.kernel.inject("archive"), "events");
    expect((await lost()).map(({ path }) => path.split("/").at(-1))).toEqual(names);
    // Once for what it did, once among the sessions that may have seen the files.
    expect(events).toHaveBeenCalledTimes(2);
    events.mockRestore();
  });

  it("lists a file that a write replaced, not one that the session had written itself or git holds", async () => {
    const { lost } = await open((log, repo) => {
      repo.write("held.ts", "held\n");
      repo.commit("first");
      repo.write("user.ts", "by hand\n");
      for (const [i, name] of ["user.ts", "held.ts", "own.ts", "own.ts"].entries()) {
        if (i < 2) read(log, T0 + 10 + i, repo, name);
        repo.write(name, `new ${i}\n`);
        log.call(T0 + 20 + i, "Write", { file_path: join(repo.root, name), content: `new ${i}\n` }, "done");
      }
    });
    expect((await lost()).map(({ path, how }) => [path.split("/").at(-1), how])).toEqual([["user.ts", "write"]]);
  });

  it("lists nothing that is still there, and nothing that the session read again as it was", async () => {
    const { lost } = await open((log, repo) => {
      repo.write("a.ts", "old\n");
      repo.commit("first");
      repo.write("ignored.ts", "mine\n");
      read(log, T0 + 10, repo, "ignored.ts");
      bash(log, T0 + 20, "git reset -q --hard", () => repo.git("reset", "-q", "--hard"));
      read(log, T0 + 30, repo, "ignored.ts");
      repo.write("ignored.ts", "changed later by hand\n");
    });
    expect(await lost()).toEqual([]);
  });

  it("knows a file that only another session had read", async () => {
    const { lost } = await open((log, repo, home) => {
      const other = createLog({ home, root: repo.root, key: KEY.replace(/a$/, "b") });
      other.prompt(T0, "Look");
      repo.write("deep/plan.md", "plan\n");
      read(other, T0 + 5, repo, "deep/plan.md");
      other.write();
      bash(log, T0 + 20, "rm -rf deep", () => rmSync(join(repo.root, "deep"), { recursive: true }));
    });
    expect((await lost()).map(({ how, version }) => [how, version.sessionId])).toEqual([["rm", `${ID.slice(0, -1)}b`]]);
  });
});

describeGit("what was in a file", () => {
  it("answers a time, a message, a session and a commit", async () => {
    let hash = "";
    const { at, history } = await open((log, repo) => {
      repo.write("a.ts", "one\n");
      hash = repo.commit("first", T0 + 5);
      repo.write("a.ts", "two\n");
      read(log, T0 + 10, repo, "a.ts");
      log.call(T0 + 20, "Write", { file_path: join(repo.root, "a.ts"), content: "three\n" }, "done");
    });
    const text = async (wanted?: string) => (await at("a.ts", wanted)).text;
    expect(await text(new Date((T0 + 12) * 1000).toISOString())).toBe("two\n");
    expect(await text(`${ID}#1`)).toBe("two\n");
    expect(await text(ID)).toBe("three\n");
    expect(await text(hash.slice(0, 10))).toBe("one\n");
    expect(await text()).toBe("three\n");
    expect((await history("a.ts")).versions.map(({ source }) => source)).toEqual(["write", "read", "commit"]);
  });

  it("marks what a read of a part left out, with its lines", async () => {
    const { at } = await open((log, repo) => {
      const lines = `${Array.from({ length: 9 }, (_, i) => `line ${i + 1}`).join("\n")}\n`;
      log.call(T0 + 10, "Read", { file_path: join(repo.root, "a.ts"), offset: 3, limit: 2 }, shown(lines, 3, 2));
    });
    expect(await at("a.ts")).toMatchObject({
      state: "partial",
      holes: [
        { from: 1, to: 2 },
        { from: 5, to: null },
      ],
      text: "[sessarc: lines 1 to 2 are not known]\nline 3\nline 4\n[sessarc: what follows from line 5 on is not known]\n",
    });
  });

  it("drops what an edit across the border of a part may have changed", async () => {
    const { at } = await open((log, repo) => {
      const file_path = join(repo.root, "a.ts");
      log.call(T0 + 1, "Read", { file_path, offset: 2, limit: 2 }, "2\ttwo\n3\tthree");
      log.call(T0 + 2, "Edit", { file_path, old_string: "three\nfour", new_string: "3\n4" }, "done");
    });
    expect((await at("a.ts")).text).toBe(
      "[sessarc: lines 1 to 1 are not known]\ntwo\n[sessarc: what follows from line 3 on is not known]\n",
    );
  });

  it("drops a line that an edit beside it may have joined with lines that are not known", async () => {
    const { at } = await open((log, repo) => {
      const [a, b] = [join(repo.root, "a.ts"), join(repo.root, "b.ts")];
      log.call(T0 + 1, "Read", { file_path: a, offset: 2, limit: 2 }, "2\ttwo\n3\tthree");
      log.call(T0 + 2, "Edit", { file_path: a, old_string: "one\n", new_string: "1 " }, "done");
      log.call(T0 + 3, "Read", { file_path: b, limit: 2 }, "1\tone\n2\ttwo");
      log.call(T0 + 4, "Read", { file_path: b, offset: 5, limit: 1 }, "5\tfive");
      log.call(T0 + 5, "Edit", { file_path: b, old_string: "two\n", new_string: "2 " }, "done");
    });
    expect((await at("a.ts")).text).toBe(
      "[sessarc: what follows from line 1 on is not known]\nthree\n[sessarc: lines are not known here]\n",
    );
    expect((await at("b.ts")).text).toBe(
      "one\n[sessarc: lines 2 to 3 are not known]\nfive\n[sessarc: what follows from line 5 on is not known]\n",
    );
  });

  it("calls an edit without a check assumed: something else may have changed the file", async () => {
    const patch = "*** Begin Patch\n*** Update File: a.ts\n@@\n-one\n+two\n*** End Patch";
    const { at } = await open((_, repo, home) => {
      const path = join(
        home,
        ".codex/sessions/2023/11/14/rollout-2023-11-14T22-13-20-019a0000-0000-7000-8000-000000000001.jsonl",
      );
      const stamp = (seconds: number) => new Date((T0 + seconds) * 1000).toISOString();
      const row = (seconds: number, type: string, payload: object) => ({ timestamp: stamp(seconds), type, payload });
      const call = (seconds: number, id: string, input: string) => [
        row(seconds, "response_item", { type: "custom_tool_call", call_id: id, name: "apply_patch", input }),
        row(seconds, "response_item", { type: "custom_tool_call_output", call_id: id, output: "Success." }),
      ];
      const rows = [
        row(0, "session_meta", { id: "019a0000-0000-7000-8000-000000000001", cwd: repo.root, timestamp: stamp(0) }),
        row(0, "event_msg", { type: "user_message", message: "Go" }),
        ...call(1, "c1", "*** Begin Patch\n*** Add File: a.ts\n+one\n*** End Patch"),
        ...call(2, "c2", patch),
      ];
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
    });
    expect(await at("a.ts")).toMatchObject({ text: "two\n", isAssumed: true, state: "partial" });
  });

  it("answers 404 for a file that nothing knows, and 400 for a relative path", async () => {
    const { t, path } = await open(() => {});
    const status = async (one: string) => (await t.fetch(`/api/files/at?${new URLSearchParams({ path: one })}`)).status;
    expect(await status(path("none.ts"))).toBe(404);
    expect(await status("../none.ts")).toBe(400);
  });
});

describeGit("putting back", () => {
  const lostFile = (log: Log, repo: Repo) => {
    repo.write("src/a.ts", "mine\n");
    read(log, T0 + 10, repo, "src/a.ts");
    bash(log, T0 + 20, "rm src/a.ts", () => rmSync(join(repo.root, "src/a.ts")));
  };

  it("writes into a new folder, and an undo removes it", async () => {
    const { t, home, path, putBack } = await open(lostFile);
    const to = join(home, "back/here");
    const done = (await putBack({ path: path("src"), to })).body as PutBack;
    expect(readFileSync(join(to, "a.ts"), "utf8")).toBe("mine\n");
    expect((await putBack({ path: path("src"), to })).status).toBe(409);
    const undone = (await t.send("POST", "/api/files/undo", { id: done.receipt.id })).body;
    expect(undone).toMatchObject({ removed: [join(to, "a.ts")], kept: [] });
    expect(existsSync(join(home, "back"))).toBe(false);
  });

  it("writes in place only where nothing is, or by force after a copy", async () => {
    const { t, path, putBack } = await open(lostFile);
    expect((await putBack({ path: path("src/a.ts") })).status).toBe(200);
    writeFileSync(path("src/a.ts"), "newer\n");
    expect((await putBack({ path: path("src/a.ts") })).status).toBe(409);
    expect(readFileSync(path("src/a.ts"), "utf8")).toBe("newer\n");
    const done = (await putBack({ path: path("src/a.ts"), force: true })).body as PutBack;
    expect(readFileSync(path("src/a.ts"), "utf8")).toBe("mine\n");
    await t.send("POST", "/api/files/undo", { id: done.receipt.id });
    expect(readFileSync(path("src/a.ts"), "utf8")).toBe("newer\n");
  });

  it("leaves a file alone on undo that changed since", async () => {
    const { t, path, putBack } = await open(lostFile);
    const done = (await putBack({ path: path("src/a.ts") })).body as PutBack;
    writeFileSync(path("src/a.ts"), "newer\n");
    const undone = (await t.send("POST", "/api/files/undo", { id: done.receipt.id })).body;
    expect(undone).toMatchObject({ kept: [path("src/a.ts")] });
    expect(readFileSync(path("src/a.ts"), "utf8")).toBe("newer\n");
  });

  it("keeps line ends and permissions as the repository has them", async () => {
    const { home, path, putBack } = await open((log, repo) => {
      repo.write("run.bat", "one\r\ntwo\r\n");
      chmodSync(join(repo.root, "run.bat"), 0o755);
      repo.commit("first", T0 + 5);
      log.call(T0 + 10, "Read", { file_path: join(repo.root, "run.bat") }, shown("one\nchanged\n"));
    });
    await putBack({ path: path("run.bat"), to: join(home, "back") });
    expect(readFileSync(join(home, "back/run.bat"), "utf8")).toBe("one\r\nchanged\r\n");
    expect(statSync(join(home, "back/run.bat")).mode & 0o777).toBe(0o755);
  });

  it("refuses a text with holes in place, and marks them in a new folder", async () => {
    const { home, path, putBack } = await open((log, repo) => {
      log.call(T0 + 10, "Read", { file_path: join(repo.root, "a.ts"), offset: 2, limit: 1 }, "2\ttwo");
    });
    expect((await putBack({ path: path("a.ts") })).status).toBe(422);
    expect((await putBack({ path: path("a.ts"), to: join(home, "back") })).status).toBe(200);
    expect(readFileSync(join(home, "back/a.ts"), "utf8")).toContain("[sessarc: lines 1 to 1 are not known]\ntwo\n");
  });
});

describeGit("hostile logs", () => {
  it("writes through no link and into no .git", async () => {
    const { home, path, putBack } = await open((log, repo, home) => {
      mkdirSync(join(home, "elsewhere"));
      symlinkSync(join(home, "elsewhere"), join(repo.root, "link"));
      for (const [i, name] of ["link/a.ts", ".git/hooks/post-commit", "sub/../../out.ts"].entries())
        log.call(T0 + i, "Write", { file_path: `${repo.root}/${name}`, content: "evil\n" }, "done");
    });
    expect((await putBack({ path: path("link/a.ts") })).status).toBe(422);
    expect((await putBack({ path: path(".git/hooks/post-commit") })).status).toBe(422);
    expect(existsSync(join(home, "elsewhere/a.ts"))).toBe(false);
    const done = (await putBack({ path: home, to: join(home, "back") })).body as PutBack;
    expect(done.files.every(({ to }) => to.startsWith(join(home, "back")))).toBe(true);
  });

  it("reads no copy outside the folder of copies, and keeps names with newlines whole", async () => {
    const { history, at } = await open((log, repo, home) => {
      writeFileSync(join(home, ".claude-secret"), "secret\n");
      log.snapshot(T0 + 1, "a\nb.ts", "../../../.claude-secret");
      log.call(T0 + 2, "Write", { file_path: join(repo.root, "a\nb.ts"), content: "text\n" }, "done");
    });
    expect((await history("a\nb.ts")).versions.map(({ source }) => source)).toEqual(["write"]);
    expect((await at("a\nb.ts")).text).toBe("text\n");
  });

  it("takes a read that was cut for a part", async () => {
    const { at } = await open((log, repo) => {
      const rows = Array.from({ length: 2_000 }, (_, i) => `${i + 1}\tline`).join("\n");
      log.call(T0 + 1, "Read", { file_path: join(repo.root, "big.ts") }, rows);
      log.call(T0 + 2, "Read", { file_path: join(repo.root, "wide.ts") }, `1\t${"x".repeat(2_000)}\n2\tend\n3\t`);
      log.call(T0 + 3, "Read", { file_path: join(repo.root, "said.ts") }, "1\tone\n2\t<system-reminder>\n3\ttwo\n4\t");
    });
    expect((await at("big.ts")).state).toBe("exact to line 2000");
    expect(await at("wide.ts")).toMatchObject({ state: "partial", holes: [{ from: 1, to: 1 }] });
    expect(await at("said.ts")).toMatchObject({ state: "exact", text: "one\n<system-reminder>\ntwo\n" });
  });
});

it("finds the copies that Claude Code stored in a session whose log is gone", async () => {
  const home = tempFolder();
  const path = join(home, "project/plan.md");
  const name = `${createHash("sha256").update(path).digest("hex").slice(0, 16)}@v2`;
  const folder = join(home, ".claude/file-history", KEY);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), "the plan\n");
  writeFileSync(join(folder, "0123456789abcdef@v1"), "another file");
  const t = await createTestKernel({ home, plugins: [archive(), claude(), replay(), security(), undelete()] });
  const { versions } = await t.json<FileHistory>(`/api/files/history?${new URLSearchParams({ path })}`);
  expect(versions).toMatchObject([{ path, source: "copy", state: "exact", sessionId: null }]);
  expect(await t.json<FileAtVersion>(`/api/files/at?${new URLSearchParams({ path })}`)).toMatchObject({
    text: "the plan\n",
  });
});

describeGit("sessarc undelete", () => {
  it("lists, prints, writes, puts back and takes back", async () => {
    const home = tempFolder();
    const repo = makeRepo(join(home, "project"));
    const log = createLog({ home, root: repo.root, key: KEY });
    log.prompt(T0, "Go");
    repo.write("a.ts", "mine\n");
    read(log, T0 + 10, repo, "a.ts");
    bash(log, T0 + 20, "rm a.ts", () => rmSync(join(repo.root, "a.ts")));
    log.write();
    const path = join(repo.root, "a.ts");
    await runCommand(["import", "--all"], home);
    expect((await runCommand(["undelete", path, "--list"], home)).stdout).toMatch(/gone[\s\S]*read +exact/);
    expect((await runCommand(["undelete", path], home)).stdout).toBe("mine\n");
    expect((await runCommand(["undelete", path, "-o", "copy.ts"], home)).code).toBe(0);
    expect(readFileSync(join(home, "copy.ts"), "utf8")).toBe("mine\n");
    expect((await runCommand(["undelete", path, "-o", "copy.ts"], home)).code).toBe(2);
    expect((await runCommand(["undelete", "--session", "last"], home)).stdout).toMatch(/a\.ts +rm #\d+ +exact/);
    const put = await runCommand(["undelete", "--session", "last", "--to", "back"], home);
    expect(readFileSync(join(home, "back/a.ts"), "utf8")).toBe("mine\n");
    const [, id = ""] = /--undo ([\w-]+)/.exec(put.stderr) ?? [];
    expect((await runCommand(["undelete", "--undo", id], home)).code).toBe(0);
    expect(existsSync(join(home, "back"))).toBe(false);
  });
});
