/** Finding and loading `sessarc.config.{mjs,js,ts}`, and plugins that are named by package or path. */
import { readFile, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { AdapterEnv } from "../contract/adapter.ts";
import type { Plugin, PluginEntry } from "../contract/plugin.ts";
import { SessarcError } from "../errors/error.ts";
import { messageOf } from "../utils/async.ts";
import { defaultConfigDir } from "../utils/path.ts";
import { type ConfigFlags, checkConfig, type LoadedConfig, resolveConfig, type UserConfig } from "./config.ts";
import { machineEnv } from "./env.ts";
import { readSettings } from "./settings.ts";

export interface LoadConfigOptions {
  /** Where the configuration file is looked for first; relative paths of flags start here. Default: the working directory. */
  cwd?: string | undefined;
  env?: AdapterEnv | undefined;
  flags?: ConfigFlags | undefined;
  /** This file and no other (`--config`). */
  file?: string | undefined;
}

const NAMES = ["sessarc.config.mjs", "sessarc.config.js", "sessarc.config.ts"];

/** The configuration in effect. A file that cannot be loaded or has unknown keys is an error; none at all is fine. */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  const { cwd = process.cwd(), env = machineEnv(), flags = {} } = options;
  const path = options.file ? resolve(cwd, options.file) : await findConfig([cwd, defaultConfigDir(env)]);
  const file = path ? await readConfig(path) : {};
  const config = resolveConfig(
    { ...file, ...(await locate(file.plugins, path ? dirname(path) : cwd)) },
    { ...flags, ...(await locate(flags.plugins, cwd)) },
    env,
    cwd,
  );
  return { ...config, sources: (await readSettings(config.dataDir)).sources };
}

/** The first configuration file of these folders. */
export async function findConfig(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    for (const name of NAMES) {
      const path = join(folder, name);
      if ((await stat(path).catch(() => undefined))?.isFile()) return path;
    }
  }
  return undefined;
}

async function readConfig(path: string): Promise<UserConfig> {
  let value: unknown;
  try {
    value = await importFile(path);
  } catch (cause) {
    throw new SessarcError("CONFIG_UNREADABLE", { file: path, reason: messageOf(cause) }, { cause });
  }
  const config = checkConfig(value, path);
  // A folder of the file is meant from where the file is, not from where the command was run.
  const absolute = (folder: string) => resolve(dirname(path), folder);
  const roots = Object.entries(config.roots ?? {}).map(([tool, it]) => [tool, [it].flat().map(absolute)] as const);
  return {
    ...config,
    ...(config.dataDir && { dataDir: absolute(config.dataDir) }),
    ...(config.roots && { roots: Object.fromEntries(roots) }),
  };
}

/** Default export of a module of the user's. TypeScript, and files that import `sessarc` without having it installed, go through jiti. */
async function importFile(path: string): Promise<unknown> {
  const needsJiti = path.endsWith(".ts") || /from\s+["']sessarc/.test(await readFile(path, "utf8"));
  const module = needsJiti
    ? await (await createLoader(path)).import(path)
    : await import(/* @vite-ignore */ pathToFileURL(path).href);
  return (module as { default?: unknown }).default;
}

async function createLoader(from: string) {
  const { createJiti } = await import("jiti");
  return createJiti(from, { alias: { sessarc: ownEntry() }, interopDefault: false, moduleCache: false });
}

/** This very package: in a source checkout its file, else what the package's own name means. */
function ownEntry(): string {
  const url = import.meta.url.endsWith(".ts")
    ? new URL("../index.ts", import.meta.url).href
    : import.meta.resolve("sessarc");
  return fileURLToPath(url);
}

async function locate(plugins: UserConfig["plugins"], base: string) {
  return plugins ? { plugins: await Promise.all(plugins.map((it) => toEntry(it, base))) } : {};
}

/** A name becomes the file it means seen from `base`, so that it can be imported from anywhere (pool workers too). */
async function toEntry(it: Plugin | PluginEntry | string, base: string): Promise<Plugin | PluginEntry> {
  if (typeof it !== "string") return it;
  const isPath = it.startsWith(".") || isAbsolute(it);
  if (isPath) return fileEntry(resolve(base, it));
  if (/^[a-z]+:/.test(it)) return { specifier: it };
  const loader = await createLoader(join(base, "_.js"));
  const found = loader.esmResolve(it, { try: true, parentURL: pathToFileURL(join(base, "_.js")) });
  return { specifier: found ?? it };
}

function fileEntry(path: string): PluginEntry {
  const specifier = pathToFileURL(path).href;
  return { specifier, load: async () => ({ default: (await importFile(path)) as (options?: never) => Plugin }) };
}
