/** Imports, sweeps or reclaims, and kills itself, without a word, before the nth call that changes something on the disk. */
import { createKernel, loadConfig } from "sessarc/serve";
import archive from "../../plugins/archive/index.ts";
import codex from "../../plugins/codex/index.ts";
import rescue from "../../plugins/rescue/index.ts";
import security from "../../plugins/security/index.ts";
import { killBefore } from "../kill-at.ts";

const { home, killAt, work } = JSON.parse(process.argv[2] ?? "") as {
  home: string;
  killAt: number;
  work: "import" | "vacuum" | "reclaim" | "undo";
};

const disk = killBefore(killAt);

const env = { home, platform: process.platform, env: { HOME: home } };
const config = await loadConfig({ cwd: home, env, flags: { dataDir: `${home}/data` } });
// Not by their modules: then the pool does its work here, where its writes count.
const kernel = await createKernel({ plugins: [archive(), codex(), security(), rescue()], config, env, log: () => {} });
const post = (path: string, body: object) => kernel.fetch(path, { method: "POST", body: JSON.stringify(body) });
disk.armed = true;
if (work === "import") await post("/api/import", { all: true });
if (work === "vacuum") await kernel.hooks.callHook("archive:vacuum");
if (work === "reclaim") await post("/api/rescue/reclaim", { days: 30 });
if (work === "undo") await post("/api/rescue/reclaim/undo", {});
disk.armed = false;
await kernel.close();
process.stdout.write(String(disk.calls));
