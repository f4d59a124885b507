/** Bookmarks, tags, notes and saved searches: set, found by searches, part of exports. What they outlive is in `survive.property.test.ts`. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { beforeEach, describe, expect, it } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import type { ListedMark, Mark, SavedSearch } from "../../plugins/notes/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";

let home: string;
const uuid = (n: number) => `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0${n}`;
const toId = (n: number) => `claude-code:${uuid(n)}`;
const file = (n: number) => join(home, `.claude/projects/-w-app/${uuid(n)}.jsonl`);

const row = (n: number, text: string, i: number) => ({
  type: i % 2 === 0 ? "user" : "assistant",
  uuid: `u${n}-${text}`,
  sessionId: uuid(n),
  timestamp: "2026-11-20T10:00:00.000Z",
  cwd: "/w/app",
  requestId: `r${n}-${text}`,
  message:
    i % 2 === 0
      ? { role: "user", content: text }
      : {
          id: `m${n}-${text}`,
          role: "assistant",
          model: "m",
          content: [{ type: "text", text }],
          usage: { output_tokens: 1 },
        },
});
async function write(n: number, texts: readonly string[]): Promise<void> {
  await mkdir(dirname(file(n)), { recursive: true });
  await writeFile(file(n), texts.map((text, i) => `${JSON.stringify(row(n, text, i))}\n`).join(""));
}
const start = () => createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });
const importAll = (t: TestKernel) => t.send("POST", "/api/import", { all: true });
const mark = (t: TestKernel, n: number, body: object) =>
  t.send<Mark | null>("PATCH", `/api/sessions/${encodeURIComponent(toId(n))}/notes`, body);
const list = (t: TestKernel, query = "") => t.json<ListedMark[]>(`/api/notes?${query}`);

beforeEach(async () => {
  home = await makeTempDir();
});

describe("notes", () => {
  it("are set part by part, and gone when nothing is left", async () => {
    const t = await start();
    await write(1, ["alpha", "beta", "gamma"]);
    await importAll(t);
    expect((await mark(t, 1, { bookmarked: true })).body).toMatchObject({ of: "session", seq: null, bookmarked: true });
    await mark(t, 1, { tags: ["To Do", "to-do", "review"] });
    expect((await mark(t, 1, { note: " look again " })).body).toMatchObject({
      bookmarked: true,
      tags: ["review", "to-do"],
      note: "look again",
    });
    expect((await mark(t, 1, { seq: 1, note: "here" })).body).toMatchObject({ of: "message", seq: 1, excerpt: "beta" });
    expect(await t.json("/api/tags")).toEqual([
      { tag: "review", count: 1 },
      { tag: "to-do", count: 1 },
    ]);
    expect((await list(t, "tag=review")).map(({ label }) => label)).toEqual(["alpha"]);
    expect((await list(t, "q=here")).map(({ seq }) => seq)).toEqual([1]);
    expect(await list(t, "bookmarked=1")).toHaveLength(1);
    expect((await mark(t, 1, { bookmarked: false, note: "", tags: [] })).body).toBeNull();
    expect(await list(t)).toHaveLength(1);
    expect((await mark(t, 1, { seq: 99, note: "x" })).body).toMatchObject({ code: "NOTE_MESSAGE_NOT_FOUND" });
    expect((await mark(t, 2, { note: "x" })).body).toMatchObject({ code: "SESSION_NOT_FOUND" });
    expect((await mark(t, 1, { tags: [" "] })).body).toMatchObject({ code: "INVALID_INPUT" });
  });

  it("are found by tag: and is:bookmarked, with words and without", async () => {
    const t = await start();
    for (const n of [1, 2, 3]) await write(n, [`prompt ${n}`, "the same answer"]);
    await importAll(t);
    await mark(t, 1, { tags: ["review", "later"] });
    await mark(t, 2, { seq: 1, tags: ["review"], bookmarked: true });
    const found = async (q: string) => {
      const { results } = await t.json<{ results: { session: { id: string } }[] }>(
        `/api/search?q=${encodeURIComponent(q)}`,
      );
      return results.map(({ session }) => Number(session.id.at(-1))).sort();
    };
    expect(await found("tag:review")).toEqual([1, 2]);
    expect(await found("tag:review tag:later")).toEqual([1]);
    expect(await found("-tag:later same")).toEqual([2, 3]);
    expect(await found("is:bookmarked")).toEqual([2]);
    expect(await found("-is:bookmarked tag:review")).toEqual([1]);
    expect(await found("tag:review prompt 2")).toEqual([2]);
    expect(await found("tag:none")).toEqual([]);
    const total = await (await t.fetch("/api/search/total?q=tag%3Areview")).text();
    expect(total).toContain('"sessions":2');
    expect(await t.json("/api/search?q=is:what")).toMatchObject({ code: "INVALID_INPUT" });
  });

  it("follow their message when its number is another, and come back with it", async () => {
    const t = await start();
    await write(1, ["alpha", "beta", "gamma"]);
    await importAll(t);
    await mark(t, 1, { seq: 2, note: "third" });
    await write(1, ["before", "and", "alpha", "beta", "gamma"]);
    await importAll(t);
    expect(await list(t)).toMatchObject([{ seq: 4, note: "third" }]);
    await t.send("DELETE", `/api/sessions/${encodeURIComponent(toId(1))}`);
    expect(await list(t)).toMatchObject([{ seq: null, note: "third", label: null }]);
    await t.json("/api/scan");
    await t.send("POST", "/api/import", { sessions: [toId(1)] });
    expect(await list(t)).toMatchObject([{ seq: 4, note: "third", label: "before" }]);
  });
});

describe("saved searches", () => {
  it("have one name each, whatever its case", async () => {
    const t = await start();
    await t.send("PUT", "/api/searches", { name: "Failed", query: "is:error" });
    const { body } = await t.send<SavedSearch[]>("PUT", "/api/searches", {
      name: "failed",
      query: "is:error after:7d",
    });
    expect(body.map(({ name, query }) => [name, query])).toEqual([["failed", "is:error after:7d"]]);
    expect(await t.send("DELETE", "/api/searches?name=none")).toMatchObject({
      status: 404,
      body: { code: "SEARCH_NOT_FOUND" },
    });
    expect((await t.send("DELETE", "/api/searches?name=FAILED")).body).toEqual([]);
    for (const body of [
      { name: " ", query: "x" },
      { name: "x", query: " " },
      { name: "x".repeat(101), query: "x" },
    ])
      expect((await t.send("PUT", "/api/searches", body)).body).toMatchObject({ code: "INVALID_INPUT" });
  });
});

describe("on the command line", () => {
  const run = (...args: string[]) => runCommand(args, home, { NO_COLOR: "1" }, 80);

  it("notes, tags, bookmarks and searches are written, listed and removed, at 80 and 160 columns, with and without colour", async () => {
    await write(1, ["How do tides turn, and why does the table end before midnight on the last day?", "beta", "gamma"]);
    await run("import", "--all");
    expect(await run("note")).toMatchObject({ code: 3, stdout: "" });
    await run("note", "set", "last", "read", "this", "again");
    await run("tag", "last", "Review", "tides");
    await run("tag", "last", "tides", "--remove");
    await run("bookmark", "last", "--message", "1");
    const narrow = await run("note");
    const undated = (text: string) => text.replaceAll(/\d{4}-\d{2}-\d{2}/g, "2026-11-20");
    expect(undated(narrow.stdout)).toMatchInlineSnapshot(`
      "changed     about                               message  note
      2026-11-20  How do tides turn, and why does t…        1  ★
      2026-11-20  How do tides turn, and why does t…           #review read this again
      "
    `);
    const wide = await runCommand(["note", "list"], home, { NO_COLOR: "1" }, 160);
    expect(undated(wide.stdout)).toMatchInlineSnapshot(`
      "changed     about                                                                           message  note
      2026-11-20  How do tides turn, and why does the table end before midnight on the last day?        1  ★
      2026-11-20  How do tides turn, and why does the table end before midnight on the last day?           #review read this again
      "
    `);
    const coloured = await runCommand(["note"], home, {}, 80);
    expect(coloured.stdout).toContain("\u001b[2m");
    expect(stripVTControlCharacters(coloured.stdout)).toBe(narrow.stdout);
    expect((await run("tag")).stdout).toBe("tag     used\nreview     1\n");
    await run("searches", "save", "mine", "tag:review");
    expect((await run("searches")).stdout).toBe("name  search\nmine  tag:review\n");
    expect(await run("searches", "run", "Mine")).toMatchObject({ code: 0, stderr: "1 of 1 sessions for tag:review\n" });
    expect(await run("searches", "run", "none")).toMatchObject({ code: 3 });
    expect(await run("searches", "remove", "mine")).toMatchObject({ code: 0 });
    expect(await run("bookmark", "last", "-m", "1", "--remove")).toMatchObject({ code: 0 });
    expect(await run("bookmark", "last", "-m", "x")).toMatchObject({ code: 2 });
    expect(await run("bookmark", "last", "-m", "77")).toMatchObject({ code: 3 });
    expect(await run("tag", "nothing-like-it", "x")).toMatchObject({ code: 3 });
  });

  it("exports hold them, and hide their secrets as those of messages; links do not", async () => {
    await write(1, ["alpha", "beta"]);
    await run("import", "--all");
    const secret = `ghp_${"a1B2c3D4e5".repeat(4)}`.slice(0, 40);
    await run("note", "set", "last", `renew ${secret}`);
    await run("tag", "last", "keys", "-m", "1");
    expect((await run("export", "last")).stdout).toContain(`- **Note:** renew ${secret.replaceAll("_", "\\_")}`);
    expect((await run("export", "last")).stdout).toContain("- **Note:** Message 1: \\#keys");
    const redacted = await run("export", "last", "--redacted");
    expect(redacted.stdout).toContain("- **Note:** renew [REDACTED");
    expect(redacted.stdout).not.toContain(secret);
    expect(JSON.parse((await run("export", "last", "--format", "json")).stdout)).toMatchObject({
      notes: [`renew ${secret}`, "Message 1: #keys"],
    });
    const t = await createTestKernel({
      home,
      plugins: defaultPlugins(),
      config: { sync: false, dataDir: join(home, ".local/share/sessarc") },
    });
    const share = await t.send<{ token: string }>("POST", `/api/sessions/${encodeURIComponent(toId(1))}/share`, {});
    const page = await (await t.fetch(`/share/${share.body.token}`)).text();
    expect(page).toContain("alpha");
    expect(page).not.toContain("renew");
  });
});
