/** Configuration: what a user may set, what everybody else reads. Loading the file stands in file.ts. */
import { resolve } from "node:path";
import * as v from "valibot";
import type { AdapterEnv } from "../contract/adapter.ts";
import type { ResolvedConfig } from "../contract/config.ts";
import type { Plugin, PluginEntry } from "../contract/plugin.ts";
import { SessarcError } from "../errors/error.ts";
import type { DriverConfig } from "../storage/driver.ts";
import { defaultDataDir } from "../utils/path.ts";
import { nearest } from "../utils/text.ts";
import { fixedBy, relayUrl, valuesOf } from "./settable.ts";

/** Ports tried first. */
export const PORTS = { standalone: 41730, dev: 4173 } as const;

/** A plugin by name, path or factory, and what its factory is handed. */
export type PluginTuple = readonly [plugin: string | ((options?: never) => Plugin), options?: unknown];

/** `sessarc.config.{mjs,ts,js}`: its default export. Everything is optional. */
export interface UserConfig {
  /** Port to listen on; 0 takes any free one. Default 41730, or 4173 in dev mode, or the next free one. */
  port?: number | undefined;
  /** Address to listen on. Default 127.0.0.1; anything that is not loopback switches `auth` on. */
  host?: string | undefined;
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
  feedback?: { relay?: string | null | undefined } | undefined;
  /** A driver of unstorage, by name, that holds transcripts and files instead of the data directory. */
  storage?: { driver?: DriverConfig | undefined } | undefined;
  security?:
    | {
        /** Rules added to the built-in ones. */
        rules?: readonly unknown[] | undefined;
        /** More names this service answers to, `name` or `name:port`, compared exactly. */
        hosts?: readonly string[] | undefined;
        /** What the tool-call guard blocks: findings that are `definite` (default), or `probable` ones as well. */
        block?: "definite" | "probable" | undefined;
      }
    | undefined;
  /** Settings of the tool-protocol hub. */
  mcp?: Readonly<Record<string, unknown>> | undefined;
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
export interface LoadedConfig extends ResolvedConfig {
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
const schema = v.strictObject({
  port: v.optional(port),
  host: v.optional(v.pipe(v.string(), v.nonEmpty("is empty"))),
  dataDir: v.optional(v.pipe(v.string(), v.nonEmpty("is empty"))),
  plugins: v.optional(v.array(v.union([v.string(), v.function(), v.array(v.unknown()), v.looseObject({})]))),
  roots: v.optional(v.record(v.string(), v.union([v.string(), v.array(v.string())]))),
  autoImport: v.optional(v.boolean()),
  sync: v.optional(v.boolean()),
  prices: v.optional(record),
  feedback: v.optional(v.strictObject({ relay: v.optional(v.nullable(relayUrl)) })),
  storage: v.optional(
    v.strictObject({ driver: v.optional(v.strictObject({ name: v.string(), options: v.optional(record) })) }),
  ),
  security: v.optional(
    v.strictObject({
      rules: v.optional(v.array(v.unknown())),
      hosts: v.optional(v.array(v.string())),
      block: v.optional(v.picklist(["definite", "probable"])),
    }),
  ),
  mcp: v.optional(record),
  auth: v.optional(v.boolean()),
  open: v.optional(v.boolean()),
});

/** Throws CONFIG_UNKNOWN_KEY (with the nearest known key) or CONFIG_INVALID; `where` is the file's name in the message. */
export function checkConfig(value: unknown, where: string): UserConfig {
  // For valibot a list is an object too.
  const result = v.safeParse(schema, Array.isArray(value) ? "a list" : value);
  if (result.success) return value as UserConfig;
  const issue = result.issues[0];
  const path = (issue.path ?? []).map((step) => String(step.key));
  const key = path.join(".") || "default export";
  if (issue.expected === "never" && path.length > 0) {
    const found = nearest(path.at(-1) ?? "", keysAt(path.slice(0, -1)));
    throw new SessarcError("CONFIG_UNKNOWN_KEY", {
      key,
      where,
      nearest: found && [...path.slice(0, -1), found].join("."),
    });
  }
  throw new SessarcError("CONFIG_INVALID", { key, where, reason: issue.message });
}

/** Keys a configuration file may have, in the order they are documented. */
export const configKeys = (): string[] => Object.keys(schema.entries);

function keysAt(path: readonly string[]): string[] {
  let at: unknown = schema;
  for (const key of path) {
    const entry = (at as { entries?: Record<string, { wrapped?: unknown }> }).entries?.[key];
    at = entry?.wrapped ?? entry;
  }
  return Object.keys((at as { entries?: object }).entries ?? {});
}

/** What the environment says: SESSARC_PORT, SESSARC_HOST, SESSARC_DATA_DIR, SESSARC_AUTH, SESSARC_NO_OPEN. */
export function readEnvironment(env: AdapterEnv["env"]): UserConfig {
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
  throw new SessarcError("CONFIG_INVALID", { key: "SESSARC_PORT", where: "the environment", reason: "is not a port" });
}

const isSet = (value: string | undefined) => value !== undefined && !["", "0", "false"].includes(value);

/** Flags over environment over file over defaults. `cwd` is what a relative data directory is relative to. */
export function resolveConfig(
  file: UserConfig,
  flags: ConfigFlags,
  env: AdapterEnv,
  cwd: string = process.cwd(),
): LoadedConfig {
  const set: UserConfig = { ...file, ...readEnvironment(env.env), ...defined(flags) };
  const mode = flags.dev ? "dev" : "standalone";
  const host = set.host ?? "127.0.0.1";
  const config = {
    mode,
    host,
    port: set.port ?? PORTS[mode],
    portFixed: set.port !== undefined && set.port !== 0,
    dataDir: resolve(cwd, set.dataDir ?? defaultDataDir(env)),
    plugins: [...(file.plugins ?? []), ...(flags.plugins ?? [])].map(toEntry),
    roots: Object.fromEntries(Object.entries(set.roots ?? {}).map(([tool, it]) => [tool, [it].flat() as string[]])),
    sources: {},
    autoImport: set.autoImport ?? false,
    sync: set.sync ?? true,
    prices: set.prices ?? {},
    feedback: { relay: set.feedback?.relay ?? null },
    storage: { driver: set.storage?.driver },
    security: {
      rules: set.security?.rules ?? [],
      hosts: set.security?.hosts ?? [],
      block: set.security?.block ?? "definite",
    },
    mcp: set.mcp ?? {},
    auth: !isLoopback(host) || (set.auth ?? false),
    open: set.open ?? true,
  } satisfies Omit<LoadedConfig, "settable">;
  return { ...config, settable: { fixed: fixedBy(flags), configured: valuesOf(config) } };
}

/** For configurations that were not loaded from a file: names are taken as they are. */
function toEntry(it: NonNullable<UserConfig["plugins"]>[number]): Plugin | PluginEntry {
  if (typeof it === "string") return { specifier: it };
  if (!("length" in it)) return it;
  const [named, options] = it;
  return typeof named === "string" ? { specifier: named, options } : named(options as never);
}

/** Addresses nobody outside this machine can reach. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

function defined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, it]) => it !== undefined)) as Partial<T>;
}
