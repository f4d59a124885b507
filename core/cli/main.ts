/** `sessarc …`: from argv to an exit code. */
import { join } from "node:path";
import type { ConfigFlags, LoadedConfig } from "../config/config.ts";
import type { Command } from "../contract/plugin.ts";
import { isSessarcError, leftOut, type SessarcError } from "../errors/error.ts";
import { type Client, createClient } from "../serve/client.ts";
import { hasArchive } from "../storage/present.ts";
import { beforeSqlJs } from "../storage/sqljs.ts";
import { UsageError } from "../terminal/errors.ts";
import { printable, wantsColour, wrapColumns } from "../terminal/style.ts";
import { enableDebug } from "../utils/debug.ts";
import { isRecord, parseRecord } from "../utils/json.ts";
import { commonFlags, type Flags, listFlag, numberFlag, parseFlags, splitCommand, textFlag } from "./args.ts";
import { allCommands, CORE_COMMANDS, findCommand, findKnown, serveCommand } from "./commands.ts";
import type { CoreContext, PluginSource } from "./context.ts";
import type { Freshness } from "./current.ts";
import { EXIT, reportFailure } from "./failure.ts";
import { type CliIo, throughDoor } from "./io.ts";
import { runQuick } from "./quick.ts";

/** Runs one command and answers its exit code; never throws. */
export async function main(given: CliIo): Promise<number> {
  const io = throughDoor(given);
  // An error outside of what the command awaits, such as one that a plugin left behind: it is reported, and the command goes on.
  let left = false;
  const stop = io.onStray?.((error) => {
    left = true;
    reportFailure(error, io);
  });
  try {
    const code = await runCommand(io, () => stop?.());
    return code === EXIT.ok && left ? EXIT.failed : code;
  } catch (error) {
    return reportFailure(error, io, splitCommand(io.argv, serveCommand.options).name);
  } finally {
    stop?.();
  }
}

/** `taken`: the command takes errors outside of what it awaits itself. */
async function runCommand(io: CliIo, taken: () => void): Promise<number> {
  const { name, rest } = splitCommand(io.argv, serveCommand.options);
  if (rest.includes("--debug")) enableDebug();
  const asksVersion = name === undefined && rest.some((word) => word === "--version" || word === "-v");
  if (asksVersion || name === "version") {
    io.stdout.write(`${await packageVersion()}\n`);
    return EXIT.ok;
  }
  const wantsHelp = rest.includes("--help") || rest.includes("-h");
  if (name !== undefined && !wantsHelp) {
    const { defaultPlugins } = await import("sessarc/plugins");
    const code = await runQuick(io, name, rest, defaultPlugins());
    if (code !== undefined) return code;
  }
  if (name === "help" || (name === undefined && wantsHelp))
    return await help(io, name && rest.find((word) => !word.startsWith("-")), rest);
  const { command, plugins } = await chooseCommand(io, name, rest);
  if (wantsHelp) return await help(io, command, rest);
  const { flags, args } = parseFlags(command, rest);
  const anyway = ALWAYS.has(command.name);
  const { config, configError } = await configure(io, flags, anyway);
  if (!CORE_COMMANDS.includes(command) || command === serveCommand) await renewService(io, config.dataDir);
  const problems = { configError };
  const onConfigError = (error: SessarcError) => {
    problems.configError = error;
  };
  const all = [...plugins, ...config.plugins];
  beforeSqlJs(() => io.tune?.(config.dataDir, command.needs?.(flags) !== undefined));
  const wanted = needed(command, flags, plugins, config.plugins);
  const log = once((line) => void io.stderr.write(`${line}\n`));
  const openClient = (some: readonly PluginSource[]) =>
    createClient({
      config,
      env: io.env,
      plugins: some,
      partial: some.length < all.length,
      onConfigError: anyway ? onConfigError : undefined,
      scratchPlugins: all,
      // A dry run does not create an archive either.
      empty: flags["dry-run"] === true && !hasArchive(config.dataDir),
      log,
    });
  let client = openClient(wanted);
  try {
    let freshness: Freshness | undefined;
    if (command.current?.(flags) && hasArchive(config.dataDir)) {
      const { catchUp, readFreshness } = await import("./current.ts");
      const sync = flags.sync !== false && config.sync && !(await client.isService());
      if (sync || flags.json === true) freshness = await readFreshness(client);
      if (sync && freshness?.behind !== 0) {
        if (wanted.length < all.length) {
          // Only all plugins know all logs, and store all that a session has.
          await client.close();
          client = openClient(all);
        }
        freshness = await catchUp(client, freshness ?? { asOf: null, behind: null }, {
          autoImport: config.autoImport,
          io,
        });
      }
    }
    const { run } = await command.load();
    if (command === serveCommand) taken();
    const context = createContext(io, { flags, args, config, problems, client, plugins: all, freshness });
    return (await run(context)) ?? EXIT.ok;
  } finally {
    await client.close();
  }
}

