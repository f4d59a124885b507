import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import { defaultPlugins } from "../../plugins/index.ts";

interface Listed {
  id: string;
  path: string | null;
  git: unknown;
}
interface Frame {
  id: string;
  git: unknown;
}

let t: TestKernel;
beforeAll(async () => {
  t = await createTestKernel({ plugins: defaultPlugins().filter((entry) => !/dashboard|demo/.test(entry.specifier)) });
  await writeDemo({ home: t.home });
  await t.send("POST", "/api/import", { all: true });
});
afterAll(() => t.close());

const toFrames = (text: string): Frame[] =>
  text
    .split("\n\n")
    .filter((block) => block.startsWith("data: "))
    .map((block) => JSON.parse(block.slice(6)) as Frame);

describe("GET /projects/git", () => {
  it("says of every project what GET /projects says, one frame each, and then that it is done", async () => {
    const whole = await t.json<Listed[]>("/api/projects");
    expect(whole.some((one) => one.git !== null)).toBe(true);
    expect(whole.some((one) => one.git === null)).toBe(true);
    const response = await t.fetch("/api/projects/git");
    expect(response.headers.get("content-type")).toMatch("text/event-stream");
    const text = await response.text();
    const frames = toFrames(text);
    expect(frames).toHaveLength(whole.length);
    expect(Object.fromEntries(frames.map((one) => [one.id, one.git]))).toEqual(
      Object.fromEntries(whole.map((one) => [one.id, one.git])),
    );
    expect(text.trimEnd().endsWith("event: end\ndata: {}")).toBe(true);
  });

  it("reads the work tree each time, and of one project only when asked", async () => {
    const one = (await t.json<Listed[]>("/api/projects")).find((project) => project.git !== null);
    if (!one?.path) throw new Error("The sample data has no repository");
    const ask = async () => toFrames(await (await t.fetch(`/api/projects/git?project=${one.id}`)).text());
    expect(await ask()).toEqual([{ id: one.id, git: one.git }]);
    mkdirSync(join(one.path, "new"), { recursive: true });
    writeFileSync(join(one.path, "new/file.txt"), "new\n");
    execFileSync("git", ["checkout", "-q", "-b", "elsewhere"], { cwd: one.path });
    expect(await ask()).toMatchObject([{ id: one.id, git: { branch: "elsewhere", dirty: true } }]);
    expect((await t.fetch("/api/projects/git?project=000000000000")).status).toBe(404);
  });

  it("is left out of the list with git=0", async () => {
    const whole = await t.json<Listed[]>("/api/projects");
    expect(await t.json("/api/projects?git=0")).toEqual(whole.map((one) => ({ ...one, git: null })));
    const [first] = whole;
    expect(await t.json(`/api/projects/${first?.id}?git=0`)).toMatchObject({ project: { id: first?.id, git: null } });
  });

  it("ends when its reader goes, and the service goes on", async () => {
    const { body } = await t.fetch("/api/projects/git");
    const reader = body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect((await t.fetch("/api/projects/git")).status).toBe(200);
  });
});
