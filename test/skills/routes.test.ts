import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat, mkdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Scan, Skill, SkillDetail, Snapshot } from "../../plugins/index.ts";
import { toId } from "../../plugins/skills/content/names.ts";
import { readError, type TestKernel } from "../kernel.ts";
import { importSkill, nextChange, picture, plant, skillKernel, skillText, toStore, writeTree } from "./world.ts";

const readSnapshots = async (t: TestKernel, id: string) =>
  (await t.json<{ snapshots: Snapshot[] }>(`/api/skills/${id}/snapshots`)).snapshots;

describe("scan and import", () => {
  it("puts every entry of the tools' folders in one class, and imports by copying", async () => {
    const t = await skillKernel();
    const path = await plant(t.home, ".claude/skills", "notes", { "scripts/run.sh": ["#!/bin/sh\n", 0o755] });
    await plant(t.home, ".cursor/skills", "notes", { "other.md": "x" });
    await writeTree(join(t.home, ".codex/skills/empty"), { "README.md": "no skill" });
    const before = await picture(t.home);
    const scan = await t.json<Scan>("/api/skills/scan");
    expect(scan.entries.map(({ name, class: kind, reason, tool }) => [name, kind, reason, tool])).toEqual([
      ["notes", "importable", null, "claude-code"],
      ["empty", "broken", "no-skill-file", "codex"],
      ["notes", "duplicate", "same-name", "cursor"],
    ]);
    const skill = await importSkill(t, path);
    expect(skill).toMatchObject({ id: "notes", name: "notes", drift: "none", tags: [], rating: 0, problem: null });
    expect(skill.origin).toMatchObject({ kind: "local", path, commit: null });
    expect(await picture(toStore(t.home, "notes"))).toEqual(await picture(path));
    const after = await picture(t.home);
    for (const [name, was] of Object.entries(before)) if (!name.startsWith("data")) expect(after[name]).toBe(was);
    const again = await t.json<Scan>("/api/skills/scan");
    expect(again.entries.map((entry) => [entry.class, entry.reason, entry.duplicateOf])).toEqual([
      ["duplicate", "same-content", "notes"],
      ["broken", "no-skill-file", null],
      ["duplicate", "same-name", "notes"],
    ]);
  });

  it("imports scanned paths only, and none of them twice", async () => {
    const t = await skillKernel();
    const path = await plant(t.home, ".claude/skills", "notes");
    const outside = await plant(t.home, "elsewhere", "secret");
    for (const wrong of [outside, `${path}/..`, "/etc", join(t.home, ".claude/skills/none")]) {
      const { status, body } = await t.send<{ code: string }>("POST", "/api/skills/import", { path: wrong });
      expect([status, body.code]).toEqual([404, "SKILL_NOT_SCANNED"]);
    }
    await importSkill(t, path);
    const again = await t.send("POST", "/api/skills/import", { path });
    expect(again).toMatchObject({ status: 409, body: { code: "SKILL_NOT_IMPORTABLE" } });
  });

  it("S8: a skill named `..` or with a path for a name never becomes a path", async () => {
    const t = await skillKernel();
    const names = ["..", "../../up", "a/b", "CON", "ünïcode näme", "x".repeat(300)];
    for (const [i, name] of names.entries())
      await writeTree(join(t.home, `.claude/skills/s${i}`), { "SKILL.md": skillText(JSON.stringify(name)) });
    const { entries } = await t.json<Scan>("/api/skills/scan");
    for (const entry of entries) await t.send("POST", "/api/skills/import", { path: entry.path });
    const { skills } = await t.json<{ skills: Skill[] }>("/api/skills");
    // A name that is not its folder's is no id; where there is no folder (the root of a repository) its slug is.
    expect(skills.map((skill) => skill.id).sort()).toEqual(["s0", "s1", "s2", "s3", "s4", "s5"]);
    const slugs = ["skill", "up", "a-b", "skill-con", "unicode-name", "x".repeat(64)];
    expect(names.map(toId)).toEqual(slugs);
    for (const { id } of skills) expect(existsSync(join(toStore(t.home, id), "SKILL.md"))).toBe(true);
    expect(existsSync(join(t.home, "data/SKILL.md"))).toBe(false);
  });

  it("a skill whose name is another's does not take its id, its uses or its past", async () => {
    const t = await skillKernel();
    const other = await writeTree(join(t.home, ".claude/skills/deploy"), { "SKILL.md": skillText("notes") });
    expect(await importSkill(t, other)).toMatchObject({ id: "deploy", name: "notes" });
    const real = await plant(t.home, ".codex/skills", "notes", { "a.md": "real" });
    expect(await importSkill(t, real)).toMatchObject({ id: "notes", name: "notes" });
    const typed = "<command-message>notes</command-message>\n<command-name>/notes</command-name>";
    const row = { type: "user", uuid: "u", sessionId: "s", timestamp: "2026-01-20T10:00:00.000Z", cwd: "/w" };
    await writeTree(join(t.home, ".claude/projects/-w"), {
      "s.jsonl": `${JSON.stringify({ ...row, message: { role: "user", content: typed } })}\n`,
    });
    await t.send("POST", "/api/import", { all: true });
    const readUses = async (id: string) => (await t.json<SkillDetail>(`/api/skills/${id}`)).use.invocations;
    expect([await readUses("notes"), await readUses("deploy")]).toEqual([1, 0]);
    // A third of that name is a duplicate of the real one.
    const third = await writeTree(join(t.home, ".gemini/skills/ship"), { "SKILL.md": skillText("notes", "third") });
    const { entries } = await t.json<Scan>("/api/skills/scan");
    expect(entries.find(({ path }) => path === third)).toMatchObject({ class: "duplicate", duplicateOf: "notes" });
    // A deleted skill's id and snapshots are not those of a new skill with another name.
    await t.fetch("/api/skills/notes?removeFiles=1", { method: "DELETE" });
    await rm(real, { recursive: true });
    const past = await readSnapshots(t, "notes");
    const fresh = await writeTree(join(t.home, ".codex/skills/notes"), { "SKILL.md": skillText("memo", "fresh") });
    expect(await importSkill(t, fresh)).toMatchObject({ id: "notes-2", name: "memo" });
    expect(await readSnapshots(t, "notes")).toEqual(past);
  });

  it("any folder of this machine can be imported, and is read as strictly as a scanned one", async () => {
    const t = await skillKernel();
    const folder = await plant(t.home, "work/my-skills", "notes", { "a.md": "a" });
    const send = (body: object) => t.send<Skill & { code: string }>("POST", "/api/skills/import", body);
    const wrong = "0".repeat(64);
    expect(await send({ folder, contentHash: wrong })).toMatchObject({
      status: 422,
      body: { code: "SKILL_LOCK_DIFFERS" },
    });
    const { status, body } = await send({ folder });
    expect([status, body.id, body.origin?.path]).toEqual([201, "notes", folder]);
    expect((await send({ folder })).body.code).toBe("SKILL_EXISTS");
    const bad = await plant(t.home, "work/my-skills", "bad");
    await symlink("/etc/passwd", join(bad, "key"));
    for (const path of [bad, join(t.home, "work"), join(t.home, "none"), "relative", toStore(t.home, "notes")])
      expect([path, (await send({ folder: path })).body.code]).toEqual([path, "SKILL_NOT_IMPORTABLE"]);
  });

  it("S8: links that lead out of a skill are refused, those inside are kept as links", async () => {
    const t = await skillKernel();
    await writeFile(join(t.home, "private"), "secret");
    const bad = await plant(t.home, ".claude/skills", "bad");
    await symlink(join(t.home, "private"), join(bad, "key"));
    const up = await plant(t.home, ".claude/skills", "up");
    await symlink("../../../private", join(up, "key"));
    const good = await plant(t.home, ".claude/skills", "good", { "docs/a.md": "a" });
    await symlink("docs/a.md", join(good, "b.md"));
    const { entries } = await t.json<Scan>("/api/skills/scan");
    expect(entries.map((entry) => [entry.name, entry.class, entry.reason])).toEqual([
      ["bad", "broken", "leaves-root"],
      ["good", "importable", null],
      ["up", "broken", "leaves-root"],
    ]);
    await importSkill(t, good);
    expect(await readlink(join(toStore(t.home, "good"), "b.md"))).toBe("docs/a.md");
  });
});

