/** Does actions on skills and kills itself, without a word, before the nth call that changes something on the disk. */

import { defaultPlugins } from "sessarc/plugins";
import { createKernel, loadConfig } from "sessarc/serve";
import { killBefore } from "../kill-at.ts";
import { type Action, act } from "./actions.ts";

const { home, killAt, actions, from } = JSON.parse(process.argv[2] ?? "") as {
  home: string;
  killAt: number;
  actions: Action[];
  /** The first action in which calls count. */
  from: number;
};

const disk = killBefore(killAt);

const env = { home, platform: process.platform, env: { HOME: home } };
const config = await loadConfig({ cwd: home, env, flags: { dataDir: `${home}/data` } });
const wanted = ["claude-code", "codex", "opencode", "gemini-cli", "archive", "skills"];
const plugins = defaultPlugins().filter(({ specifier }) => wanted.includes(specifier.split("/").at(-1) ?? ""));
const kernel = await createKernel({
  plugins: plugins.map(({ load, ...entry }) => ({ ...entry, ...(load && { load }) })),
  config,
  env,
});
for (const [i, action] of actions.entries()) {
  // What others do is not cut in half.
  disk.armed = i >= from && action.do !== "plant" && action.do !== "edit";
  await act(kernel, action);
}
disk.armed = false;
await kernel.close();
process.stdout.write(String(disk.calls));
