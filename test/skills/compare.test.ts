/** Two versions of a skill side by side, and one of them in the place of the other: real folders, and the bytes before and after. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Skill, SkillComparison, SkillLink, Snapshot } from "../../plugins/index.ts";
import type { TestKernel } from "../kernel.ts";
import { importSkill, picture, plant, skillKernel, toStore, writeTree } from "./world.ts";

let t: TestKernel;
let other: string;
const at = (path: string) => join(t.home, path);
const send = (action: string, body: object) =>
  t.send<Skill & { code: string }>("POST", `/api/skills/notes/${action}`, body);
const toLink = (skill: Skill, tool: string) => skill.links.find((one) => one.tool === tool) as SkillLink;
const compare = (from: string, to: string) =>
  t.json<SkillComparison>(`/api/skills/compare?${new URLSearchParams({ from, to })}`);
const findSnapshot = async (hash: string) => {
  const { snapshots } = await t.json<{ snapshots: Snapshot[] }>("/api/skills/notes/snapshots");
  return snapshots.find((one) => one.contentHash === hash)?.id;
};

beforeEach(async () => {
  t = await skillKernel();
  await importSkill(t, await plant(t.home, ".gemini/skills", "notes", { "run.sh": ["#!/bin/sh\n", 0o755] }));
  other = await plant(t.home, ".claude/skills", "notes", {
    "run.sh": ["#!/bin/sh\nset -e\n", 0o755],
    "more/a.md": "A\n",
  });
});

afterEach(() => t.close());

describe("a skill that differs", () => {
  it("is shown with each file that differs and its diff, from the store to the assistant's folder", async () => {
    const { from, to, files } = await compare("notes", other);
    expect(from).toMatchObject({ skill: "notes", path: toStore(t.home, "notes"), tools: [], skipped: [] });
    expect(to).toMatchObject({ skill: null, path: other });
    expect(to.tools).toContain("claude-code");
    expect(files.map(({ path, status }) => [path, status])).toEqual([
      ["more/a.md", "added"],
      ["run.sh", "changed"],
    ]);
    expect(files[1]?.diff).toContain("\n+set -e\n");
    // Two folders of assistants, of which the store has none.
    await t.send("DELETE", "/api/skills/notes");
    const both = await compare(at(".gemini/skills/notes"), other);
    expect(both.files).toEqual(files);
  });

  it("answers only for stored skills and paths of the scan", async () => {
    await mkdir(at("elsewhere"));
    for (const path of [at("elsewhere"), "/etc", `${other}/../notes`, "nothing"]) {
      const query = new URLSearchParams({ from: "notes", to: path });
      expect((await t.fetch(`/api/skills/compare?${query}`)).status, path).toBe(404);
    }
    await writeTree(at(".claude/skills/other"), { "SKILL.md": "no head\n" });
    const query = new URLSearchParams({ from: "notes", to: at(".claude/skills/other") });
    expect((await t.fetch(`/api/skills/compare?${query}`)).status).toBe(409);
  });

  it("becomes the stored one; the version before is restored by its snapshot, and the folder stays as it is", async () => {
    const before = await picture(toStore(t.home, "notes"));
    const folder = await picture(other);
    const { from, to } = await compare("notes", other);
    expect(await send("take", { path: other, contentHash: from.contentHash })).toMatchObject({
      status: 409,
      body: { code: "SKILL_CHANGED" },
    });
    expect(await picture(toStore(t.home, "notes"))).toEqual(before);
    const taken = await send("take", { path: other, contentHash: to.contentHash });
    expect(taken.body).toMatchObject({ contentHash: to.contentHash, drift: "local" });
    expect(await picture(toStore(t.home, "notes"))).toEqual(folder);
    expect(await picture(other)).toEqual(folder);
    expect((await compare("notes", other)).files).toEqual([]);
    await send("restore", { snapshot: await findSnapshot(from.contentHash) });
    expect(await picture(toStore(t.home, "notes"))).toEqual(before);
    const stranger = await plant(t.home, ".claude/skills", "stranger");
    const { contentHash } = (await compare("notes", stranger)).to;
    expect(await send("take", { path: stranger, contentHash })).toMatchObject({
      status: 409,
      body: { code: "SKILL_NOT_IMPORTABLE" },
    });
  });

  it("is replaced by the stored one, and put back byte for byte as the user's own folder", async () => {
    const folder = await picture(other);
    const { from, to } = await compare("notes", other);
    const target = { tool: "claude-code" };
    expect(await send("link", { ...target, replace: from.contentHash })).toMatchObject({
      status: 409,
      body: { code: "SKILL_CHANGED" },
    });
    expect(await picture(other)).toEqual(folder);
    const replaced = await send("link", { ...target, replace: to.contentHash });
    expect(toLink(replaced.body, "claude-code")).toMatchObject({ state: "linked", mode: "copy" });
    expect(await picture(other)).toEqual(await picture(toStore(t.home, "notes")));
    const back = await send("unlink", { ...target, back: await findSnapshot(to.contentHash) });
    expect(toLink(back.body, "claude-code").state).toBe("directory");
    expect(await picture(other)).toEqual(folder);
    expect((await send("unlink", target)).body.code).toBe("SKILL_NOT_LINKED");
  });

  it("is left alone where a version cannot hold all of it, or where it is no folder", async () => {
    await mkdir(join(other, ".git"));
    await writeFile(join(other, ".git/HEAD"), "ref: refs/heads/main\n");
    const folder = await picture(other);
    const { to } = await compare("notes", other);
    expect(to.skipped).toEqual([".git"]);
    expect(await send("link", { tool: "claude-code", replace: to.contentHash })).toMatchObject({
      status: 409,
      body: { code: "SKILL_NOT_IMPORTABLE" },
    });
    expect(await picture(other)).toEqual(folder);
    await rm(other, { recursive: true });
    await writeFile(other, "a file");
    expect((await send("link", { tool: "claude-code", replace: to.contentHash })).status).toBe(409);
    expect(await picture(at(".claude/skills"))).toEqual({ notes: expect.stringMatching(/^file/) });
  });

  it("is a copy of sessarc's that was edited: taken, it is the user's own; replaced, it is a copy again", async () => {
    await rm(other, { recursive: true });
    await send("link", { tool: "claude-code", mode: "copy" });
    const edit = () => writeFile(join(other, "run.sh"), "#!/bin/sh\nset -u\n");
    await edit();
    const state = async () => toLink(await t.json<Skill>("/api/skills/notes"), "claude-code");
    expect((await state()).state).toBe("edited");
    const { from, to } = await compare("notes", other);
    const replaced = await send("link", { tool: "claude-code", replace: to.contentHash });
    expect(toLink(replaced.body, "claude-code")).toMatchObject({ state: "linked", mode: "copy" });
    expect((await compare("notes", other)).files).toEqual([]);
    await edit();
    await send("take", { path: other, contentHash: to.contentHash });
    expect(await state()).toMatchObject({ state: "directory" });
    expect((await compare("notes", other)).files).toEqual([]);
    await send("restore", { snapshot: await findSnapshot(from.contentHash) });
    expect((await compare("notes", other)).files).toHaveLength(1);
  });
});
