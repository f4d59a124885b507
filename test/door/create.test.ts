/** `npm create sessarc-plugin` as published: packed, run, and what it makes compiled, tested and loaded with the packed sessarc. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { ROOT } from "../built.ts";
import { LONG } from "../rounds.ts";
import { packedInstall, runInstalled } from "./_packed.ts";

const exec = promisify(execFile);
const SOURCE = join(ROOT, "playground/create-sessarc-plugin");
/** The native compiler says the same in a tenth of the time; the one that starters ask for is the long run's. */
const TSC = `typescript${LONG ? "" : "-native"}/bin/tsc`;
const BUILD = ["-p", "tsconfig.build.json", ...(LONG ? [] : ["--checkers", "1"])];
let sessarc: string;
let creator: string;
let packing: string;

beforeAll(async () => {
  sessarc = await packedInstall();
  packing = await mkdtemp(join(tmpdir(), "sessarc-create-"));
  const folder = packing;
  const { stdout } = await exec("npm", ["pack", "--json", "--pack-destination", folder], { cwd: SOURCE });
  const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  expect(packed?.files.map((file) => file.path)).toContain("templates/shared/_gitignore");
  await exec("tar", ["-xzf", join(folder, packed?.filename ?? "")], { cwd: folder });
  creator = join(folder, "package/index.mjs");
});
afterAll(() => rm(packing, { recursive: true, force: true }));

const create = async (cwd: string, ...args: string[]) =>
  exec(process.execPath, [creator, ...args], { cwd }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );

/** What `npm install` would bring, without asking a registry: sessarc as packed, the rest as this project has it. */
async function install(plugin: string): Promise<void> {
  const { devDependencies } = JSON.parse(await readFile(join(plugin, "package.json"), "utf8")) as {
    devDependencies: Record<string, string>;
  };
  await mkdir(join(plugin, "node_modules/@types"), { recursive: true });
  // A copy, so that it finds the others beside it.
  await cp(join(sessarc, "node_modules/sessarc"), join(plugin, "node_modules/sessarc"), { recursive: true });
  for (const name of await readdir(join(sessarc, "node_modules")))
    if (!name.startsWith(".") && !["sessarc", "@types"].includes(name))
      await symlink(join(sessarc, "node_modules", name), join(plugin, "node_modules", name));
  for (const name of Object.keys(devDependencies))
    if (!existsSync(join(plugin, "node_modules", name)))
      await symlink(join(ROOT, "node_modules", name), join(plugin, "node_modules", name));
}

const node = (plugin: string, path: string, ...args: string[]) =>
  exec(process.execPath, [join(ROOT, "node_modules", path), ...args], {
    cwd: plugin,
    env: { ...process.env, NODE_OPTIONS: "" },
  }).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${path}: ${error.stdout}\n${error.stderr}`);
  });

describe("npm create sessarc-plugin", () => {
  it("makes an adapter that compiles, passes its suite and imports", async () => {
    const home = await makeTempDir();
    expect(await create(home, "sessarc-adapter-bird-song", "--adapter")).toMatchObject({ code: 0, stderr: "" });
    const plugin = join(home, "sessarc-adapter-bird-song");
    expect((await readdir(plugin)).sort()).toEqual([
      ".gitignore",
      "README.md",
      "package.json",
      "src",
      "test",
      "tsconfig.build.json",
      "tsconfig.json",
    ]);
    expect(await readFile(join(plugin, "src/index.ts"), "utf8")).not.toMatch(/starter/i);
    await install(plugin);
    // With the tests.
    if (LONG) await node(plugin, TSC);
    await node(plugin, "vitest/vitest.mjs", "run");
    await node(plugin, TSC, ...BUILD);
    await cp(join(plugin, "test/fixtures"), join(home, ".bird-song/sessions"), { recursive: true });
    for (const entry of ["src/index.ts", "dist/index.js"]) {
      const ran = await runInstalled(
        ["--plugin", join(plugin, entry), "import", "--json", "--data-dir", join(home, entry)],
        home,
      );
      expect(ran).toMatchObject({ code: 0, stderr: "" });
      expect(JSON.parse(ran.stdout)).toMatchObject({ imported: 1, messages: 2, failed: [] });
    }
  });

  it("makes a feature with a typed page in the dashboard", async () => {
    const home = await makeTempDir();
    expect(await create(home, "tides", "--feature")).toMatchObject({ code: 0, stderr: "" });
    const plugin = join(home, "tides");
    await install(plugin);
    // A misspelled member of the kit is reported by the compiler; nothing else is wrong.
    const source = await readFile(join(plugin, "src/ui.ts"), "utf8");
    await writeFile(join(plugin, "src/wrong.ts"), source.replace("h(Table", "h(Tabel"));
    const complaints = await node(plugin, TSC, ...BUILD).then(() => "", String);
    expect(complaints).toMatch(/src\/wrong\.ts\(\d+,\d+\): error .*Tabel/);
    expect(complaints.match(/: error /g)).toHaveLength(1);
    await rm(join(plugin, "src/wrong.ts"));
    if (LONG) {
      await node(plugin, TSC);
      await node(plugin, "vitest/vitest.mjs", "run");
    }
    const ran = await runInstalled(["--plugin", join(plugin, "dist/index.js"), "plugins", "--json"], home);
    const { plugins } = JSON.parse(ran.stdout) as { plugins: { name: string; routes: string[] }[] };
    expect(plugins.find((one) => one.name === "tides")?.routes).toEqual([
      "GET /tides/busiest",
      "GET /plugins/tides/ui.js",
    ]);
  });

  it("asks for a name that can be one, and touches no folder with something in it", async () => {
    const home = await makeTempDir();
    await mkdir(join(home, "full"));
    await writeFile(join(home, "full/mine.txt"), "mine");
    for (const [args, message] of [
      [["full", "--adapter"], "full is not empty"],
      [["Bird_Song", "--adapter"], '"Bird_Song" is no name for a plugin'],
      [["birds"], "--adapter or --feature"],
      [["birds", "--adapter", "--feature"], "Either --adapter or --feature"],
      [["birds", "--adaptor"], "Unknown option '--adaptor'"],
    ] as const) {
      const ran = await create(home, ...args);
      expect([args, ran.code, ran.stdout]).toEqual([args, 2, ""]);
      expect(ran.stderr).toContain(message);
    }
    expect(await readdir(home)).toEqual(["full"]);
    expect(await readdir(join(home, "full"))).toEqual(["mine.txt"]);
  });
});
