/** Removes secrets from the archive and the logs, or puts the logs back, and kills itself, without a word, before the nth call that changes something on the disk. */
import { createKernel, loadConfig } from "sessarc/serve";
import archive from "../../plugins/archive/index.ts";
import claudeCode from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import security from "../../plugins/security/index.ts";
import { killBefore } from "../kill-at.ts";

const { home, killAt, work } = JSON.parse(process.argv[2] ?? "") as {
  home: string;
  killAt: number;
  work: "scrub" | "undo";
};

const disk = killBefore(killAt);

const env = { home, platform: process.platform, env: { HOME: home } };
const config = await loadConfig({ cwd: home, env, flags: { dataDir: `${home}/data` } });
// Not by their modules: then the pool does its work here, where its writes count.
const plugins = [archive(), claudeCode(), codex(), security()];
const kernel = await createKernel({ plugins, config, env, log: () => {} });
const scrub = kernel.inject("scrub");
disk.armed = true;
if (work === "scrub") await scrub.run({ ids: undefined, originals: true, write: true });
else await scrub.undo();
disk.armed = false;
await kernel.close();
process.stdout.write(String(disk.calls));
