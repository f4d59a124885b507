/** Configuration: what a user may set, and what the rest of the code reads. file.ts loads the file. */
import { resolve } from "node:path";
import * as v from "valibot";
import type { AdapterEnv } from "../contract/adapter.ts";
import type { CoreConfig } from "../contract/config.ts";
import type { Plugin, PluginEntry } from "../contract/plugin.ts";
import { SessarcError } from "../errors/error.ts";
import type { DriverConfig } from "../storage/driver.ts";
import { isRecord } from "../utils/json.ts";
import { defaultDataDir } from "../utils/path.ts";
import { nearest } from "../utils/text.ts";

/** Ports tried first. */
const PORTS = { standalone: 41730, dev: 4173 } as const;

/** A plugin by name, path or factory, and what its factory is handed. */
type PluginTuple = readonly [plugin: string | ((options?: never) => Plugin), options?: unknown];

/** `sessarc.config.{mjs,ts,js}`: its default export. Everything is optional. Plugins add the keys they declare by module augmentation. */
export interface UserConfig {
  /** Port to listen on; 0 takes any free one. Default 41730, or 4173 in dev mode, or the next free one. */
  port?: number | undefined;
  /** Address to listen on. Default 127.0.0.1; anything that is not loopback switches `auth` on. */
  host?: string | undefined;
  /** More names this service answers to, `name` or `name:port`, compared exactly. */
  hosts?: readonly string[] | undefined;
  /** Folder of the archive. */
  dataDir?: string | undefined;
  /** Plugins beside the built-in ones: values, package names, or paths relative to the configuration file; `[plugin, options]` for one with options. */
  plugins?: readonly (Plugin | PluginEntry | string | PluginTuple)[] | undefined;
  /** Folders of a tool's logs, instead of those its adapter finds: what its option `dir` may be. Relative ones start at the file's folder. */
  roots?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** Import new sessions without being asked. Default false. */
  autoImport?: boolean | undefined;
  /** Bring already imported sessions up to date when the service starts and while it runs. Default true. */
  sync?: boolean | undefined;
  /** Prices of models, dollars per million tokens, over the built-in table. */
  prices?: Readonly<Record<string, unknown>> | undefined;
  /** A driver of unstorage, by name, that holds transcripts and files instead of the data directory. */
  storage?: { driver?: DriverConfig | undefined } | undefined;
  /** Ask for a token. Default false on loopback. */
  auth?: boolean | undefined;
  /** Open the browser when started on a terminal. Default true. */
  open?: boolean | undefined;
}

/** What flags may say beside the keys of the file. */
export interface ConfigFlags extends UserConfig {
  dev?: boolean | undefined;
}

/** What file and flags say, with the plugins they name. */
export interface LoadedConfig extends CoreConfig {
  /** Those of the file and of --plugin, beside the built-in ones. */
  plugins: readonly (Plugin | PluginEntry)[];
}

/** Types a configuration file. */
export function defineConfig(config: UserConfig): UserConfig {
  return config;
}

const record = v.record(v.string(), v.unknown());
const port = v.pipe(
  v.number(),
  v.integer("is not a whole number"),
  v.minValue(0, "is below 0"),
  v.maxValue(65535, "is above 65535"),
);
const core = v.object({
  port: v.optional(port),
  host: v.optional(v.pipe(v.string(), v.nonEmpty("is empty"))),
  hosts: v.optional(v.array(v.string())),
  dataDir: v.optional(v.pipe(v.string(), v.nonEmpty("is empty"))),
  plugins: v.optional(v.array(v.union([v.string(), v.function(), v.array(v.unknown()), v.looseObject({})]))),
  roots: v.optional(v.record(v.string(), v.union([v.string(), v.array(v.string())]))),
  autoImport: v.optional(v.boolean()),
  sync: v.optional(v.boolean()),
  prices: v.optional(record),
  storage: v.optional(
    v.strictObject({ driver: v.optional(v.strictObject({ name: v.string(), options: v.optional(record) })) }),
  ),
  auth: v.optional(v.boolean()),
  open: v.optional(v.boolean()),
});

/** Checks core's keys, and leaves others to the plugins that declare them. Throws CONFIG_INVALID; `where` is the file's name in the message. */
export function checkConfig(value: unknown, where: string): UserConfig {
  // For valibot a list is an object too.
  const result = v.safeParse(core, Array.isArray(value) ? "a list" : value);
  if (!result.success) throw invalidConfig(result.issues[0], "default export", [], where);
  return value as UserConfig;
}

