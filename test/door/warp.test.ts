/** The adapter in `playground/` as a stranger publishes it: compiled against the packed sessarc, packed, installed and loaded by its name. */
import { execFile } from "node:child_process";
import { cp, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { writeTables } from "../adapters/_store.ts";
import { ROOT } from "../built.ts";
import { packedInstall, runInstalled } from "./_packed.ts";

const exec = promisify(execFile);
const NAME = "sessarc-adapter-warp";

it("a packed adapter imports from the home of its tool", async () => {
  const home = await makeTempDir();
  const source = join(home, "source");
  await cp(join(ROOT, "playground", NAME), source, { recursive: true });
  await rm(join(source, "dist"), { recursive: true, force: true });
  await mkdir(join(source, "node_modules/@types"), { recursive: true });
  const packed = await packedInstall();
  // A copy, so that its types find those of Node beside it.
  await cp(join(packed, "node_modules/sessarc"), join(source, "node_modules/sessarc"), { recursive: true });
  await symlink(join(ROOT, "node_modules/@types/node"), join(source, "node_modules/@types/node"));
  const tsc = join(ROOT, "node_modules/typescript-native/bin/tsc");
  await exec(process.execPath, [tsc, "-p", source, "--checkers", "1"], { env: { ...process.env, NODE_OPTIONS: "" } });
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", home];
  const { stdout } = await exec("npm", args, { cwd: source });
  const [tarball] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  expect(tarball?.files.map((file) => file.path)).toContain("dist/index.js");

  const user = join(home, "user");
  await mkdir(join(user, "node_modules", NAME), { recursive: true });
  await exec("tar", [
    "-xzf",
    join(home, tarball?.filename ?? ""),
    "-C",
    join(user, "node_modules", NAME),
    "--strip",
    "1",
  ]);
  await symlink(join(packed, "node_modules/sessarc"), join(user, "node_modules/sessarc"));
  await writeFile(join(user, "package.json"), JSON.stringify({ name: "user", private: true }));
  const input = JSON.stringify([{ Query: { text: "List the files" } }]);
  await writeTables(join(user, ".local/state/warp-terminal/warp.sqlite"), {
    ai_queries: [{ exchange_id: "x", conversation_id: "c", start_ts: "2026-08-20 10:00:00", input }],
  });
  const ran = await runInstalled(["--plugin", NAME, "import", "--json", "--data-dir", join(home, "data")], user);
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(ran.stdout)).toMatchObject({ imported: 1, messages: 1, failed: [] });
});
