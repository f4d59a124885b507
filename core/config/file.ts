/** Finding and loading `sessarc.config.{mjs,js,ts}`, and plugins that are named by package or path. */
import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { AdapterEnv } from "../contract/adapter.ts";
import type { Plugin, PluginEntry } from "../contract/plugin.ts";
import { SessarcError } from "../errors/error.ts";
import { systemReason } from "../errors/system.ts";
import { toMessage, withLimit } from "../utils/async.ts";
import { parseRecord, toText } from "../utils/json.ts";
import { defaultConfigDir } from "../utils/path.ts";
import { type ConfigFlags, checkConfig, type LoadedConfig, resolveConfig, type UserConfig } from "./config.ts";
import { machineEnv } from "./env.ts";
import { findConfig } from "./find.ts";
import { importModule, resolveModule } from "./module.ts";
import { readSettings } from "./settings.ts";

interface LoadConfigOptions {
  /** Where the configuration file is looked for first; relative paths of flags start here. Default: the working directory. */
  cwd?: string | undefined;
  env?: AdapterEnv | undefined;
  flags?: ConfigFlags | undefined;
  /** This file and no other (`--config`). */
  file?: string | undefined;
}

/** A file that never loads must not keep a command waiting. */
const LOAD_MS = 10_000;

/** The configuration in effect. A file that cannot be loaded or has unknown keys is an error; none at all is fine. */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<LoadedConfig> {
  const { cwd = process.cwd(), env = machineEnv(), flags = {} } = options;
  const path = options.file ? resolve(cwd, options.file) : await findConfig([cwd, defaultConfigDir(env)]);
  const file = path ? await readConfig(path) : {};
  const config = resolveConfig(
    { ...file, ...(await locate(file.plugins, path ? dirname(path) : cwd, path ?? "the configuration")) },
    { ...flags, ...(await locate(flags.plugins, cwd, "the command line")) },
    env,
    cwd,
    path,
  );
  const { sources, values } = await readSettings(config.dataDir);
  return { ...config, sources, given: { ...config.given, kept: values } };
}

async function readConfig(path: string): Promise<UserConfig> {
  let value: unknown;
  try {
    const late = () =>
      new Error(`it did not load within ${LOAD_MS / 1000} s: something in it is awaited that never comes`);
    await withLimit(LOAD_MS, late, async () => {
      value = (await importModule(pathToFileURL(path).href)).default;
    });
  } catch (cause) {
    throw new SessarcError(
      "CONFIG_UNREADABLE",
      { file: path, reason: systemReason(cause) ?? toMessage(cause) },
      { cause },
    );
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

type Named = NonNullable<UserConfig["plugins"]>[number];

/** `where` names what lists them, `base` is the folder that names are seen from. */
async function locate(plugins: UserConfig["plugins"], base: string, where: string) {
  if (!plugins) return {};
  return { plugins: await Promise.all(plugins.map((it, i) => toSource(it, base, `plugins[${i}] of ${where}`))) };
}

/** A broken one is reported when it is loaded, so that the others still work. */
async function toSource(it: Named, base: string, label: string): Promise<Plugin | PluginEntry> {
  const [named, options] = isTuple(it) ? it : [it, undefined];
  if (typeof named === "string") return { specifier: await locateOne(named, base), options };
  if (typeof named === "function") {
    if (!isTuple(it)) return broken(label, new TypeError("it is a factory: call it, or write [factory, options]"));
    try {
      return named(options as never);
    } catch (error) {
      return broken(label, error);
    }
  }
  if (isTuple(it)) return broken(label, new TypeError("options go with a name or a factory, and this is neither"));
  if ("specifier" in named) {
    warnDeprecated("SESSARC_DEP001", "`{ specifier, options }` in `plugins`: write `[specifier, options]`.");
    return { ...named, specifier: await locateOne(named.specifier, base) };
  }
  return named;
}

const isTuple = (it: Named): it is Extract<Named, readonly unknown[]> => Array.isArray(it);

const broken = (specifier: string, error: unknown): PluginEntry => ({ specifier, load: () => Promise.reject(error) });

/** A name becomes the file it means seen from `base`, so that it can be imported from anywhere (pool workers too). */
async function locateOne(name: string, base: string): Promise<string> {
  if (name.startsWith(".") || isAbsolute(name)) return readEntry(resolve(base, name));
  if (/^[a-z]+:/.test(name)) return name;
  return (await resolveModule(name, join(base, "_.js"))) ?? name;
}

/** A file is meant itself, the folder of a package by its entry. */
async function readEntry(path: string): Promise<string> {
  const manifest = parseRecord(await readFile(join(path, "package.json"), "utf8").catch(() => ""));
  if (!manifest) return pathToFileURL(path).href;
  // A package finds itself by its name where it has `exports`.
  const own = toText(manifest.name);
  const found = own && "exports" in manifest && (await resolveModule(own, join(path, "_.js")));
  return found || pathToFileURL(join(path, toText(manifest.main) ?? "index.js")).href;
}

/** What will go: said once in a process, the way Node says such things. */
const said = new Set<string>();

/** `code` is the entry in core/README.md; `--no-deprecation` keeps it quiet and `--trace-deprecation` shows who asked. */
function warnDeprecated(code: string, text: string): void {
  if (said.has(code)) return;
  said.add(code);
  process.emitWarning(text, { type: "DeprecationWarning", code });
}