interface Issue {
  message: string;
  path?: readonly unknown[] | undefined;
  /** `never` for a key that a strict object does not have. */
  expected?: unknown;
}

/** CONFIG_UNKNOWN_KEY (with the nearest of `known`) or CONFIG_INVALID for what a schema says of the key `at`. */
export function invalidConfig(
  issue: Issue | undefined,
  at: string,
  known: readonly string[],
  where: string,
): SessarcError {
  const steps = (issue?.path ?? []).map((step) => String(isRecord(step) ? step.key : step));
  const key = steps.join(".") || at;
  const isUnknown = issue?.expected === "never" && steps.length > 0;
  return isUnknown
    ? unknownKey(key, known, where)
    : new SessarcError("CONFIG_INVALID", { key, where, reason: issue?.message ?? "is not valid" });
}

export function unknownKey(key: string, known: readonly string[], where: string): SessarcError {
  return new SessarcError("CONFIG_UNKNOWN_KEY", { key, where, nearest: nearest(key, known) });
}

/** Core's keys of a configuration file, in the order they are documented. */
export const CORE_KEYS: readonly string[] = Object.keys(core.entries);

/** What the environment says: SESSARC_PORT, SESSARC_HOST, SESSARC_DATA_DIR, SESSARC_AUTH, SESSARC_NO_OPEN. */
function readEnvironment(env: AdapterEnv["env"]): UserConfig {
  const config: UserConfig = {};
  if (env.SESSARC_PORT) config.port = toPort(env.SESSARC_PORT);
  if (env.SESSARC_HOST) config.host = env.SESSARC_HOST;
  if (env.SESSARC_DATA_DIR) config.dataDir = env.SESSARC_DATA_DIR;
  if (isSet(env.SESSARC_AUTH)) config.auth = true;
  if (isSet(env.SESSARC_NO_OPEN)) config.open = false;
  return config;
}

function toPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text);
  throw new SessarcError("CONFIG_INVALID", {
    key: "SESSARC_PORT",
    where: "the environment",
    reason: "it is a number from 0 to 65535",
  });
}

const isSet = (value: string | undefined) => value !== undefined && !["", "0", "false"].includes(value);

/** Flags over environment over file over defaults. `cwd` is what a relative data directory is relative to. */
export function resolveConfig(
  file: UserConfig,
  flags: ConfigFlags,
  env: AdapterEnv,
  cwd: string = process.cwd(),
  where = "the configuration",
): LoadedConfig {
  const set: UserConfig = { ...file, ...readEnvironment(env.env), ...defined(flags) };
  const mode = flags.dev ? "dev" : "standalone";
  const host = set.host ?? "127.0.0.1";
  return {
    mode,
    host,
    port: set.port ?? PORTS[mode],
    portFixed: set.port !== undefined && set.port !== 0,
    hosts: set.hosts ?? [],
    dataDir: resolve(cwd, set.dataDir ?? defaultDataDir(env)),
    plugins: [...(file.plugins ?? []), ...(flags.plugins ?? [])].map(toEntry),
    roots: Object.fromEntries(Object.entries(set.roots ?? {}).map(([tool, it]) => [tool, [it].flat() as string[]])),
    sources: {},
    autoImport: set.autoImport ?? false,
    sync: set.sync ?? true,
    prices: set.prices ?? {},
    storage: { driver: set.storage?.driver },
    auth: !isLoopback(host) || (set.auth ?? false),
    open: set.open ?? true,
    given: { where, keys: others(set), flags: namesIn(defined(flags)), kept: {} },
  };
}

/** `key`, and `key.member` for what is an object. */
const namesIn = (flags: object): string[] =>
  Object.entries(flags).flatMap(([key, value]) => [
    key,
    ...(isRecord(value) ? Object.keys(defined(value)).map((member) => `${key}.${member}`) : []),
  ]);

const others = (set: object) =>
  Object.fromEntries(Object.entries(set).filter(([key]) => !CORE_KEYS.includes(key) && key !== "dev"));

/** For configurations that were not loaded from a file: names are taken as they are. */
function toEntry(it: NonNullable<UserConfig["plugins"]>[number]): Plugin | PluginEntry {
  if (typeof it === "string") return { specifier: it };
  if (!("length" in it)) return it;
  const [named, options] = it;
  return typeof named === "string" ? { specifier: named, options } : named(options as never);
}

/** Whether a host is a loopback address, which other machines cannot reach. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

function defined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, it]) => it !== undefined)) as Partial<T>;
}
