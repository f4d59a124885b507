/** The built-in plugins are made of what the package offers everybody: their sources compile and are bundled with the packed package, and with nothing else of core. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { defaultPlugins } from "sessarc/plugins";
import { build } from "vite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT } from "../built.ts";
import { packedInstall } from "./_packed.ts";

const exec = promisify(execFile);
const MODULES = join(ROOT, "node_modules");

/** Compiles what is in `folder`; answers the compiler's complaints. */
const compile = (folder: string): Promise<string> =>
  exec(process.execPath, [join(MODULES, "typescript-native/bin/tsc"), "-p", folder, "--checkers", "1"], {
    cwd: folder,
  }).then(
    () => "",
    (error: { stdout?: string }) => error.stdout ?? String(error),
  );

/** The plugins' folders beside the packed package alone. */
async function strangersFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "sessarc-stranger-"));
  const modules = join(dir, "node_modules");
  await mkdir(modules);
  await cp(join(await packedInstall(), "node_modules/sessarc"), join(modules, "sessarc"), { recursive: true });
  for (const name of await readdir(MODULES))
    if (name !== "sessarc") await symlink(join(MODULES, name), join(modules, name), "junction");
  await cp(join(ROOT, "plugins"), join(dir, "plugins"), { recursive: true });
  await writeFile(join(dir, "package.json"), JSON.stringify({ name: "stranger", private: true, type: "module" }));
  // What no entry exports is refused, so that an empty answer means something.
  await writeFile(
    join(dir, "plugins/notes/private.ts"),
    'import { openStorage } from "sessarc/storage";\nimport { x } from "#internal";\nexport default [openStorage, x];\n',
  );
  return dir;
}

/** Bundles these files with what they take of `sessarc`; other packages stay imports. Answers the names of the bundles. */
async function bundle(dir: string, input: Record<string, string>): Promise<string[]> {
  const made = await build({
    configFile: false,
    root: dir,
    logLevel: "silent",
    ssr: { noExternal: [/^sessarc(\/|$)/] },
    build: { ssr: true, write: false, minify: false, rollupOptions: { input } },
  });
  if (!("output" in made)) throw new Error("one build was expected");
  return made.output.flatMap((one) => (one.type === "chunk" && one.isEntry ? [one.name] : []));
}

let dir: string;
beforeAll(async () => {
  dir = await strangersFolder();
});
afterAll(() => rm(dir, { recursive: true, force: true }));

it("all built-in plugins compile with the public types of the packed package alone", async () => {
  const { compilerOptions } = (await import("../../tsconfig.json")).default;
  const options = { ...compilerOptions, paths: {} };
  await writeFile(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["plugins"] }));
  const complaints = (await compile(dir)).split("\n").filter((line) => /error TS/.test(line));
  expect(complaints.map((line) => line.replace(/^.*?([\w/]+\.ts)\((\d+).*(TS\d+).*$/, "$1 $2 $3"))).toEqual([
    "plugins/notes/private.ts 1 TS2305",
    "plugins/notes/private.ts 2 TS2307",
  ]);
});

it("each built-in plugin is bundled with what the packed package exports", async () => {
  const names = new Set(defaultPlugins().map(({ specifier }) => specifier.replace("sessarc/plugins/", "")));
  expect(names.size).toBeGreaterThan(45);
  const input = Object.fromEntries([...names].map((name) => [name, join(dir, "plugins", name, "index.ts")]));
  expect((await bundle(dir, input)).sort()).toEqual([...names].sort());
  await expect(bundle(dir, { private: join(dir, "plugins/notes/private.ts") })).rejects.toThrow("openStorage");
});
