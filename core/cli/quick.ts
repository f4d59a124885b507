/** Commands that start at once: a status line is drawn many times a minute, and waits for the whole process each time. */
import { join, resolve } from "node:path";
import { findConfig } from "../config/find.ts";
import type { QuickCommand } from "../contract/plugin.ts";
import { wantsColour } from "../terminal/style.ts";
import { defaultConfigDir, defaultDataDir } from "../utils/path.ts";
import { toTerminal } from "../utils/printable.ts";
import type { PluginSource } from "./context.ts";
import type { CliIo } from "./io.ts";

/** The exit code of the command's quick way; undefined where it has none, or where that leaves it to the usual way. */
export async function runQuick(
  io: CliIo,
  name: string,
  args: readonly string[],
  plugins: readonly PluginSource[],
): Promise<number | undefined> {
  const load = toQuick(plugins, name);
  if (!load) return undefined;
  const dataDir = await findDataDir(io, args);
  if (dataDir === undefined) return undefined;
  const { run } = await load();
  // A status line is coloured though it is piped: the assistant that reads it shows it on a terminal.
  const colour = wantsColour(io.env.env, true);
  const { stdout, stderr } = io.raw ?? io;
  return run({
    args,
    path: (...parts) => join(dataDir, ...parts),
    env: io.env,
    stdin: io.stdin,
    out: (text) => void stdout.write(toTerminal(`${text}\n`, colour)),
    err: (text) => void stderr.write(toTerminal(`${text}\n`, colour)),
    colour,
  });
}

function toQuick(plugins: readonly PluginSource[], name: string): (() => Promise<QuickCommand>) | undefined {
  for (const source of plugins) if ("specifier" in source && source.quick?.[name]) return source.quick[name];
  return undefined;
}

/** The data directory; undefined where only a configuration file says which it is. */
async function findDataDir({ env, cwd }: CliIo, args: readonly string[]): Promise<string | undefined> {
  const at = args.indexOf("--data-dir");
  const given = at >= 0 ? args[at + 1] : env.env.SESSARC_DATA_DIR;
  if (given) return resolve(cwd, given);
  return (await findConfig([cwd, defaultConfigDir(env)])) ? undefined : defaultDataDir(env);
}