/** A service in the background of an older package is started again by this one. */
async function renewService(io: CliIo, dataDir: string): Promise<void> {
  const { readLock } = await import("../storage/lock.ts");
  if (!(await readLock(dataDir))?.background) return;
  const { renew } = await import("../background/control.ts");
  const before = await renew(dataDir, io.env);
  if (before === undefined) return;
  const version = await packageVersion();
  io.stderr.write(`The service was of sessarc ${printable(before)}; it was started again with ${version}.\n`);
}

/** A command that reads the logs without the archive boots twice; its messages about plugins are printed once. */
function once(say: (line: string) => void): (line: string) => void {
  const said = new Set<string>();
  return (line) => {
    if (!said.has(line)) say(line);
    said.add(line);
  };
}

/** Built-in commands need no configuration to be found; only for unknown names its plugins are asked. */
async function chooseCommand(io: CliIo, name: string | undefined, rest: readonly string[]) {
  if (name === undefined) {
    // An unknown flag is reported before anything is loaded.
    parseFlags(serveCommand, rest);
  }
  const { defaultPlugins } = await import("sessarc/plugins");
  const plugins: PluginSource[] = defaultPlugins();
  if (name === undefined) return { command: serveCommand, plugins };
  const known = await findKnown(name, plugins);
  if (known) return { command: known, plugins };
  const { config } = await configure(io, commonFlags(rest), false);
  return { command: await findCommand(name, [...plugins, ...config.plugins]), plugins };
}

/** A user's plugin may depend on any other. */
function needed(
  command: Command,
  flags: Flags,
  builtin: readonly PluginSource[],
  others: readonly PluginSource[],
): readonly PluginSource[] {
  const names = others.length === 0 ? command.needs?.(flags) : undefined;
  if (!names) return [...builtin, ...others];
  const specifiers = names.map((name) => `sessarc/plugins/${name}`);
  return builtin.filter((it) => !("specifier" in it) || specifiers.includes(it.specifier));
}

/** Commands that say what is wrong: they work with a broken configuration. */
const ALWAYS: ReadonlySet<string> = new Set(["doctor", "plugins", "completion", "manual"]);

/** The configuration in effect. With `anyway` a broken file is left out and its error answered. */
async function configure(
  io: CliIo,
  flags: Flags,
  anyway: boolean,
): Promise<{ config: LoadedConfig; configError?: SessarcError | undefined }> {
  const { loadConfig } = await import("../config/file.ts");
  const { env, cwd } = io;
  try {
    return { config: await loadConfig({ flags: toConfigFlags(flags), env, cwd, file: textFlag(flags, "config") }) };
  } catch (error) {
    if (!anyway || !isSessarcError(error)) throw error;
    io.stderr.write(`${printable(leftOut(error))}\n`);
    const { resolveConfig } = await import("../config/config.ts");
    return { config: resolveConfig({}, { ...toConfigFlags(flags), plugins: undefined }, env, cwd), configError: error };
  }
}

