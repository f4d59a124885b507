/** Shares a session twice, takes the first back, and kills itself, without a word, before the nth call that changes something on the disk. */
import { writeSync } from "node:fs";
import { defaultPlugins } from "sessarc/plugins";
import { createKernel, loadConfig } from "sessarc/serve";
import { killBefore } from "../kill-at.ts";

const { home, killAt, driver, session } = JSON.parse(process.argv[2] ?? "") as {
  home: string;
  killAt: number;
  driver: { name: string; options: Record<string, unknown> } | null;
  session: string;
};

const disk = killBefore(killAt);

const env = { home, platform: process.platform, env: { HOME: home } };
const flags = { dataDir: `${home}/data`, ...(driver && { storage: { driver } }) };
const config = await loadConfig({ cwd: home, env, flags });
const wanted = ["claude-code", "archive", "security", "share"];
const plugins = defaultPlugins().filter(({ specifier }) => wanted.includes(specifier.split("/").at(-1) ?? ""));
const kernel = await createKernel({
  plugins: plugins.map(({ load, ...entry }) => ({ ...entry, ...(load && { load }) })),
  config,
  env,
});
/** What was acknowledged is said at once. */
const say = (what: object) => writeSync(1, `${JSON.stringify(what)}\n`);
const shares = kernel.inject("shares");
disk.armed = true;
const { id, token } = await shares.create(session, 7);
say({ id, token });
const other = await shares.create(session, 7);
say({ id: other.id, token: other.token });
await shares.revoke(id);
say({ revoked: id });
disk.armed = false;
await kernel.close();
say({ calls: disk.calls });