describe("skills of the store", () => {
  it("D18: answers SKILL.md with CRLF, files, frontmatter and what the user said of it", async () => {
    const t = await skillKernel();
    const text = "\uFEFF---\r\nname: notes\r\ndescription: Takes notes\r\nlicense: MIT\r\n---\r\nBody\r\n";
    const path = await writeTree(join(t.home, ".claude/skills/notes"), { "SKILL.md": text, "a.txt": "12345" });
    await importSkill(t, path);
    const patched = await t.send("PATCH", "/api/skills/notes", { tags: ["one", "two", "one"], rating: 4 });
    expect(patched).toMatchObject({ status: 200, body: { tags: ["one", "two"], rating: 4 } });
    const skill = await t.json<SkillDetail>("/api/skills/notes");
    expect(skill).toMatchObject({ description: "Takes notes", tags: ["one", "two"], rating: 4, content: text });
    expect(skill.frontmatter).toEqual({ name: "notes", description: "Takes notes", license: "MIT" });
    expect(skill.files).toEqual([
      { path: "SKILL.md", size: Buffer.byteLength(text) },
      { path: "a.txt", size: 5 },
    ]);
    for (const wrong of [{ rating: 6 }, { rating: 1.5 }, { tags: [""] }, { tags: "x" }])
      expect((await t.send("PATCH", "/api/skills/notes", wrong)).status).toBe(400);
  });

  it("D15: unknown ids are 404 on every route", async () => {
    const t = await skillKernel();
    const calls: [method: string, path: string, body?: unknown][] = [
      ["GET", ""],
      ["PATCH", "", { rating: 1 }],
      ["DELETE", ""],
      ["POST", "/link", { tool: "codex" }],
      ["POST", "/unlink", { tool: "codex" }],
      ["GET", "/snapshots"],
      ["POST", "/restore", { snapshot: "x" }],
      ["POST", "/check-upstream", {}],
      ["POST", "/update", {}],
      ["GET", "/drift"],
    ];
    for (const [method, path, body] of calls) {
      for (const id of ["none", "..%2f..", "__proto__"]) {
        const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
        const answer = await t.fetch(`/api/skills/${id}${path}`, init);
        expect([path, (await readError(answer)).code]).toEqual([path, "SKILL_NOT_FOUND"]);
      }
    }
  });

  it("D5: deletes a skill whose files are gone, and brings a deleted one back from its snapshot", async () => {
    const t = await skillKernel();
    await importSkill(t, await plant(t.home, ".claude/skills", "one"));
    const two = await plant(t.home, ".claude/skills", "two", { "run.sh": ["#!/bin/sh\n", 0o755] });
    await importSkill(t, two);
    await rm(toStore(t.home, "one"), { recursive: true });
    const gone = await t.json<SkillDetail>("/api/skills/one");
    expect(gone).toMatchObject({ problem: "Its folder is gone from the store", drift: "local", content: null });
    const removed = await t.send("DELETE", "/api/skills/one?removeFiles=1");
    const [kept] = await readSnapshots(t, "one");
    expect(removed.body).toEqual({ unlinked: 0, filesRemoved: true, left: [], snapshot: kept?.id });
    expect((await t.fetch("/api/skills/one")).status).toBe(404);

    await t.send("POST", "/api/skills/two/link", { tool: "codex" });
    expect(existsSync(join(t.home, ".agents/skills/two"))).toBe(true);
    const second = await t.send("DELETE", "/api/skills/two?removeFiles=1");
    expect(existsSync(toStore(t.home, "two"))).toBe(false);
    await expect(lstat(join(t.home, ".agents"))).rejects.toThrow("ENOENT");
    const snapshots = await readSnapshots(t, "two");
    expect(snapshots.map((one) => [one.reason, one.current])).toEqual([["import", false]]);
    expect(second.body).toEqual({ unlinked: 1, filesRemoved: true, left: [], snapshot: snapshots[0]?.id });
    const restored = await t.send("POST", "/api/skills/two/restore", { snapshot: snapshots[0]?.id });
    expect(restored).toMatchObject({ status: 200, body: { id: "two", problem: null } });
    expect(await picture(toStore(t.home, "two"))).toEqual(await picture(two));
  });

  it("answers what the skill was as it was deleted: an edit without an event is in it", async () => {
    const t = await skillKernel();
    await importSkill(t, await plant(t.home, ".claude/skills", "one"));
    for (const removeFiles of ["0", "1"]) {
      const words = skillText("one", `Edited ${removeFiles}`);
      await writeFile(join(toStore(t.home, "one"), "SKILL.md"), words);
      const { body } = await t.send<{ snapshot: string }>("DELETE", `/api/skills/one?removeFiles=${removeFiles}`);
      await t.send("POST", "/api/skills/one/restore", { snapshot: body.snapshot });
      expect(await readFile(join(toStore(t.home, "one"), "SKILL.md"), "utf8")).toBe(words);
    }
  });

  it("keeps the files without removeFiles, and takes the id again for a new import", async () => {
    const t = await skillKernel();
    const path = await plant(t.home, ".claude/skills", "one");
    await importSkill(t, path);
    await t.send("DELETE", "/api/skills/one");
    await writeFile(join(toStore(t.home, "one"), "mine.txt"), "left there");
    await writeFile(join(path, "SKILL.md"), skillText("one", "Another"));
    expect(await importSkill(t, path)).toMatchObject({ id: "one", description: "Another" });
    expect((await readSnapshots(t, "one")).map((one) => [one.reason, one.files])).toEqual([
      ["import", 1],
      ["edit", 2],
      ["import", 1],
    ]);
  });
});

