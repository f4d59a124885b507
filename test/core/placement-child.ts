/** Installs, changes or removes the guard or the status line and kills itself before the nth call that changes something on the disk. */

import { defaultPlugins } from "sessarc/plugins";
import { createKernel, loadConfig } from "sessarc/serve";
import { killBefore } from "../kill-at.ts";

const { home, killAt, action, route, tool } = JSON.parse(process.argv[2] ?? "") as {
  home: string;
  killAt: number;
  action: "install" | "change" | "uninstall";
  route: string;
  tool: string;
};

const disk = killBefore(killAt);

const env = { home, platform: process.platform, env: { HOME: home } };
const config = await loadConfig({ cwd: home, env, flags: { dataDir: `${home}/data`, sync: false } });
const kernel = await createKernel({ plugins: defaultPlugins(), config, env });
const another = route.startsWith("/api/security") ? { onFailure: "block" } : { template: "{model}" };
const body = JSON.stringify({ tool, ...(action === "change" && another) });
disk.armed = true;
const response = await (action === "uninstall"
  ? kernel.fetch(`${route}?tool=${tool}`, { method: "DELETE" })
  : kernel.fetch(route, { method: "POST", body }));
if (!response.ok) throw new Error(await response.text());
disk.armed = false;
await kernel.close();
process.stdout.write(String(disk.calls));
