/** Which project a session belongs to, and which sessions a list shows, where a folder or a parent is gone or has several spellings. */
import { execFileSync } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { isWindowsPath, spellingKey } from "../../plugins/archive/places/spelling.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

interface Listed {
  id: string;
  projectId: string;
  messageCount: number;
}
const toKey = (n: number) => `5e550000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const findRows = (n: number, cwd: string, key = toKey(n), text = `question ${n}`) => {
  const base = { sessionId: key, cwd, timestamp: `2026-11-20T09:00:0${n % 10}.000Z`, isSidechain: false };
  const message = { id: `m${n}`, role: "assistant", model: "m", usage: { input_tokens: 1, output_tokens: 1 } };
  return [
    { ...base, type: "user", uuid: `u${n}`, parentUuid: null, message: { role: "user", content: text } },
    {
      ...base,
      type: "assistant",
      uuid: `a${n}`,
      requestId: `r${n}`,
      message: { ...message, content: [{ type: "text", text: "answer" }] },
    },
  ];
};
async function write(home: string, path: string, rows: readonly object[]): Promise<void> {
  const file = join(home, ".claude/projects", path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}
/** A session in each folder, imported in this order. */
async function inFolders(home: string, folders: readonly string[]): Promise<Map<string, string>> {
  const t = await createTestKernel({ home, plugins: defaultPlugins() });
  for (const [n, cwd] of folders.entries()) {
    await write(home, `p${n}/${toKey(n)}.jsonl`, findRows(n, cwd));
    await (n === 0 ? t.send("POST", "/api/import", { all: true }) : t.send("POST", "/api/sync?wait=1"));
  }
  const list = await readSessions(t);
  return new Map(folders.map((cwd, n) => [cwd, list.find(({ id }) => id.endsWith(toKey(n)))?.projectId ?? ""]));
}
const readSessions = async (t: TestKernel, query = "") =>
  (await t.json<{ sessions: Listed[] }>(`/api/sessions?limit=100${query}`)).sessions;
const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-C", cwd, "-c", "user.name=t", "-c", "user.email=t@e.x", ...args], { stdio: "pipe" });

describe("work trees that are gone", () => {
  const trees = (home: string) => [
    `${home}/src/app/.claude/worktrees/calm-fox`,
    `${home}/src/app/.worktrees/x/deep`,
    `${home}/src/app.worktrees/feat/my-feature`,
    `${home}/src/app__worktrees/feature-x`,
    `${home}/src/app-worktrees/feature-y`,
    `${home}/src/worktrees/app/feature-z`,
    `${home}/.cursor/worktrees/app/xyz`,
    `${home}/.codex/worktrees/ab12/app`,
    `${home}/.codex/worktrees/ab12/app/packages/one`,
  ];

  it("are one project with their repository, in any order of import", async () => {
    for (const order of ["first", "last"]) {
      const home = await makeTempDir();
      const app = join(home, "src/app");
      await mkdir(app, { recursive: true });
      git(app, "init", "-q", "--template=");
      const all = trees(home);
      const projects = await inFolders(home, order === "first" ? [app, ...all] : [...all, app]);
      expect(new Set(projects.values())).toEqual(new Set([projects.get(app)]));
    }
  });

  it("stay on their own where no repository, or more than one, has the name", async () => {
    const home = await makeTempDir();
    for (const place of ["one/app", "two/app"]) {
      await mkdir(join(home, place), { recursive: true });
      git(join(home, place), "init", "-q", "--template=");
    }
    const [one, two, tree, other] = [
      join(home, "one/app"),
      join(home, "two/app"),
      join(home, ".cursor/worktrees/app/x"),
      join(home, ".cursor/worktrees/none/x"),
    ];
    const projects = await inFolders(home, [one, two, tree, other]);
    expect(new Set(projects.values()).size).toBe(4);
  });

  it.each([[], ["-c", "worktree.useRelativePaths=true"]])(
    "are one project with the repository beside them that still has git's record of them (%s %s)",
    async (...settings) => {
      const home = await makeTempDir();
      const [app, tree, other] = [join(home, "src/app"), join(home, "src/app-feature"), join(home, "src/app-other")];
      await mkdir(app, { recursive: true });
      git(app, "init", "-q", "--template=");
      git(app, "commit", "-q", "--allow-empty", "-m", "one");
      git(app, ...settings, "worktree", "add", "-q", tree);
      await rm(tree, { recursive: true });
      const projects = await inFolders(home, [join(tree, "deep/er"), tree, other, app]);
      expect(projects.get(tree)).toBe(projects.get(app));
      expect(projects.get(join(tree, "deep/er"))).toBe(projects.get(app));
      expect(projects.get(other)).not.toBe(projects.get(app));
    },
  );

  it("are one project with their repository when another session was there before", async () => {
    const home = await makeTempDir();
    const [app, tree] = [join(home, "src/app"), join(home, "elsewhere/feature")];
    await mkdir(app, { recursive: true });
    git(app, "init", "-q", "--template=");
    git(app, "commit", "-q", "--allow-empty", "-m", "one");
    git(app, "worktree", "add", "-q", tree);
    const t = await createTestKernel({ home, plugins: defaultPlugins() });
    await write(home, `p1/${toKey(1)}.jsonl`, findRows(1, tree));
    await t.send("POST", "/api/import", { all: true });
    git(app, "worktree", "remove", tree);
    await write(home, `p2/${toKey(2)}.jsonl`, findRows(2, tree));
    await t.send("POST", "/api/sync?wait=1");
    const list = await readSessions(t);
    expect(list).toHaveLength(2);
    expect(new Set(list.map(({ projectId }) => projectId)).size).toBe(1);
  });

  it("do not take folders along that only look like one", async () => {
    const home = await makeTempDir();
    const app = join(home, "src/app");
    await mkdir(app, { recursive: true });
    await mkdir(join(home, "src/app.worktrees/there"), { recursive: true });
    git(app, "init", "-q", "--template=");
    const projects = await inFolders(home, [app, join(home, "src/app.worktrees/there"), join(home, "src/app-tools/x")]);
    expect(new Set(projects.values()).size).toBe(3);
  });
});

describe("bare repositories", () => {
  it.each([
    [".bare", true],
    [".bare", false],
    [".git", false],
    ["store.git", true],
  ])(
    "in %s are one project with the folder around and the work trees in it (a .git file: %s)",
    async (name, isNamed) => {
      const home = await makeTempDir();
      const [source, top] = [join(home, "source"), join(home, "proj")];
      await mkdir(source);
      await mkdir(top);
      git(source, "init", "-q", "-b", "main", "--template=");
      git(source, "commit", "-q", "--allow-empty", "-m", "one");
      git(top, "clone", "-q", "--bare", source, join(top, name));
      if (isNamed) await writeFile(join(top, ".git"), `gitdir: ./${name}\n`);
      const at = join(top, name);
      git(at, "worktree", "add", "-q", join(top, "main"), "main");
      git(at, "worktree", "add", "-q", "-b", "feat", join(top, "feat"));
      const folders = [...(isNamed || name === ".git" ? [top] : []), join(top, "main"), join(top, "feat"), at];
      const projects = await inFolders(home, folders);
      expect(new Set(projects.values()).size).toBe(1);
    },
  );
});

describe("folders of Windows", () => {
  it("are one for all spellings", () => {
    const same = (...paths: string[]) => expect(new Set(paths.map(spellingKey)).size, paths.join()).toBe(1);
    same(
      "C:\\Work\\Notes",
      "c:\\work\\notes",
      "C:/Work/Notes/",
      "c:\\Work\\\\Notes\\",
      "\\\\?\\C:\\Work\\Notes",
      "//?/c:/work/notes",
    );
    same("\\\\server\\share\\App", "//Server/share/app/", "\\\\?\\UNC\\server\\share\\app");
    same(
      "\\\\wsl$\\Ubuntu\\home\\me\\app",
      "\\\\wsl.localhost\\Ubuntu\\home\\me\\app",
      "//wsl.localhost/ubuntu/home/me/app",
    );
    same("C:\\", "c:/");
    expect(spellingKey("C:\\Work\\Notes")).not.toBe(spellingKey("D:\\Work\\Notes"));
    for (const path of ["/home/Me/App", "/home/me//app", "/", "relative/x", "C:relative"]) {
      expect(isWindowsPath(path)).toBe(false);
      expect(spellingKey(path)).toBe(path);
    }
  });

  it("are one project each, shown as first spelled, read on any system", async () => {
    const home = await makeTempDir();
    const groups = [
      ["C:\\Work\\Notes", "c:\\work\\notes", "C:/Work/Notes/", "\\\\?\\C:\\Work\\Notes"],
      ["\\\\server\\share\\app", "//server/share/App"],
      ["\\\\wsl$\\Ubuntu\\home\\me\\app", "\\\\wsl.localhost\\Ubuntu\\home\\me\\app\\"],
    ];
    const projects = await inFolders(home, groups.flat());
    expect(new Set(projects.values()).size).toBe(3);
    for (const group of groups) expect(new Set(group.map((cwd) => projects.get(cwd))).size).toBe(1);
  });
});

describe("sessions without a parent or without a message of their own", () => {
  it("are listed: sub-agents whose parent is not archived, until it is", async () => {
    const home = await makeTempDir();
    const parent = toKey(9);
    await write(home, `-w-app/${parent}/subagents/agent-a1.jsonl`, findRows(1, "/w/app", parent, "the task of one"));
    await write(home, `-w-app/${parent}/subagents/agent-a2.jsonl`, findRows(2, "/w/app", parent, "the task of two"));
    const t = await createTestKernel({ home, plugins: defaultPlugins() });
    await t.send("POST", "/api/import", { all: true });
    const top = () => readSessions(t, "&subagents=0");
    const counts = async () =>
      (await t.json<{ sessionCount: number; subagentCount: number }[]>("/api/projects?git=0"))[0];
    expect((await top()).map(({ id }) => id).sort()).toEqual([
      `claude-code:${parent}:agent-a1`,
      `claude-code:${parent}:agent-a2`,
    ]);
    expect(await counts()).toMatchObject({ sessionCount: 2, subagentCount: 0 });
    await write(home, `-w-app/${parent}.jsonl`, findRows(3, "/w/app", parent));
    await t.send("POST", "/api/sync?wait=1");
    expect((await top()).map(({ id }) => id)).toEqual([`claude-code:${parent}`]);
    expect(await counts()).toMatchObject({ sessionCount: 1, subagentCount: 2 });
  });

  it("are not listed: copies without a message of their own, and a search shows one hit", async () => {
    const home = await makeTempDir();
    const rows = findRows(1, "/w/app", toKey(1), "a needle");
    await write(home, `-w-app/${toKey(1)}.jsonl`, rows);
    const copy = rows.map((row) => ({
      ...row,
      sessionId: toKey(2),
      forkedFrom: { sessionId: toKey(1) },
      sessionKind: "background",
    }));
    await write(home, `-w-app/${toKey(2)}.jsonl`, copy);
    const t = await createTestKernel({ home, plugins: defaultPlugins() });
    await t.send("POST", "/api/import", { all: true });
    expect((await readSessions(t, "&subagents=0")).map(({ id }) => id)).toEqual([`claude-code:${toKey(1)}`]);
    const { results } = await t.json<{ results: { session: Listed }[] }>("/api/search?q=needle");
    expect(results.map(({ session }) => session.id)).toEqual([`claude-code:${toKey(1)}`]);
    await write(home, `-w-app/${toKey(2)}.jsonl`, [...copy, ...findRows(4, "/w/app", toKey(2), "went on")]);
    await t.send("POST", "/api/sync?wait=1");
    expect(await readSessions(t, "&subagents=0")).toHaveLength(2);
    await rm(join(home, ".claude"), { recursive: true });
  });
});

describe("folders of Windows in WSL", () => {
  it("are one project under both names, with what is below a known repository", async () => {
    const home = await makeTempDir();
    const spellings = ["C:\\Users\\me\\App", "/mnt/c/Users/me/App", "/mnt/c/users/me/app/", "c:/Users/me/app"];
    const projects = await inFolders(home, spellings);
    expect(new Set(projects.values()).size).toBe(1);
    expect(spellingKey("/mnt/c")).toBe(spellingKey("C:\\"));
    for (const other of ["/mnt/data/x", "/mnt/C/x", "/mnt", "/srv/mnt/c/x"]) expect(spellingKey(other)).toBe(other);
  });
});
