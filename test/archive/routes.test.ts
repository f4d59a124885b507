import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Kernel } from "sessarc";
import { createKernel, resolveConfig } from "sessarc/serve";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import git from "../../plugins/git/index.ts";

let home: string;
let kernel: Kernel;

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many routes
  body: any;
}
async function call(method: string, path: string, body?: unknown): Promise<Answer> {
  const init =
    body === undefined
      ? { method }
      : { method, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await kernel.fetch(`/api${path}`, init);
  return { status: response.status, body: await response.json() };
}

const uuid = (n: number) => `${String(n).padStart(8, "0")}-0000-4000-8000-000000000000`;
const toId = (n: number) => `claude-code:${uuid(n)}`;

interface Row {
  role: "user" | "assistant";
  text: string;
  day?: number;
}
/** A log of `rows`; `cwd` null leaves the folder out. Its file is an hour old. */
function session(n: number, cwd: string | null, rows: readonly Row[]): string {
  const file = join(home, ".claude/projects/-x", `${uuid(n)}.jsonl`);
  mkdirSync(join(file, ".."), { recursive: true });
  const lines = rows.map((row, i) =>
    JSON.stringify({
      type: row.role,
      uuid: `${n}-${i}`,
      timestamp: `2026-11-${String(row.day ?? 1).padStart(2, "0")}T10:00:00.000Z`,
      ...(cwd === null ? {} : { cwd }),
      message: { role: row.role, content: row.role === "user" ? row.text : [{ type: "text", text: row.text }] },
    }),
  );
  writeFileSync(file, `${lines.join("\n")}\n`);
  const old = Date.now() / 1000 - 3600;
  utimesSync(file, old, old);
  return file;
}
const importAll = () => call("POST", "/import", { all: true });

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "sessarc-routes-"));
  const env = { home, platform: process.platform, env: { HOME: home } } as const;
  const config = resolveConfig({ dataDir: join(home, "data") }, {}, env);
  kernel = await createKernel({ plugins: [archive(), claude(), git()], env, config });
});
afterEach(async () => {
  await kernel.close();
  rmSync(home, { recursive: true, force: true });
});

