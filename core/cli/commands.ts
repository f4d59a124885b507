/** Which commands there are: the core's own and those of plugins. Code behind a command is loaded when it runs. */
import type { Command, CommandContext } from "../contract/plugin.ts";
import { nearest } from "../utils/text.ts";
import { UnknownCommandError } from "./args.ts";
import type { CoreContext, PluginSource } from "./context.ts";

/** Core commands get the context of `main` itself, which holds more than that of plugins. */
const core = (load: () => Promise<{ run(ctx: CoreContext): Promise<number> }>) => async () => {
  const { run } = await load();
  return { run: (ctx: CommandContext) => run(ctx as CoreContext) };
};

export const serveCommand: Command = {
  name: "serve",
  summary: "Starts the service and opens the dashboard",
  group: "look",
  usage: "[--port n] [--host h] [--no-open] [--no-import] [--auth] [--demo] [--dev]",
  options: {
    port: { type: "string", short: "p" },
    host: { type: "string" },
    open: { type: "boolean" },
    import: { type: "boolean" },
    auth: { type: "boolean" },
    demo: { type: "boolean" },
    "or-demo": { type: "boolean" },
    "sample-of": { type: "string" },
    dev: { type: "boolean" },
  },
  help: {
    port: "Port to listen on; 0 takes any free one (default 41730 or the next free one)",
    host: "Address to listen on (default 127.0.0.1; others switch --auth on)",
    open: "Open the browser, also when this is no terminal; --no-open never does",
    import: "Import all logs when the archive has no sessions (default); --no-import leaves that to you",
    auth: "Ask for a token: other users of this machine cannot read the archive",
    demo: "Show sample data from a throw-away folder instead of your logs",
    "or-demo": "Sample data when no logs are found on this machine and there is no archive",
    "sample-of": "With --demo: the address of the service that shows this sample; it ends when its standard input does",
    dev: "Development mode: port 4173",
  },
  operands: [],
  load: core(() => import("./serve.ts")),
};

const { port, host, auth } = serveCommand.options;
const serveFlags = { ...(port && { port }), ...(host && { host }), ...(auth && { auth }) };
const serveHelp = Object.fromEntries(Object.keys(serveFlags).map((name) => [name, serveCommand.help[name] ?? ""]));

const startCommand: Command = {
  name: "start",
  summary: "Starts the service in the background; --at-login: at each login",
  usage: "[--at-login [--dry-run]] [--port n] [--host h] [--auth]",
  options: { "at-login": { type: "boolean" }, "dry-run": { type: "boolean" }, ...serveFlags },
  help: {
    "at-login": "Have the system start it at login, too; `sessarc stop --at-login` takes that back",
    "dry-run": "With --at-login: show what would be written, and write nothing",
    ...serveHelp,
  },
  operands: [],
  load: core(async () => ({ run: (await import("./background.ts")).start })),
};

const stopCommand: Command = {
  name: "stop",
  summary: "Ends the service; --at-login: no longer starts it at login",
  usage: "[--at-login]",
  options: { "at-login": { type: "boolean" } },
  help: { "at-login": "Remove what `start --at-login` wrote, byte for byte" },
  operands: [],
  load: core(async () => ({ run: (await import("./background.ts")).stop })),
};

const restartCommand: Command = {
  name: "restart",
  summary: "Ends the service and starts it again in the background",
  usage: "[--port n] [--host h] [--auth]",
  options: serveFlags,
  help: serveHelp,
  operands: [],
  load: core(async () => ({ run: (await import("./background.ts")).restart })),
};

const statusCommand: Command = {
  name: "status",
  summary: "Whether the service runs: address, sessions, memory, restarts",
  usage: "",
  options: {},
  help: {},
  operands: [],
  load: core(async () => ({ run: (await import("./background.ts")).status })),
};

const logsCommand: Command = {
  name: "logs",
  summary: "What the service in the background wrote",
  usage: "[--follow] [--limit n]",
  options: { follow: { type: "boolean", short: "f" }, limit: { type: "string", short: "n" } },
  help: { follow: "Go on with what comes, until Ctrl-C", limit: "Lines from the end, 1 to 100000 (default 100)" },
  operands: [],
  load: core(async () => ({ run: (await import("./background.ts")).logs })),
};

