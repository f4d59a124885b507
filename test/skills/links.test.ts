import { existsSync } from "node:fs";
import { lstat, mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Drift, Project, Scan, Skill, SkillLink } from "../../plugins/index.ts";
import type { TestKernel } from "../kernel.ts";
import { importSkill, picture, plant, skillKernel, toStore, writeTree } from "./world.ts";

let t: TestKernel;
const at = (path: string) => join(t.home, path);
const send = (action: string, body: object) =>
  t.send<Skill & { code: string; message: string }>("POST", `/api/skills/notes/${action}`, body);
const toLink = (skill: Skill, tool: string) => skill.links.find((one) => one.tool === tool) as SkillLink;
const skill = () => t.json<Skill>("/api/skills/notes");

beforeEach(async () => {
  t = await skillKernel();
  const path = await plant(t.home, ".github-work", "notes", { "run.sh": ["#!/bin/sh\n", 0o755] });
  await mkdir(at(".gemini/skills"), { recursive: true });
  await rename(path, at(".gemini/skills/notes"));
  await importSkill(t, at(".gemini/skills/notes"));
  await rm(at(".gemini"), { recursive: true });
});

afterEach(() => t.close());

describe("links", () => {
  it("are made where nothing stands, once, and removed with the folders made for them", async () => {
    const before = Object.keys(await picture(t.home)).filter((path) => !path.startsWith("data"));
    const made = await send("link", { tool: "claude-code" });
    expect(made.status).toBe(200);
    const path = at(".claude/skills/notes");
    expect(toLink(made.body, "claude-code")).toEqual({
      ...{
        tool: "claude-code",
        scope: "user",
        project: null,
        path,
        state: "linked",
        mode: "symlink",
        visibleThrough: [],
      },
    });
    expect(await readlink(path)).toBe(toStore(t.home, "notes"));
    expect((await send("link", { tool: "claude-code" })).status).toBe(200);
    const removed = await send("unlink", { tool: "claude-code" });
    expect(toLink(removed.body, "claude-code").state).toBe("none");
    expect(Object.keys(await picture(t.home)).filter((name) => !name.startsWith("data"))).toEqual(before);
    expect(await send("unlink", { tool: "claude-code" })).toMatchObject({
      status: 409,
      body: { code: "SKILL_NOT_LINKED" },
    });
  });

  it("answers 409 and leaves it alone when anything else is there", async () => {
    const path = at(".claude/skills/notes");
    await mkdir(at(".claude/skills"), { recursive: true });
    const obstacles: [what: RegExp, make: () => Promise<unknown>][] = [
      [/A folder/, () => mkdir(path)],
      [/A file/, () => writeFile(path, "mine")],
      [/A link to \/nowhere/, () => symlink("/nowhere", path)],
      [/A link to/, () => symlink(toStore(t.home, "notes"), path)],
    ];
    for (const [what, make] of obstacles) {
      await make();
      const before = await picture(at(".claude"));
      for (const mode of ["symlink", "copy"]) {
        const { status, body } = await send("link", { tool: "claude-code", mode });
        expect([status, body.code]).toEqual([409, "SKILL_IN_THE_WAY"]);
        expect(body.message).toMatch(what);
      }
      expect(await picture(at(".claude"))).toEqual(before);
      await rm(path, { recursive: true });
    }
    await rm(at(".claude"), { recursive: true });
    await writeFile(at(".claude"), "a file where a folder should be");
    expect(await send("link", { tool: "claude-code" })).toMatchObject({
      status: 422,
      body: { code: "SKILL_LINK_DENIED" },
    });
  });

  it("says first when the tool sees the skill already through another folder", async () => {
    await send("link", { tool: "codex" });
    const { links } = await skill();
    // Others link into the same folder as Codex does, and are named beside it.
    const seen = links.filter((one) => one.visibleThrough.includes("codex")).map((one) => one.tool);
    expect(seen).toEqual(expect.arrayContaining(["cursor", "gemini-cli"]));
    for (const tool of ["claude-code", "codex", "copilot"]) expect([tool, seen.includes(tool)]).toEqual([tool, false]);
    const second = await send("link", { tool: "cursor" });
    expect([second.status, second.body.code]).toEqual([409, "SKILL_ALREADY_VISIBLE"]);
    expect(existsSync(at(".cursor"))).toBe(false);
    expect((await send("link", { tool: "cursor", again: true })).status).toBe(200);
  });

  it("unlinks only what it can prove to have made", async () => {
    await send("link", { tool: "claude-code" });
    const path = at(".claude/skills/notes");
    const others: [kind: string, make: () => Promise<unknown>][] = [
      ["folder", () => writeTree(path, { "mine.txt": "precious" })],
      ["file", () => writeFile(path, "precious")],
      ["link elsewhere", () => symlink("/tmp", path)],
      ["a later link that says the same", () => symlink(toStore(t.home, "notes"), path)],
    ];
    for (const [, make] of others) {
      await rm(path, { recursive: true });
      await make();
      const before = await picture(at(".claude"));
      const { status, body } = await send("unlink", { tool: "claude-code" });
      expect([status, body.code]).toEqual([409, "SKILL_NOT_OURS"]);
      expect(await picture(at(".claude"))).toEqual(before);
    }
    expect((await t.send("DELETE", "/api/skills/notes?removeFiles=1")).body).toMatchObject({
      unlinked: 0,
      left: [{ path }],
    });
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
  });

  it("a dangling link of sessarc's is broken and repairable; linking is refused until the skill is there again", async () => {
    await send("link", { tool: "claude-code" });
    await rm(toStore(t.home, "notes"), { recursive: true });
    const { entries } = await t.json<Scan>("/api/skills/scan");
    expect(entries).toMatchObject([{ class: "broken", reason: "dangling-link", repairable: true, skill: "notes" }]);
    expect(toLink(await skill(), "claude-code").state).toBe("broken");
    expect(await send("link", { tool: "opencode" })).toMatchObject({ status: 422, body: { code: "SKILL_UNREADABLE" } });
    const { snapshots } = await t.json<{ snapshots: { id: string }[] }>("/api/skills/notes/snapshots");
    await send("restore", { snapshot: snapshots[0]?.id ?? "" });
    expect(toLink(await skill(), "claude-code").state).toBe("linked");
  });

  it("goes into a project's folder when asked to", async () => {
    const project = await importedProject();
    const body = { tool: "copilot", scope: "project", project: project.id };
    expect((await send("link", { ...body, project: undefined })).status).toBe(400);
    expect((await send("link", { ...body, project: "none" })).status).toBe(404);
    const { body: linked } = await send("link", body);
    const path = join(project.path ?? "", ".github/skills/notes");
    expect(linked.links.at(-1)).toMatchObject({
      tool: "copilot",
      scope: "project",
      project: project.id,
      path,
      state: "linked",
    });
    const { entries } = await t.json<Scan>("/api/skills/scan");
    expect(entries).toMatchObject([
      { class: "managed", reason: "linked", path, project: project.id, scope: "project" },
    ]);
    await send("unlink", body);
    expect(existsSync(join(project.path ?? "", ".github"))).toBe(false);
  });

  it("of scope project neither bring back a deleted project nor follow a link out of it", async () => {
    const project = await importedProject();
    const folder = project.path ?? "";
    const body = { tool: "claude-code", scope: "project", project: project.id };
    await mkdir(at("elsewhere"));
    for (const [from, to] of [
      [".claude", at("elsewhere")],
      [".claude", at("nowhere")],
      [".claude/skills", "../../../elsewhere"],
    ] as const) {
      await mkdir(join(folder, from, ".."), { recursive: true });
      await symlink(to, join(folder, from));
      const refused = await send("link", body);
      expect([from, refused.status, refused.body.code]).toEqual([from, 422, "SKILL_LEAVES_PROJECT"]);
      await rm(join(folder, ".claude"), { recursive: true });
    }
    expect([await readdir(at("elsewhere")), existsSync(at("nowhere"))]).toEqual([[], false]);
    // A link inside the project is followed.
    await mkdir(join(folder, "shared"));
    await symlink("shared", join(folder, ".claude"));
    expect((await send("link", body)).status).toBe(200);
    expect(await readdir(join(folder, "shared/skills"))).toEqual(["notes"]);
    await send("unlink", body);
    await rm(folder, { recursive: true });
    const gone = await send("link", body);
    expect([gone.status, gone.body.code]).toEqual([422, "SKILL_PROJECT_GONE"]);
    expect(existsSync(folder)).toBe(false);
  });

  it("knows its tools", async () => {
    expect(await send("link", { tool: "chatgpt" })).toMatchObject({
      status: 404,
      body: { code: "SKILL_TOOL_UNKNOWN" },
    });
    expect(await send("link", { tool: "codx" })).toMatchObject({
      status: 400,
      body: { message: "No assistant is named codx; did you mean codex?" },
    });
    const tools = (await skill()).links.map((one) => one.tool);
    const first = ["claude-code", "codex", "cursor", "opencode", "gemini-cli", "copilot"];
    expect(tools.slice(0, first.length)).toEqual(first);
    // Every other adapter that knows a folder of skills is offered, too.
    expect(tools).toEqual(expect.arrayContaining(["qwen", "kimi", "droid", "vibe"]));
  });
});

