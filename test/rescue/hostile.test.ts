/** Foreign logs and ids: nothing is written outside of an assistant's own folders. */
import { statSync } from "node:fs";
import { chmod, chown, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkPlace } from "../../plugins/rescue/restore/place.ts";
import { addUp, removeWritten, writeNew } from "../../plugins/rescue/restore/write.ts";
import { makeTempDir } from "../_setup.ts";
import { claudePath, claudeRows, importAll, startIn, writeLog } from "./_logs.ts";

const KEY = "aaaaaaaa-0000-4000-8000-000000000001";
const ID = `claude-code:${KEY}`;

describe("a place for a rescued file", () => {
  it("is a plain path below the assistant's folder, through no link, among this user's files", async () => {
    const home = await makeTempDir();
    const folder = join(home, ".claude/projects");
    const outside = join(home, "outside");
    await mkdir(join(folder, "app"), { recursive: true });
    await mkdir(outside);
    await symlink(outside, join(folder, "link"));
    await writeFile(join(folder, "file"), "");
    await expect(checkPlace(join(folder, "app/new/x.jsonl"), [folder])).resolves.toBeUndefined();
    for (const [path, why] of [
      [join(home, "outside/x.jsonl"), /outside the folders/],
      [`${folder}/../../outside/x.jsonl`, /no plain absolute path/],
      [`${folder}/app/../../../outside/x`, /no plain absolute path/],
      [folder, /outside the folders/],
      ["app/x.jsonl", /no plain absolute path/],
      [`${folder}/x\0.jsonl`, /no plain absolute path/],
      [join(folder, "link/x.jsonl"), /is a link/],
      [join(folder, "link/deeper/x.jsonl"), /is a link/],
      [join(folder, "file/x.jsonl"), /is no folder/],
    ] as const)
      await expect(checkPlace(path, [folder]), path).rejects.toThrow(why);
  });

  it.runIf(process.getuid?.() === 0)("is not in a folder of another user", async () => {
    const home = await makeTempDir();
    const folder = join(home, "projects");
    await mkdir(join(folder, "app"), { recursive: true });
    await chown(join(folder, "app"), 12_345, 12_345);
    await expect(checkPlace(join(folder, "app/x.jsonl"), [folder])).rejects.toThrow(/belongs to another user/);
  });

  it("is never replaced, whatever has its name", async () => {
    const home = await makeTempDir();
    const path = join(home, "a/b/x.jsonl");
    const bytes = Buffer.from("new");
    expect(await writeNew(path, bytes, 0o4777)).toEqual({ written: true, first: join(home, "a") });
    expect(statSync(path).mode & 0o7777).toBe(0o666);
    expect(await writeNew(path, Buffer.from("other"), 0o600)).toMatchObject({ written: false });
    const link = join(home, "a/link");
    await symlink(join(home, "nowhere"), link);
    expect(await writeNew(link, bytes, 0o600)).toMatchObject({ written: false });
    expect(await readdir(home)).toEqual(["a"]);
    expect(await readFile(path, "utf8")).toBe("new");
    expect((await readdir(join(home, "a/b"))).length).toBe(1);
    expect(await removeWritten({ path, sum: addUp(Buffer.from("other")) })).toBe("changed");
    expect(await removeWritten({ path, sum: addUp(bytes) })).toBe("removed");
    expect(await removeWritten({ path, sum: addUp(bytes) })).toBe("gone");
  });
});

describe("stored logs", () => {
  it("leave out links beside a log, and can be read by this user alone", async () => {
    const home = await makeTempDir();
    const secret = join(home, "secret.txt");
    await writeFile(secret, "not of this session");
    const said = { key: KEY, cwd: home, turns: 2 };
    const path = await writeLog(claudePath(home, said), claudeRows(said));
    const beside = join(dirname(path), KEY, "tool-results");
    await mkdir(beside, { recursive: true });
    await symlink(secret, join(beside, "link.txt"));
    await writeFile(join(beside, "real.txt"), "output");
    const t = await startIn(home);
    await importAll(t);
    const row = await t.kernel.storage.db.get<{ files: string }>("select files from rescue_log where session = ?", [
      ID,
    ]);
    expect((JSON.parse(row?.files ?? "[]") as { path: string }[]).map((file) => file.path)).toEqual([
      path,
      join(beside, "real.txt"),
    ]);
    for (const name of await readdir(join(home, "data/logs"), { recursive: true }))
      expect(statSync(join(home, "data/logs", name)).mode & 0o077, name).toBe(0);
  });

  it("that are damaged restore nothing", async () => {
    const home = await makeTempDir();
    const said = { key: KEY, cwd: home, turns: 2 };
    const path = await writeLog(claudePath(home, said), claudeRows(said));
    const t = await startIn(home);
    await importAll(t);
    await rm(path);
    const logs = join(home, "data/logs");
    for (const name of await readdir(logs, { recursive: true })) {
      const file = join(logs, name);
      if (statSync(file).isDirectory()) continue;
      const bytes = await readFile(file);
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
      await chmod(file, 0o600);
      await writeFile(file, bytes);
    }
    const { status, body } = await t.send<{ message: string }>("POST", "/api/rescue/restore", { sessions: [ID] });
    expect([status, body.message]).toEqual([422, expect.stringContaining("its stored log is damaged")]);
    await expect(readFile(path)).rejects.toThrow();
  });
});
