/** A machine that imports and pushes as a separate process, which a test may kill. */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { createKernel, loadConfig } from "sessarc/serve";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import security from "../../plugins/security/index.ts";
import team from "../../plugins/team/index.ts";
import { killBefore } from "../kill-at.ts";

const { home, data, user, killAt } = JSON.parse(process.argv[2] ?? "{}") as {
  home: string;
  data: string;
  user: string;
  /** It kills itself before so many changes of the disk. */
  killAt?: number;
};
const disk = killBefore(killAt ?? Number.POSITIVE_INFINITY);
const env = { home, platform: process.platform, env: { HOME: home, USER: user } };
const config = await loadConfig({ cwd: home, env, flags: { dataDir: join(home, data) } });
const plugins = [archive(), claude(), security(), team({ retryMs: 20 })];
const kernel = await createKernel({ plugins, config, env, log: () => {} });
const post = async (path: string, body: object) => {
  const answer = await kernel.fetch(`/api${path}`, { method: "POST", body: JSON.stringify(body) });
  return { status: answer.status, body: await answer.json() };
};
await post("/import", { all: true });
writeSync(1, "imported\n");
disk.armed = true;
const answer = await post("/team/push", {});
disk.armed = false;
writeSync(1, `${JSON.stringify({ ...answer, calls: disk.calls })}\n`);
await kernel.close();
