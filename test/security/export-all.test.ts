/** The whole archive as files that outlive the product. */
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { letters } from "./_samples.ts";

let home: string;
let to: string;
const uuid = (n: number) => `9e0e0000-0000-4000-8000-00000000000${n}`;
const log = (n: number) => join(home, `.claude/projects/-w-app/${uuid(n)}.jsonl`);
const row = (n: number, text: string) =>
  `${JSON.stringify({
    type: "user",
    uuid: `u${n}-${text}`,
    sessionId: uuid(n),
    timestamp: "2026-10-05T10:00:00.000Z",
    cwd: "/w/app",
    message: { role: "user", content: text },
  })}\n`;
async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
const run = (...args: string[]) => runCommand(args, home);
const exportAll = (...more: string[]) => run("export", "--all", "--to", to, ...more);
const document = (n: number, ending: string) => join(to, `sessions/claude-code/2026-10/${uuid(n)}.${ending}`);
const all = async () =>
  (await readdir(to, { recursive: true, withFileTypes: true })).filter((one) => one.isFile()).length;

beforeEach(async () => {
  home = await makeTempDir();
  to = join(await makeTempDir(), "out");
  await put(log(1), row(1, "first words"));
  await put(log(2), row(2, '=HYPERLINK("x")'));
  await run("import");
});

describe("export --all", () => {
  it("writes each session as Markdown and JSON, its raw log in its layout, and a table", async () => {
    const { code, stdout } = await exportAll();
    expect([code, stdout]).toEqual([0, expect.stringContaining("2 sessions written")]);
    expect(await readFile(document(1, "md"), "utf8")).toContain("first words");
    expect(JSON.parse(await readFile(document(1, "json"), "utf8"))).toMatchObject({
      events: [{ text: "first words" }],
    });
    expect(await readFile(join(to, `logs/.claude/projects/-w-app/${uuid(1)}.jsonl`), "utf8")).toBe(
      row(1, "first words"),
    );
    const [head, ...rows] = (await readFile(join(to, "sessions.csv"), "utf8")).trimEnd().split("\r\n");
    expect(head).toMatch(/^id,assistant,project,folder,title,/);
    expect(rows.length).toBe(2);
    expect(rows.find((one) => one.includes(uuid(2)))).toContain(`"'=HYPERLINK(""x"")"`);
  });

  it("writes only what changed the next time, and the same files", async () => {
    await exportAll();
    const before = await stat(document(1, "md"));
    await put(log(2), row(2, "other") + row(2, "more"));
    await run("import");
    const again = await exportAll("--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ written: 1, unchanged: 1, failed: 0 });
    expect((await stat(document(1, "md"))).ino).toBe(before.ino);
    expect(await readFile(document(2, "md"), "utf8")).toContain("more");
    const count = await all();
    expect(JSON.parse((await exportAll("--json")).stdout)).toMatchObject({ written: 0, unchanged: 2 });
    expect(await all()).toBe(count);
    await rm(document(1, "json"));
    expect(JSON.parse((await exportAll("--json")).stdout)).toMatchObject({ written: 1, unchanged: 1 });
  });

  it("takes a log that is gone from what is stored, and says of which there is none", async () => {
    await rm(log(1));
    await run("import");
    await exportAll();
    expect(await readFile(join(to, `logs/.claude/projects/-w-app/${uuid(1)}.jsonl`), "utf8")).toBe(
      row(1, "first words"),
    );
    await run("vacuum", "--logs");
    await rm(to, { recursive: true });
    expect((await exportAll()).stderr).toContain("Of 1 there is no raw log");
  });

  it("leaves secrets and raw logs out with --redacted", async () => {
    const secret = `ghp_${letters(36, 61)}`;
    await put(log(3), row(3, `token ${secret}`));
    await run("import");
    await exportAll("--redacted");
    const files = (await readdir(to, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
    for (const { parentPath, name } of files)
      expect(await readFile(join(parentPath, name), "utf8")).not.toContain(secret);
    expect(files.some(({ parentPath }) => parentPath.includes("logs"))).toBe(false);
  });

  it("writes into no folder of something else", async () => {
    await put(join(to, "mine.txt"), "x");
    const { code, stderr } = await exportAll();
    expect([code, stderr]).toEqual([2, expect.stringContaining("name an empty folder")]);
    expect(await readdir(to)).toEqual(["mine.txt"]);
  });
});