describe("projects", () => {
  const repository = (name: string) => {
    const path = join(home, "work", name);
    mkdirSync(join(path, "src"), { recursive: true });
    const run = (...args: string[]) => execFileSync("git", args, { cwd: path, stdio: "pipe" });
    run("init", "-q", "-b", "main");
    run("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", `first of ${name}`);
    return path;
  };

  it("folds subfolders and work trees into their repository", async () => {
    const path = repository("app");
    execFileSync("git", ["worktree", "add", "-q", join(home, "work/app-tree")], { cwd: path, stdio: "pipe" });
    session(1, path, [{ role: "user", text: "a" }]);
    session(2, join(path, "src"), [{ role: "user", text: "b" }]);
    session(3, join(home, "work/app-tree"), [{ role: "user", text: "c" }]);
    session(4, `${path}/.claude/worktrees/gone`, [{ role: "user", text: "d" }]);
    await importAll();
    const { body } = await call("GET", "/projects");
    expect(body).toHaveLength(1);
    expect(body[0]).toMatchObject({
      name: "app",
      path,
      sessionCount: 4,
      identity: { kind: "repository" },
      git: { branch: "main", dirty: false, commitCount: 1 },
    });
  });

  it("recognises a moved repository by its root commit", async () => {
    const path = repository("old-name");
    session(1, path, [{ role: "user", text: "a" }]);
    await importAll();
    const [before] = (await call("GET", "/projects")).body;
    renameSync(path, join(home, "work/new-name"));
    session(2, join(home, "work/new-name"), [{ role: "user", text: "b" }]);
    await importAll();
    const projects = (await call("GET", "/projects")).body;
    expect(projects).toHaveLength(1);
    expect(projects[0]).toMatchObject({ id: before.id, name: "new-name", sessionCount: 2, aliases: [path] });
  });

  it("renames, and takes the folder's name again", async () => {
    session(1, "/w/app", [{ role: "user", text: "a" }]);
    await importAll();
    const [{ id }] = (await call("GET", "/projects")).body;
    expect((await call("PATCH", `/projects/${id}`, { name: "Mine" })).body.name).toBe("Mine");
    await importAll();
    expect((await call("GET", "/projects")).body[0].name).toBe("Mine");
    expect((await call("PATCH", `/projects/${id}`, { name: null })).body.name).toBe("app");
    expect((await call("PATCH", "/projects/nope", { name: "x" })).status).toBe(404);
  });

  it("D4: deletes a project with its sessions, and sync leaves them away", async () => {
    session(1, "/w/app", [{ role: "user", text: "a" }]);
    session(2, "/w/app", [{ role: "user", text: "b" }]);
    await importAll();
    const [{ id }] = (await call("GET", "/projects")).body;
    expect((await call("DELETE", `/projects/${id}`)).body).toEqual({
      deleted: { sessions: 2, messages: 2 },
      pushedTo: [],
    });
    expect((await call("POST", "/sync?wait=1")).body).toMatchObject({ imported: 0, skipped: 2 });
    expect((await call("GET", "/projects")).body).toEqual([]);
  });

  it("D7: an association survives re-import and is undone exactly", async () => {
    const path = join(home, "work/real");
    mkdirSync(path, { recursive: true });
    session(1, null, [{ role: "user", text: "no folder" }]);
    session(2, path, [{ role: "user", text: "here" }]);
    await importAll();
    const projects = (await call("GET", "/projects")).body;
    const virtual = projects.find((p: { virtual: boolean }) => p.virtual);
    const real = projects.find((p: { virtual: boolean }) => !p.virtual);
    expect((await call("POST", `/projects/${real.id}/associate`, { path })).status).toBe(409);
    expect((await call("POST", `/projects/${virtual.id}/associate`, { path: "relative" })).status).toBe(422);
    expect((await call("POST", `/projects/${virtual.id}/associate`, { path: join(home, "nowhere") })).status).toBe(422);
    expect((await call("POST", `/projects/${virtual.id}/unlink`)).status).toBe(409);
    const associated = (await call("POST", `/projects/${virtual.id}/associate`, { path })).body;
    expect(associated).toMatchObject({ id: real.id, sessionCount: 2, associatedFrom: [virtual.id] });
    session(1, null, [
      { role: "user", text: "no folder" },
      { role: "user", text: "more" },
    ]);
    const synced = (await call("POST", `/projects/${real.id}/sync`)).body;
    expect(synced).toMatchObject({ imported: 1 });
    expect((await call("GET", `/sessions/${toId(1)}`)).body.session.projectId).toBe(real.id);
    const restored = (await call("POST", `/projects/${virtual.id}/unlink`)).body;
    expect(restored).toMatchObject({ id: virtual.id, virtual: true, sessionCount: 1 });
    expect((await call("GET", `/sessions/${toId(1)}`)).body.session.projectId).toBe(virtual.id);
  });
});

