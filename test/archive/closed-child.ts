/** Scans a home as a user who may not read all of it, and says what the scan and the doctor tell. */

import { createKernel, loadConfig } from "../../core/entries/serve.ts";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";

const [home = "", dataDir = ""] = process.argv.slice(2);
const env = { home, platform: process.platform, env: {} };
const config = await loadConfig({ cwd: dataDir, env, flags: { dataDir, port: 0 } });
const kernel = await createKernel({ config, env, plugins: [archive(), claude()], log: () => {} });
const ask = async (path: string) => (await kernel.fetch(`/api${path}`)).json();
console.log(JSON.stringify({ scan: await ask("/scan"), doctor: await ask("/doctor") }));
await kernel.close();
