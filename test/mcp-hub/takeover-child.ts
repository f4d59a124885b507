/**
 * Takes all of a home's configurations over, connects an assistant that has none, or puts all of it back; kills itself before the nth call
 * that changes something on the disk.
 */

import { defaultPlugins } from "sessarc/plugins";
import { createKernel, loadConfig } from "sessarc/serve";
import type { WireBackup, WireMatrix, WireScan } from "../../plugins/mcp-hub/index.ts";
import { killBefore } from "../kill-at.ts";

const { home, killAt, action } = JSON.parse(process.argv[2] ?? "") as {
  home: string;
  killAt: number;
  action: "takeover" | "connect" | "restore";
};

const disk = killBefore(killAt);

const env = { home, platform: process.platform, env: { HOME: home } };
const config = await loadConfig({ cwd: home, env, flags: { dataDir: `${home}/data` } });
const wanted = ["claude-code", "codex", "cursor", "opencode", "archive", "security", "mcp-hub"];
const plugins = defaultPlugins().filter(({ specifier }) => wanted.includes(specifier.split("/").at(-1) ?? ""));
const kernel = await createKernel({
  plugins: plugins.map(({ load, ...entry }) => ({ ...entry, ...(load && { load }) })),
  config,
  env,
});
const get = async (path: string): Promise<unknown> => (await kernel.fetch(path)).json();
async function post(path: string, body: object): Promise<void> {
  const response = await kernel.fetch(path, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
}

if (action === "takeover") {
  const { entries } = (await get("/api/mcp/scan")) as WireScan;
  disk.armed = true;
  await post("/api/mcp/takeover", {
    entries: entries.map(({ key }) => ({ key })),
    fileHashes: Object.fromEntries(entries.map(({ file, fileHash }) => [file, fileHash])),
    mode: "replace",
  });
} else if (action === "connect") {
  const { files } = (await get("/api/mcp/matrix")) as WireMatrix;
  disk.armed = true;
  await post("/api/mcp/takeover", { fileHashes: files, mode: "replace", connect: ["opencode"] });
} else {
  const { backups } = (await get("/api/mcp/backups")) as { backups: WireBackup[] };
  disk.armed = true;
  await post("/api/mcp/restore", { ids: backups.map(({ id }) => id) });
}
disk.armed = false;
await kernel.close();
process.stdout.write(String(disk.calls));