describe("messages", () => {
  it("pages forwards and backwards, by kind, and cuts long texts", async () => {
    const rows = Array.from(
      { length: 30 },
      (_, i): Row => ({ role: i % 2 ? "assistant" : "user", text: `message ${i} ${"x".repeat(i * 10)}` }),
    );
    session(1, "/w/app", rows);
    await importAll();
    const path = `/sessions/${toId(1)}/messages`;
    const seqs = (answer: Answer) => answer.body.messages.map((m: { seq: number }) => m.seq);
    const first = await call("GET", `${path}?limit=10`);
    expect(seqs(first)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(first.body).toMatchObject({ total: 30, nextCursor: "9" });
    expect(seqs(await call("GET", `${path}?after=27&limit=10`))).toEqual([28, 29]);
    expect(seqs(await call("GET", `${path}?before=12&limit=3`))).toEqual([9, 10, 11]);
    expect(seqs(await call("GET", `${path}?kinds=assistant&after=20`))).toEqual([21, 23, 25, 27, 29]);
    const cut = (await call("GET", `${path}?after=28&cut=20`)).body.messages[0];
    expect(cut).toMatchObject({ truncated: true, textLength: rows[29]?.text.length });
    expect(cut.text).toHaveLength(20);
    expect((await call("GET", `${path}?kinds=robot`)).status).toBe(400);
    expect((await call("GET", `${path}?limit=0`)).status).toBe(400);
    expect((await call("GET", "/sessions/nope/messages")).status).toBe(404);
  });

  it("P5: streams a long session whole, chunk by chunk, and reads only the chunks of a page", async () => {
    const rows = Array.from({ length: 6000 }, (_, i): Row => ({ role: "user", text: `line ${i} ${"y".repeat(40)}` }));
    session(1, "/w/app", rows);
    await importAll();
    const before = kernel.storage.transcripts.stats.inflated;
    await call("GET", `/sessions/${toId(1)}/messages?after=3000&limit=200`);
    expect(kernel.storage.transcripts.stats.inflated - before).toBeLessThanOrEqual(2);
    const { body } = await call("GET", `/sessions/${toId(1)}/messages`);
    expect(body.messages).toHaveLength(6000);
    expect(body.messages[5999]).toMatchObject({ seq: 5999, kind: "user", at: "2026-11-01T10:00:00.000Z" });
  });
});

describe("search", () => {
  const words = ["alpha", "beta", "gamma", "delta"];
  const rows = (n: number): Row[] =>
    Array.from({ length: 40 }, (_, i) => ({
      role: "user",
      text: `${words[(n + i) % 4]} common ${n}-${i} ${"filler ".repeat(30)}`,
    }));

  it("D11: finds exactly what a plain scan finds, in pages, with totals", async () => {
    for (let n = 1; n <= 30; n++)
      session(n, "/w/app", n % 3 === 0 ? [...rows(n), { role: "user", text: "der Größenwahn 検索" }] : rows(n));
    await importAll();
    for (const q of [
      "grössenwahn",
      "GRÖSSENWAHN",
      "größenwahn",
      "検索",
      "common 7-7",
      "7-7 alpha",
      '"common 9-1"',
      "nothing-like-it",
    ]) {
      const terms = q.startsWith('"') ? [q.slice(1, -1)] : q.split(" ");
      const expected: string[] = [];
      for (let n = 1; n <= 30; n++) {
        const texts = [...rows(n).map((row) => row.text), ...(n % 3 === 0 ? ["der Größenwahn 検索"] : [])];
        if (texts.some((text) => terms.every((term) => text.toLowerCase().includes(term.toLowerCase()))))
          expected.push(toId(n));
      }
      const { body } = await call("GET", `/search?limit=100&q=${encodeURIComponent(q)}`);
      expect(body.results.map((r: { session: { id: string } }) => r.session.id).sort(), q).toEqual(expected.sort());
      expect(body.total, q).toEqual({ sessions: expected.length, relation: "eq" });
    }
  });

  it("goes on where a page ended, without repeating or losing a session", async () => {
    for (let n = 1; n <= 25; n++)
      session(
        n,
        "/w/app",
        rows(n).map((row) => ({ ...row, day: 1 + (n % 5) })),
      );
    await importAll();
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await call(
        "GET",
        `/search?q=common&limit=7${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      seen.push(...body.results.map((r: { session: { id: string } }) => r.session.id));
      cursor = body.nextCursor ?? "";
      expect(body.total.relation).toBe(seen.length === body.results.length ? "eq" : "gte");
    } while (cursor);
    expect(seen).toHaveLength(25);
    expect(new Set(seen).size).toBe(25);
  });

  it("by relevance puts most of the same matches first, and counts what the limit left out", async () => {
    const rows = (n: number) => Array.from({ length: n }, (_, i) => ({ role: "user" as const, text: `ember ${i}` }));
    session(1, home, rows(2));
    session(2, home, rows(20));
    session(3, home, rows(6));
    await call("POST", "/import", { all: true });
    const { body } = await call("GET", "/search?q=ember&sort=relevance&limit=2");
    expect(body.results.map((result: { matchCount: number }) => result.matchCount)).toEqual([20, 6]);
    expect(body.total).toEqual({ sessions: 3, relation: "eq" });
  });

  it("D20: inflates only what the index lets through, and reports it", async () => {
    for (let n = 1; n <= 20; n++)
      session(n, "/w/app", [...rows(n), ...(n === 13 ? [{ role: "user" as const, text: "quixotrillium" }] : [])]);
    await importAll();
    const { body } = await call("GET", "/search?q=quixotrillium");
    expect(body.results).toHaveLength(1);
    expect(body.stats.chunks).toBeGreaterThanOrEqual(20);
    expect(body.stats.inflated).toBe(1);
    const none = (await call("GET", "/search?q=wibblefrotzen")).body;
    expect(none.stats).toMatchObject({ candidates: 0, inflated: 0 });
    expect(none.total).toEqual({ sessions: 0, relation: "eq" });
  });

  it("counts to the end what a page does not wait for, by tool and project, also as events", async () => {
    const chunk = "filler of a chunk that is long enough ".repeat(1800);
    for (let n = 1; n <= 70; n++)
      session(n, n % 2 ? "/w/one" : "/w/two", [
        { role: "user", text: `common ${chunk}` },
        { role: "user", text: n % 7 ? "none" : "common again" },
      ]);
    await importAll();
    const page = await call("GET", "/search?q=common&limit=3");
    expect(page.body.total.relation).toBe("gte");
    const { body } = await call("GET", "/search/total?q=common");
    expect(body).toMatchObject({ sessions: 70, messages: 80, relation: "eq", damaged: 0 });
    expect(body.facets.tools).toEqual([{ id: "claude-code", sessions: 70, messages: 80 }]);
    expect(body.facets.projects.map((one: { sessions: number }) => one.sessions)).toEqual([35, 35]);
    const narrowed = await call("GET", "/search/total?q=common+again&project=/w/one");
    expect(narrowed.body).toMatchObject({ sessions: 5, messages: 5 });
    const events = await kernel.fetch("/api/search/total?q=COMMON", { headers: { accept: "text/event-stream" } });
    const frames = (await events.text()).split("\n\n").flatMap((frame) => /^data: (.+)$/m.exec(frame)?.[1] ?? []);
    expect(JSON.parse(frames.at(-1) ?? "")).toMatchObject({ type: "done", sessions: 70, messages: 80 });
    session(71, "/w/one", [{ role: "user", text: "one more in common" }]);
    await importAll();
    expect((await call("GET", "/search/total?q=common")).body).toMatchObject({ sessions: 71, messages: 81 });
    expect((await call("GET", "/search/total")).body).toMatchObject({ sessions: 71, messages: 0 });
    expect((await call("GET", "/search/total?q=kind:robot")).status).toBe(400);
  });

  it("answers recent sessions to an empty query and 400 with a place to a wrong one", async () => {
    session(1, "/w/app", rows(1));
    await importAll();
    expect((await call("GET", "/search")).body).toMatchObject({ recent: true, total: { sessions: 1, relation: "eq" } });
    const wrong = await call("GET", "/search?q=kind:robot");
    expect(wrong.status).toBe(400);
    expect(wrong.body.issues[0].path).toBe("kind");
    expect((await call("GET", "/search?q=x&cursor=bogus")).status).toBe(400);
  });

  it("filters by project and tool", async () => {
    session(1, "/w/one", rows(1));
    session(2, "/w/two", rows(2));
    await importAll();
    const ids = async (q: string) =>
      (await call("GET", `/search?q=${encodeURIComponent(q)}`)).body.results.map(
        (r: { session: { id: string } }) => r.session.id,
      );
    expect(await ids("common project:one")).toEqual([toId(1)]);
    expect(await ids("common -project:one")).toEqual([toId(2)]);
    expect((await ids("common tool:claude")).sort()).toEqual([toId(1), toId(2)]);
    // No session has such a name: that is reported, as by every command.
    for (const [q, code] of [
      ["common tool:codex", "INVALID_INPUT"],
      ["common project:three", "PROJECT_NOT_FOUND"],
      ["common after:2026-05-01 before:2026-04-01", "INVALID_INPUT"],
    ])
      expect((await call("GET", `/search?q=${encodeURIComponent(q ?? "")}`)).body.code).toBe(code);
    expect((await call("GET", "/sessions?project=three")).body.code).toBe("PROJECT_NOT_FOUND");
  });
});

describe("deleting a log", () => {
  it("removes it with its own folder, and the archive keeps its copy", async () => {
    const file = session(1, "/w/app", [{ role: "user", text: "a" }]);
    const companions = file.replace(/\.jsonl$/, "");
    mkdirSync(join(companions, "subagents"), { recursive: true });
    const agent = join(companions, "subagents/agent-a1.jsonl");
    writeFileSync(
      agent,
      `${JSON.stringify({ type: "user", uuid: "s", isSidechain: true, agentId: "a1", sessionId: uuid(1), timestamp: "2026-11-01T10:00:00.000Z", cwd: "/w/app", message: { role: "user", content: "sub" } })}\n`,
    );
    const old = Date.now() / 1000 - 3600;
    for (const path of [agent, join(companions, "subagents"), companions]) utimesSync(path, old, old);
    await importAll();
    const { status, body } = await call("DELETE", `/sessions/${toId(1)}/source-file`);
    expect(status).toBe(200);
    expect(body.deleted).toContain(file);
    expect([existsSync(file), existsSync(companions)]).toEqual([false, false]);
    const kept = (await call("GET", `/sessions/${toId(1)}`)).body;
    expect(kept.session.source.missing).toBe(true);
    expect(kept.subagents).toHaveLength(1);
    expect((await call("GET", `/sessions/${toId(1)}/messages`)).body.messages).toHaveLength(1);
  });

  it("deletes nothing where the archive cannot note it: the log may be all that is left", async () => {
    const file = session(1, "/w/app", [{ role: "user", text: "a" }]);
    await importAll();
    rmSync(join(home, "data"), { recursive: true });
    const { status, body } = await call("DELETE", `/sessions/${toId(1)}/source-file`);
    expect([status, body.code, existsSync(file)]).toEqual([503, "STORAGE_REPLACED", true]);
  });

  it.skipIf(process.getuid?.() === 0)("says what the system did not let go, and counts it as there", async () => {
    const file = session(1, "/w/app", [{ role: "user", text: "a" }]);
    await importAll();
    chmodSync(dirname(file), 0o500);
    const { status, body } = await call("DELETE", `/sessions/${toId(1)}/source-file`);
    expect([status, body.code]).toEqual([409, "SOURCE_LEFT"]);
    expect(body.message).toContain(file);
    expect((await call("GET", `/sessions/${toId(1)}`)).body.session.source.missing).toBe(false);
    chmodSync(dirname(file), 0o700);
    expect((await call("DELETE", `/sessions/${toId(1)}/source-file`)).status).toBe(200);
  });

  it("leaves a log alone that changed in the last minutes, is a link, or is unknown", async () => {
    const file = session(1, "/w/app", [{ role: "user", text: "a" }]);
    await importAll();
    utimesSync(file, Date.now() / 1000, Date.now() / 1000);
    expect((await call("DELETE", `/sessions/${toId(1)}/source-file`)).status).toBe(409);
    expect(existsSync(file)).toBe(true);
    expect((await call("DELETE", "/sessions/claude-code:nope/source-file")).status).toBe(404);
    const outside = join(home, "outside.jsonl");
    renameSync(file, outside);
    symlinkSync(outside, file);
    expect((await call("DELETE", `/sessions/${toId(1)}/source-file`)).status).toBe(409);
    expect(existsSync(outside)).toBe(true);
  });
});