describe("snapshots", () => {
  it("a restore brings back exact bytes and modes, and can be undone", async () => {
    const t = await skillKernel();
    const path = await plant(t.home, ".claude/skills", "deep", {
      "run.sh": ["#!/bin/sh\necho hi\n", 0o750],
      "data/bin": ["\u0000\u0001\r\n", 0o600],
      "data/deeper/x": ["x", 0o444],
    });
    await mkdir(join(path, "empty"), { mode: 0o711 });
    await symlink("data/bin", join(path, "link"));
    await importSkill(t, path);
    const store = toStore(t.home, "deep");
    const first = await picture(store);
    expect(first).toEqual(await picture(path));
    await writeFile(join(store, "run.sh"), "changed");
    await rm(join(store, "data"), { recursive: true });
    await rm(join(store, "link"));
    await writeFile(join(store, "new.txt"), "new");
    const second = await picture(store);
    expect((await t.json<Skill>("/api/skills/deep")).drift).toBe("local");

    const [imported] = await readSnapshots(t, "deep");
    expect((await t.send("POST", "/api/skills/deep/restore", { snapshot: imported?.id })).status).toBe(200);
    expect(await picture(store)).toEqual(first);
    const after = await readSnapshots(t, "deep");
    expect(after.map((one) => [one.reason, one.current])).toEqual([
      ["restore", false],
      ["import", true],
    ]);
    await t.send("POST", "/api/skills/deep/restore", { snapshot: after[0]?.id });
    expect(await picture(store)).toEqual(second);
    expect((await t.send("POST", "/api/skills/deep/restore", { snapshot: "none" })).status).toBe(404);
  });

  it("one whose bytes are damaged is refused and nothing changes", async () => {
    const t = await skillKernel();
    const path = await plant(t.home, ".claude/skills", "one", { "a.txt": "precious" });
    await importSkill(t, path);
    const [imported] = await readSnapshots(t, "one");
    const store = toStore(t.home, "one");
    await writeFile(join(store, "a.txt"), "edited");
    const before = await picture(store);
    const hash = createHash("sha256").update("precious").digest("hex");
    await writeFile(join(t.home, "data/skills/objects", hash.slice(0, 2), hash.slice(2)), "precioux");
    const answer = await t.send<{ code: string }>("POST", "/api/skills/one/restore", { snapshot: imported?.id });
    expect([answer.status, answer.body.code]).toEqual([422, "SKILL_SNAPSHOT_DAMAGED"]);
    expect(await picture(store)).toEqual(before);
  });

  it("damaged bytes are repaired where good ones are at hand", async () => {
    const t = await skillKernel();
    await importSkill(t, await plant(t.home, ".claude/skills", "one", { "a.txt": "precious" }));
    const store = toStore(t.home, "one");
    const whole = await picture(store);
    const hash = createHash("sha256").update("precious").digest("hex");
    await writeFile(join(t.home, "data/skills/objects", hash.slice(0, 2), hash.slice(2)), "precioux");
    const [imported] = await readSnapshots(t, "one");
    await writeFile(join(store, "a.txt"), "edited");
    expect((await t.send("POST", "/api/skills/one/restore", { snapshot: imported?.id })).status).toBe(200);
    expect(await picture(store)).toEqual(whole);
  });

  it("a change that failed at its last write is finished before the next one, never after it", async () => {
    const t = await skillKernel();
    await importSkill(t, await plant(t.home, ".claude/skills", "one", { "a.txt": "first" }));
    const [imported] = await readSnapshots(t, "one");
    const { db } = t.kernel.storage;
    const { batch } = db;
    let isFull = false;
    // The disk is full from the moment that the folder has changed.
    db.batch = (statements) => {
      isFull ||= statements.some(([sql]) => sql.includes("delete from skill_intent"));
      return isFull ? Promise.reject(new Error("no room")) : batch(statements);
    };
    await writeFile(join(toStore(t.home, "one"), "a.txt"), "second");
    expect((await t.send("POST", "/api/skills/one/restore", { snapshot: imported?.id })).status).toBe(500);
    expect((await t.send("PATCH", "/api/skills/one", { rating: 5 })).status).toBe(500);
    expect((await t.json<{ skills: Skill[] }>("/api/skills")).skills).toHaveLength(1);
    db.batch = batch;
    expect((await t.send<Skill>("PATCH", "/api/skills/one", { rating: 4 })).body.rating).toBe(4);
    expect((await readSnapshots(t, "one")).map((one) => [one.reason, one.current])).toEqual([
      ["restore", false],
      ["import", true],
    ]);
    t.errors.splice(0);
    await t.kernel.close();
    const again = await skillKernel({ home: t.home });
    expect((await again.json<Skill>("/api/skills/one")).rating).toBe(4);
  });

  it("what a snapshot cannot hold is moved away, not lost", async () => {
    const t = await skillKernel();
    await importSkill(t, await plant(t.home, ".claude/skills", "one"));
    await writeTree(join(toStore(t.home, "one"), ".git"), { HEAD: "ref: refs/heads/main\n" });
    const [imported] = await readSnapshots(t, "one");
    await t.send("POST", "/api/skills/one/restore", { snapshot: imported?.id });
    const aside = Object.keys(await picture(join(t.home, "data/skills"))).filter((path) =>
      /^one\.kept-\w+\/\.git\/HEAD$/.test(path),
    );
    expect(aside).toHaveLength(1);
  });

  it("an edit in the store becomes one automatically, also an edit made while the service was down", async () => {
    const t = await skillKernel();
    await importSkill(t, await plant(t.home, ".claude/skills", "one"));
    await writeFile(join(toStore(t.home, "one"), "first.txt"), "1");
    const missed = nextChange(t.kernel, "edited");
    await t.kernel.inject("skills").watch();
    expect(await missed).toEqual({ id: "one", what: "edited" });
    const seen = nextChange(t.kernel, "edited");
    await writeFile(join(toStore(t.home, "one"), "second.txt"), "2");
    await seen;
    expect((await readSnapshots(t, "one")).map((one) => [one.reason, one.files])).toEqual([
      ["edit", 3],
      ["edit", 2],
      ["import", 1],
    ]);
    expect(await readFile(join(toStore(t.home, "one"), "second.txt"), "utf8")).toBe("2");
  });

  it("a service that is stopped while it begins to watch has nothing to complain of", async () => {
    const t = await skillKernel();
    await importSkill(t, await plant(t.home, ".claude/skills", "one"));
    const watching = t.kernel.inject("skills").watch();
    await t.kernel.close();
    await expect(watching).resolves.toBeUndefined();
  });
});
