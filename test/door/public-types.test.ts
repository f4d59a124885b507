/** The built-in plugins are made of what the package offers everybody: their sources compile with the packed declarations, and with nothing else of core. */
import { execFile } from "node:child_process";
import { cp, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
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

it("all built-in plugins compile with the public types of the packed package alone", async () => {
  const dir = await makeTempDir();
  const modules = join(dir, "node_modules");
  await mkdir(modules);
  await cp(join(await packedInstall(), "node_modules/sessarc"), join(modules, "sessarc"), { recursive: true });
  for (const name of await readdir(MODULES))
    if (name !== "sessarc") await symlink(join(MODULES, name), join(modules, name), "junction");
  await cp(join(ROOT, "plugins"), join(dir, "plugins"), { recursive: true });
  await writeFile(join(dir, "package.json"), JSON.stringify({ name: "stranger", private: true, type: "module" }));
  const { compilerOptions } = (await import("../../tsconfig.json")).default;
  const options = { ...compilerOptions, paths: {} };
  await writeFile(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["plugins"] }));
  // What no entry exports is refused, so that an empty answer means something.
  await writeFile(
    join(dir, "plugins/notes/private.ts"),
    'import { openStorage } from "sessarc/storage";\nimport { x } from "#internal";\nexport default [openStorage, x];\n',
  );
  const complaints = (await compile(dir)).split("\n").filter((line) => /error TS/.test(line));
  expect(complaints.map((line) => line.replace(/^.*?([\w/]+\.ts)\((\d+).*(TS\d+).*$/, "$1 $2 $3"))).toEqual([
    "plugins/notes/private.ts 1 TS2305",
    "plugins/notes/private.ts 2 TS2307",
  ]);
});
