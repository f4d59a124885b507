/** What was put where a folder of the data directory has to be: the doctor reports it, and `--fix` moves it away. */
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { checkMachine } from "../../core/kernel/doctor.ts";
import { createStorage } from "../../core/storage/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";

const KEY = "aaaaaaaa-0000-4000-8000-000000000001";
let home: string;
let data: string;

const said = async (...args: string[]) => (await runCommand([...args, "--data-dir", data], home)).stdout;
async function checks(...args: string[]) {
  const report = JSON.parse(await said("doctor", "--json", ...args)) as { checks: { name: string; status: string }[] };
  return Object.fromEntries(report.checks.map(({ name, status }) => [name, status]));
}

beforeEach(async () => {
  home = await makeTempDir();
  data = join(home, "data");
  const log = join(home, ".claude/projects/-w-app", `${KEY}.jsonl`);
  const message = { role: "user", content: "needle" };
  await mkdir(dirname(log), { recursive: true });
  await writeFile(log, `${JSON.stringify({ type: "user", uuid: "u", timestamp: "2026-01-01T00:00:00Z", message })}\n`);
  await said("import");
});

/** The one folder of its transcript. */
const readFolder = async (): Promise<string> =>
  join("transcripts", (await readdir(join(data, "transcripts")))[0] ?? "");

const onWindows = process.platform === "win32";
const places: [string, () => Promise<string>, string][] = [
  ["all transcripts", () => Promise.resolve("transcripts"), "a file"],
  ["a folder of transcripts", readFolder, "a file"],
  ["a folder of transcripts", readFolder, "a link"],
];
it.each(places.filter(([, , what]) => !onWindows || what !== "a link"))(
  "in the place of %s stands something else ($2): what is missing is rebuilt",
  async (_, find, what) => {
    const name = await find();
    const path = join(data, name);
    if (what === "a link") {
      await rename(path, join(home, "elsewhere"));
      await symlink(join(home, "elsewhere"), path);
    } else {
      await rm(path, { recursive: true });
      await writeFile(path, "mine");
    }
    expect(await checks()).toMatchObject({ folders: "fail", transcripts: "fail" });
    expect(await checks("--fix")).toMatchObject({ repaired: "warn", transcripts: "ok" });
    const after = await checks();
    expect(after).toMatchObject({ transcripts: "ok" });
    expect(after).not.toHaveProperty("folders");
    expect(await said("search", "needle")).toContain("1 match");
    const [kept = ""] = (await readdir(dirname(path))).filter((one) => one.includes(".damaged-"));
    if (what === "a file") expect(await readFile(join(dirname(path), kept), "utf8")).toBe("mine");
    else expect(await readdir(join(dirname(path), kept))).toHaveLength(1);
  },
);

it("a file in the place of `files` is moved away, but not while a process has the archive", async () => {
  await rm(join(data, "files"), { recursive: true, force: true });
  await writeFile(join(data, "files"), "mine");
  const owner = await createStorage({ dataDir: data });
  expect(await checkMachine(data, true)).toContainEqual(expect.objectContaining({ name: "folders", status: "fail" }));
  expect(await readFile(join(data, "files"), "utf8")).toBe("mine");
  await owner.db.close();
  expect(await checks("--fix")).toMatchObject({ repaired: "warn" });
  const again = await createStorage({ dataDir: data });
  await again.files.setItem("a", "b");
  await again.db.close();
  expect(await checks()).not.toHaveProperty("folders");
});

it.skipIf(onWindows)("a link to a folder will do, and one that leads nowhere just now is left alone", async () => {
  await rename(join(data, "transcripts"), join(home, "larger"));
  await symlink(join(home, "larger"), join(data, "transcripts"));
  expect(await checks()).not.toHaveProperty("folders");
  expect(await said("search", "needle")).toContain("1 match");
  await rename(join(home, "larger"), join(home, "away"));
  expect(await checks("--fix")).not.toHaveProperty("repaired");
  await rename(join(home, "away"), join(home, "larger"));
  expect(await checks()).toMatchObject({ transcripts: "ok" });
});
