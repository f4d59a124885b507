/** A node of a team server as a separate process, which a test may kill. */
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { defaultPlugins } from "sessarc/plugins";
import { loadConfig } from "sessarc/serve";
import { createNode } from "../../plugins/team/server/node.ts";
import { killBefore } from "../kill-at.ts";

const { database, folder, port, killAt } = JSON.parse(process.argv[2] ?? "{}") as {
  database: string;
  folder: string;
  port: number;
  /** It kills itself before so many changes of the disk, counted once it is ready. */
  killAt?: number;
};
const disk = killBefore(killAt ?? Number.POSITIVE_INFINITY);
mkdirSync(folder, { recursive: true });
const env = { home: folder, platform: process.platform, env: {} };
const config = await loadConfig({ cwd: folder, env, flags: { dataDir: join(folder, "data") } });
const node = await createNode({
  database,
  blobs: join(folder, "blobs"),
  folder: join(folder, "node"),
  plugins: defaultPlugins(),
  config,
  log: (line) => process.stderr.write(`${line}\n`),
});
const { toNodeHandler } = await import("h3");
const server = createServer(toNodeHandler(node.app));
server.listen(port, "127.0.0.1", async () => {
  node.listens("127.0.0.1", port);
  process.stdout.write(`ready ${(await node.ownerLink()) ?? "joined"}\n`);
  disk.armed = true;
});