describe("copies", () => {
  const path = () => at(".claude/skills/notes");

  it("hold the skill exactly, are managed, and go file by file", async () => {
    const { body } = await send("link", { tool: "claude-code", mode: "copy" });
    expect(toLink(body, "claude-code")).toMatchObject({ state: "linked", mode: "copy" });
    expect(await picture(path())).toEqual(await picture(toStore(t.home, "notes")));
    const { entries } = await t.json<Scan>("/api/skills/scan");
    expect(entries).toMatchObject([{ class: "managed", reason: "copied", skill: "notes", drift: false }]);
    await send("unlink", { tool: "claude-code" });
    expect(existsSync(at(".claude"))).toBe(false);
  });

  it("that were edited are never removed or replaced; drift names the file", async () => {
    await send("link", { tool: "claude-code", mode: "copy" });
    await writeFile(join(path(), "run.sh"), "edited");
    await writeFile(join(toStore(t.home, "notes"), "new.md"), "in the store");
    const before = await picture(path());
    for (const [action, body] of [
      ["unlink", {}],
      ["link", { mode: "copy" }],
    ] as const) {
      const answer = await send(action, { tool: "claude-code", ...body });
      expect([answer.status, answer.body.code]).toEqual([409, "SKILL_COPY_EDITED"]);
      expect(answer.body.message).toContain("run.sh");
    }
    expect(await picture(path())).toEqual(before);
    expect(toLink(await skill(), "claude-code")).toMatchObject({ state: "edited", mode: "copy" });
    const { entries } = await t.json<Scan>("/api/skills/scan");
    expect(entries).toMatchObject([{ class: "managed", drift: true }]);
    const drift = await t.json<Drift>("/api/skills/notes/drift");
    expect(drift.places).toMatchObject([{ tool: "claude-code", kind: "copy", path: path(), problem: null }]);
    expect(drift.files.map((file) => [file.path, file.state, file.places[path()] === file.store])).toEqual([
      ["new.md", "mine", false],
      ["run.sh", "same", false],
    ]);
  });

  it("are kept when the user edits them in the moment of their removal", async () => {
    await send("link", { tool: "claude-code", mode: "copy" });
    const { db } = t.kernel.storage;
    const { batch } = db;
    db.batch = async (statements) => {
      await batch(statements);
      if (statements.some(([, values]) => values?.includes("removing")))
        await writeFile(join(path(), "run.sh"), "mine");
    };
    const { status, body } = await send("unlink", { tool: "claude-code" });
    expect([status, body.code]).toEqual([409, "SKILL_COPY_EDITED"]);
    db.batch = batch;
    expect(await readFile(join(path(), "run.sh"), "utf8")).toBe("mine");
    expect(toLink(await skill(), "claude-code")).toMatchObject({ state: "edited", mode: "copy" });
  });

  it("whose removal a crash left and that cannot be read any more hold up no start", async () => {
    await send("link", { tool: "claude-code", mode: "copy" });
    await symlink("nowhere", join(path(), "dangling"));
    await t.kernel.storage.db.run("update skill_link set state = 'removing'");
    const { home } = t;
    await t.kernel.close();
    const again = await skillKernel({ home });
    expect(await again.json<Skill>("/api/skills/notes")).toMatchObject({ id: "notes" });
    expect(existsSync(join(path(), "run.sh"))).toBe(true);
    await again.close();
  });

  it("are brought up to date by linking again", async () => {
    await send("link", { tool: "claude-code", mode: "copy" });
    await writeFile(join(toStore(t.home, "notes"), "new.md"), "in the store");
    expect((await send("link", { tool: "claude-code", mode: "copy" })).status).toBe(200);
    expect(await picture(path())).toEqual(await picture(toStore(t.home, "notes")));
  });
});

/** A session of Claude Code in a folder, imported: the archive knows the project then. */
async function importedProject(): Promise<Project> {
  const folder = at("work/app");
  await mkdir(folder, { recursive: true });
  const line = {
    ...{
      type: "user",
      uuid: "u1",
      parentUuid: null,
      sessionId: "s1",
      timestamp: "2026-11-20T10:00:00.000Z",
      cwd: folder,
    },
    message: { role: "user", content: "hello" },
  };
  await writeTree(at(".claude/projects/-work-app"), { "s1.jsonl": `${JSON.stringify(line)}\n` });
  await t.json("/api/scan");
  await t.send("POST", "/api/import", { all: true });
  await rm(at(".claude"), { recursive: true });
  const [project] = await t.json<Project[]>("/api/projects");
  if (!project) throw new Error("no project was imported");
  return project;
}
