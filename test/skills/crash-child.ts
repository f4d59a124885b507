/** Does actions on skills and kills itself, without a word, before the nth call that changes something on the disk. */
import fs from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { createKernel, loadConfig } from "sessarc";
import { defaultPlugins } from "sessarc/plugins";
import { type Action, act } from "./actions.ts";

const { home, killAt, actions } = JSON.parse(process.argv[2] ?? "") as {
  home: string;
  killAt: number;
  actions: Action[];
};

/** The first `open` of a file to write stands for its writes. */
const CHANGES = ["rename", "mkdir", "rm", "rmdir", "unlink", "symlink", "chmod", "open", "writeFile"] as const;
let calls = 0;
let armed = false;

function arm(owner: object, name: string): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== "function") return;
  Reflect.set(owner, name, (...args: unknown[]) => {
    if (armed && ++calls === killAt) process.kill(process.pid, "SIGKILL");
    return Reflect.apply(original, owner, args);
  });
}
for (const name of CHANGES) {
  arm(promises, name);
  arm(fs, `${name}Sync`);
}
syncBuiltinESMExports();

const env = { home, platform: process.platform, env: { HOME: home } };
const config = await loadConfig({ cwd: home, env, flags: { dataDir: `${home}/data` } });
const wanted = ["claude-code", "codex", "opencode", "gemini-cli", "archive", "skills"];
const plugins = defaultPlugins().filter(({ specifier }) => wanted.includes(specifier.split("/").at(-1) ?? ""));
const kernel = await createKernel({
  plugins: plugins.map(({ load, ...entry }) => ({ ...entry, ...(load && { load }) })),
  config,
  env,
});
for (const action of actions) {
  // What others do is not cut in half.
  armed = action.do !== "plant" && action.do !== "edit";
  await act(kernel, action);
}
armed = false;
await kernel.close();
process.stdout.write(String(calls));
