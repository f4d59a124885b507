/** An indexer as a stranger has it: the playground's plugin beside the packed package, in worker threads. */
import { execFile } from "node:child_process";
import { appendFile, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { ROOT } from "../built.ts";
import { packedInstall, runInstalled } from "./_packed.ts";

const exec = promisify(execFile);
const SOURCES = ["index.ts", "indexer.ts"];

const read = (n: number, path: string) => {
  const content = [{ type: "tool_use", id: `t${n}`, name: "Read", input: { file_path: path } }];
  const message = { id: `m${n}`, role: "assistant", model: "claude-haiku-4-5", content };
  const timestamp = new Date(Date.now() - 60_000 + n).toISOString();
  return `${JSON.stringify({ type: "assistant", uuid: `u${n}`, requestId: `r${n}`, timestamp, cwd: "/w", message })}\n`;
};

it("fills its table when sessions are imported and go on, and its route answers from it", async () => {
  const installed = await packedInstall();
  const home = await makeTempDir();
  // Beside the package, so that the script below finds it.
  const plugin = join(installed, `reread-${process.pid}`);
  onTestFinished(() => rm(plugin, { recursive: true, force: true }));
  await cp(join(ROOT, "playground/plugins/reread"), plugin, { recursive: true });
  const log = join(home, ".claude/projects/-w/aaaaaaaa-0000-4000-8000-000000000001.jsonl");
  await mkdir(join(log, ".."), { recursive: true });
  await writeFile(log, read(1, "/w/a.ts") + read(2, "/w/a.ts") + read(3, "/w/b.ts"));
  const imported = async () => {
    const ran = await runInstalled(["import", "--all", "--json", "--plugin", join(plugin, "index.ts")], home);
    expect(ran).toMatchObject({ code: 0 });
    expect(JSON.parse(ran.stdout)).toMatchObject({ imported: 1, failed: [] });
  };
  await imported();
  await appendFile(log, read(4, "/w/b.ts") + read(5, "/w/a.ts"));
  await imported();
  const script = join(plugin, "ask.mjs");
  const entry = pathToFileURL(join(plugin, "index.ts")).href;
  await writeFile(
    script,
    `import { createKernel, loadConfig } from "sessarc/serve";
     import { defaultPlugins } from "sessarc/plugins";
     const env = { home: process.env.HOME, platform: process.platform, env: { HOME: process.env.HOME } };
     const plugins = [...defaultPlugins(), { specifier: ${JSON.stringify(entry)} }];
     const kernel = await createKernel({ env, plugins, config: await loadConfig({ env }) });
     console.log(await (await kernel.fetch("/api/reread")).text());
     await kernel.close();`,
  );
  const { stdout } = await exec(process.execPath, [script], {
    cwd: home,
    env: { PATH: process.env.PATH ?? "", HOME: home },
  });
  expect(JSON.parse(stdout)).toEqual({
    files: [
      { path: "/w/a.ts", reads: 3, sessions: 1 },
      { path: "/w/b.ts", reads: 2, sessions: 1 },
    ],
  });
});

it("takes fewer than fifty lines", async () => {
  const texts = await Promise.all(
    SOURCES.map((name) => readFile(join(ROOT, "playground/plugins/reread", name), "utf8")),
  );
  expect(texts.reduce((sum, text) => sum + text.trimEnd().split("\n").length, 0)).toBeLessThan(50);
});
