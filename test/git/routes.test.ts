import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { defineAdapter, documentSessions } from "sessarc/adapter";
import { createTestKernel, readError, type TestKernel, testPlugin } from "sessarc/test";
import { describe, expect, it } from "vitest";
import { rawParam } from "../../core/http/raw-param.ts";
import archive from "../../plugins/archive/index.ts";
import type { CommitAt, TreeAt } from "../../plugins/git/index.ts";
import git, { type FileAt } from "../../plugins/git/index.ts";
import { describeGit, makeRepo, T0, tempFolder } from "./_repo.ts";

/** One file is one session, with the folder it ran in. */
const notes = defineAdapter((folder: string) => ({
  name: "notes",
  label: "Notes",
  roots: () => [folder],
  async *scan(root) {
    for (const name of await readdir(root)) yield { key: name, path: join(root, name), size: 1, mtime: 1 };
  },
  open: documentSessions({
    async read(ref) {
      const { cwd } = JSON.parse(readFileSync(ref.path, "utf8")) as { cwd?: string };
      const said = { kind: "user", text: "hello", at: new Date(T0 * 1000).toISOString() } as const;
      return { events: [said], summary: { cwd, usage: {} } };
    },
  }).open,
}));

interface Listed {
  id: string;
  path: string | null;
  git: unknown;
}

/** A kernel whose archive has one session in each of the folders (undefined: in none). */
async function withProjects(...folders: (string | undefined)[]): Promise<TestKernel & { projects: Listed[] }> {
  const logs = join(tempFolder(), "logs");
  mkdirSync(logs);
  folders.forEach((cwd, index) => {
    writeFileSync(join(logs, `session-${index}`), JSON.stringify({ cwd }));
  });
  const kernel = await createTestKernel({ plugins: [archive(), git(), notes(logs)] });
  await kernel.send("POST", "/api/import", { all: true });
  const projects = await kernel.json<Listed[]>("/api/projects");
  return { ...kernel, projects };
}

const url = (route: string, params: Record<string, string>) => `/api/git/${route}?${new URLSearchParams(params)}`;
const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

describeGit("git routes", () => {
  it("answer the commit of a time, its tree and its files", async () => {
    const repo = makeRepo();
    repo.write("a b.txt", "one\n");
    const first = repo.commit("one", T0 + 10);
    repo.write("a b.txt", "two\n");
    const second = repo.commit("two", T0 + 20);
    const it = await withProjects(repo.root);
    const project = it.projects[0]?.id ?? "";
    expect(it.projects[0]?.git).toMatchObject({ branch: "main", head: second, commitCount: 2 });
    const at = await it.json<CommitAt>(url("at", { project, ts: iso(T0 + 15) }));
    expect(at).toMatchObject({ commit: { hash: first, subject: "one" }, beforeHistory: false });
    const tree = await it.json<TreeAt>(url("tree", { project, commit: second }));
    expect(tree).toEqual({
      commit: second,
      files: [{ path: "a b.txt", mode: "100644", size: 4 }],
      changed: [{ path: "a b.txt", status: "modified" }],
      truncated: false,
    });
    const changes = await it.json<TreeAt>(url("tree", { project, commit: second, files: "0" }));
    expect(changes).toEqual({ ...tree, files: [] });
    const file = await it.json<FileAt>(url("file", { project, commit: second.slice(0, 7), path: "a b.txt" }));
    expect(file).toEqual({
      path: "a b.txt",
      mode: "100644",
      content: "two\n",
      binary: false,
      tooLarge: false,
      previous: "one\n",
      previousPath: "a b.txt",
      previousCommit: first,
      lastCommit: second,
      status: "modified",
    });
  });

  it("take a path in percent form that is no UTF-8", async () => {
    const repo = makeRepo();
    const name = Buffer.from("caf\xe9+%41.txt", "latin1");
    writeFileSync(Buffer.concat([Buffer.from(`${repo.root}/`), name]), "bytes");
    const head = repo.commit("one");
    const it = await withProjects(repo.root);
    const base = url("file", { project: it.projects[0]?.id ?? "", commit: head });
    for (const path of ["caf%E9%2B%2541.txt", "caf%EF%BF%BD%2B%2541.txt", "caf%25E9%252B%252541.txt"]) {
      expect(await it.json<FileAt>(`${base}&path=${path}`), path).toMatchObject({ content: "bytes" });
    }
    expect(rawParam("?x=1&path=a+b%2Fc%ff&path=2", "path")).toEqual(Buffer.from("a b/c\xff", "latin1"));
    expect(rawParam("?x=1", "path")).toBeUndefined();
  });

  it("D15: answer 400, 404 and 422 by what is wrong", async () => {
    const repo = makeRepo();
    repo.write("a", "1");
    const head = repo.commit("one");
    const it = await withProjects(repo.root, tempFolder(), undefined);
    const ids = new Map(it.projects.map(({ id, path }) => [path, id]));
    const project = ids.get(repo.root) ?? "";
    const virtual = ids.get(null) ?? "";
    const folder = it.projects.find(({ path }) => path !== repo.root && path !== null)?.id ?? "";
    const check = async (route: string, params: Record<string, string>, status: number, code: string) => {
      expect(await readError(await it.fetch(url(route, params))), JSON.stringify(params)).toMatchObject({
        status,
        code,
      });
    };
    for (const commit of ["--output=/tmp/x", "HEAD", "main", head.slice(0, 6), `${head}\n`, "", "g".repeat(40)]) {
      await check("tree", { project, commit }, 400, "INVALID_INPUT");
      await check("file", { project, commit, path: "a" }, 400, "INVALID_INPUT");
    }
    for (const ts of ["yesterday", "", "2024-13-01", "1700000000", "--before=now"]) {
      await check("at", { project, ts }, 400, "INVALID_INPUT");
    }
    await check("at", { project }, 400, "INVALID_INPUT");
    await check("file", { project, commit: head }, 400, "INVALID_INPUT");
    await check("tree", { project, commit: "0123456789" }, 404, "COMMIT_NOT_FOUND");
    await check("file", { project, commit: head, path: "nope" }, 404, "FILE_NOT_FOUND");
    await check("file", { project, commit: head, path: "../a" }, 404, "FILE_NOT_FOUND");
    await check("at", { project: "0123456789ab", ts: iso(T0) }, 404, "PROJECT_NOT_FOUND");
    for (const id of [virtual, folder]) {
      await check("at", { project: id, ts: iso(T0) }, 422, "NO_REPOSITORY");
      await check("tree", { project: id, commit: head }, 422, "NO_REPOSITORY");
    }
    const text = await (await it.fetch(url("tree", { project: folder, commit: head }))).text();
    expect(text).not.toContain("/tmp");
  });
});

describe("git keeps the plugin contract", () => {
  testPlugin({ plugin: () => git(), with: () => [archive()] });
});