const pluginsCommand: Command = {
  name: "plugins",
  summary: "Lists the plugins, what they add and how long they took to load",
  usage: "",
  options: {},
  help: {},
  operands: [],
  load: core(() => import("./plugins.ts")),
};

const doctorCommand: Command = {
  name: "doctor",
  summary: "Checks the runtime, the archive and the assistants' logs",
  group: "tools",
  example: "--fix",
  usage: "[--fix] [--all]",
  options: { fix: { type: "boolean" }, all: { type: "boolean" } },
  help: { fix: "Repair what can be repaired safely", all: "Also what is in order and what is not on this machine" },
  operands: [],
  load: core(() => import("./doctor.ts")),
};

const completionCommand: Command = {
  name: "completion",
  summary: "Prints a script that completes commands in bash, zsh or fish",
  usage: "[bash|zsh|fish]",
  options: {},
  help: {},
  operands: ["bash", "zsh", "fish"],
  load: core(() => import("./completion.ts")),
};

const manualCommand: Command = {
  name: "manual",
  summary: "Prints the manual page: sessarc manual | man -l -",
  usage: "",
  options: {},
  help: {},
  operands: [],
  load: core(() => import("./manual.ts")),
};

export const CORE_COMMANDS: readonly Command[] = [
  serveCommand,
  startCommand,
  stopCommand,
  restartCommand,
  statusCommand,
  logsCommand,
  pluginsCommand,
  doctorCommand,
  completionCommand,
  manualCommand,
];

/** A command of the core, or one that a source declares to have; loads nothing else. */
export async function findKnown(name: string, sources: readonly PluginSource[]): Promise<Command | undefined> {
  const core = CORE_COMMANDS.find((command) => command.name === name);
  if (core) return core;
  const declared = await readCommands(sources.filter((source) => findNames(source)?.includes(name)));
  return declared.find((command) => command.name === name);
}

/** Words for what a command does that its name does not resemble. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  why: "blame",
  list: "sessions",
  ls: "sessions",
  find: "search",
  cat: "show",
  continue: "resume",
  cost: "usage",
  costs: "usage",
  note: "mark",
  notes: "mark",
  tag: "mark",
  bookmark: "mark",
  share: "export",
  restore: "rescue",
  servers: "mcp",
  hooks: "guard",
  storage: "status",
  secrets: "scrub",
};

/** Finds a command, loading every plugin that does not declare its commands; throws UnknownCommandError naming the nearest known one. */
export async function findCommand(name: string, sources: readonly PluginSource[]): Promise<Command> {
  const known =
    (await findKnown(name, sources)) ?? (await allCommands(sources)).find((command) => command.name === name);
  if (known) return known;
  const names = (await allCommands(sources)).filter(({ hidden }) => hidden !== true).map((command) => command.name);
  const other = Object.hasOwn(OTHER_WORDS, name) ? OTHER_WORDS[name] : undefined;
  const near = other ?? nearest(name, [...names, "help"]);
  throw new UnknownCommandError(`Unknown command ${JSON.stringify(name)}${near ? `; did you mean ${near}?` : ""}`);
}

export async function allCommands(sources: readonly PluginSource[]): Promise<Command[]> {
  return [...CORE_COMMANDS, ...(await readCommands(sources.filter((source) => findNames(source)?.length !== 0)))];
}

/** Names that a source declares; undefined when it must be loaded to know them. */
function findNames(source: PluginSource): readonly string[] | undefined {
  if ("specifier" in source) return source.commands;
  return (source.commands ?? []).map((command) => command.name);
}

async function readCommands(sources: readonly PluginSource[]): Promise<Command[]> {
  if (sources.length === 0) return [];
  const { loadPlugins } = await import("../kernel/load.ts");
  // A broken plugin is reported where it would be used.
  const plugins = await loadPlugins(sources, () => {});
  return plugins.flatMap(({ plugin }) => plugin.commands ?? []).map(withNoSync);
}

function withNoSync(command: Command): Command {
  if (!command.current) return command;
  return {
    ...command,
    options: { ...command.options, "no-sync": { type: "boolean" } },
    help: { ...command.help, "no-sync": "Answer from the archive as it is, without importing what is new" },
  };
}