function createContext(
  io: CliIo,
  parts: Pick<CoreContext, "flags" | "config" | "problems" | "plugins"> & {
    args: string[];
    client: Client;
    freshness: Freshness | undefined;
  },
): CoreContext {
  const { flags, args, config, problems, client, plugins, freshness } = parts;
  return {
    args,
    flags,
    json: flags.json === true,
    config,
    env: io.env,
    path: (...parts) => join(config.dataDir, ...parts),
    cwd: io.cwd,
    out: (text) => void io.stdout.write(`${text}\n`),
    err: (text) =>
      void io.stderr.write(`${io.stderr.isTTY && io.stderr.columns ? wrapLines(text, io.stderr.columns) : text}\n`),
    answer: (value) =>
      void io.stdout.write(`${JSON.stringify(isRecord(value) ? { ...value, ...freshness } : value)}\n`),
    outRaw: (text) => void (io.raw?.stdout ?? io.stdout).write(text),
    errRaw: (text) => void (io.raw?.stderr ?? io.stderr).write(text),
    colour: wantsColour(io.env.env, io.stdout.isTTY === true),
    tty: io.stderr.isTTY === true,
    columns: (io.stdout.isTTY && io.stdout.columns) || undefined,
    signal: io.signal,
    get: client.get,
    fetch: flags["dry-run"] === true ? onlyReading(client) : client.fetch,
    kernel: client.kernel,
    scratch: client.scratch,
    release: client.close,
    io,
    plugins,
    problems,
    commands: async () => (await allCommands(plugins)).filter(({ hidden }) => hidden !== true),
  };
}

/** Notices are sentences: broken at spaces. */
const wrapLines = (text: string, columns: number): string =>
  text
    .split("\n")
    .flatMap((line) => wrapColumns(line, columns))
    .join("\n");

/** Under `--dry-run` no request changes anything: it reads, or its body says `dryRun`. A form of a command that does not know the flag ends here. */
const onlyReading =
  (client: Client): Client["fetch"] =>
  (path, init = {}) => {
    const { method = "GET", body } = init;
    const isDry = typeof body === "string" && parseRecord(body)?.dryRun === true;
    if (method !== "GET" && !isDry)
      throw new UsageError("--dry-run is not for this form of the command: it would change something");
    return client.fetch(path, init);
  };

function toConfigFlags(flags: Flags): ConfigFlags {
  const on = (name: string) => (typeof flags[name] === "boolean" ? flags[name] : undefined);
  return {
    port: numberFlag(flags, "port", 0, 65535),
    host: textFlag(flags, "host"),
    dataDir: textFlag(flags, "data-dir"),
    plugins: listFlag(flags, "plugin"),
    open: on("open"),
    auth: on("auth"),
    dev: on("dev"),
  };
}

async function help(io: CliIo, topic: string | Command | undefined, rest: readonly string[]): Promise<number> {
  const { commandHelp, generalHelp } = await import("./help.ts");
  if (topic !== undefined && typeof topic !== "string") {
    io.stdout.write(`${commandHelp(topic)}\n`);
    return EXIT.ok;
  }
  const { defaultPlugins } = await import("sessarc/plugins");
  const { config } = await configure(io, commonFlags(rest), true);
  const plugins = [...defaultPlugins(), ...config.plugins];
  if (topic === undefined) {
    const text = generalHelp(await packageVersion(), await allCommands(plugins), rest.includes("--all"));
    io.stdout.write(`${text}\n`);
  } else io.stdout.write(`${commandHelp(await findCommand(topic, plugins))}\n`);
  return EXIT.ok;
}

async function packageVersion(): Promise<string> {
  const { VERSION } = await import("../utils/version.ts");
  return VERSION;
}
