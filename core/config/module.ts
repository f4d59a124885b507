/** Modules of the user's: configuration files and plugins, loaded the same way in this thread and in pool workers. */
import { readFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { codeOf } from "../utils/gone.ts";

/**
 * Imports what `specifier` names: a package, or a file as URL. TypeScript, and files that import `sessarc`, go through jiti: there
 * `sessarc` is this very package, installed beside the file or not, so that there is one kernel and never two.
 */
export async function importModule(specifier: string): Promise<Record<string, unknown>> {
  if (!specifier.startsWith("file:")) return import(/* @vite-ignore */ specifier);
  const path = fileURLToPath(specifier);
  if (/\.[cm]?ts$/.test(path) || /["']sessarc(\/[a-z]+)?["']/.test(await readFile(path, "utf8"))) return load(path);
  try {
    return await import(/* @vite-ignore */ specifier);
  } catch (error) {
    // A file further in asks for `sessarc`, which is not installed beside it.
    if (codeOf(error) !== "ERR_MODULE_NOT_FOUND" || !String(error).includes("'sessarc'")) throw error;
    return load(path);
  }
}

const load = async (path: string) => (await createLoader(path)).import<Record<string, unknown>>(path);

/** Where `name` stands seen from the file `from`, as a file URL; undefined when it is not installed there. */
export async function resolveModule(name: string, from: string): Promise<string | undefined> {
  return (await createLoader(from)).esmResolve(name, { try: true, parentURL: pathToFileURL(from) });
}

async function createLoader(from: string) {
  const { createJiti } = await import("jiti");
  return createJiti(from, { ...(await ourselves()), interopDefault: false, moduleCache: false });
}

/** Names of this package that plugins import, and their sources. */
const ENTRIES = [
  ["sessarc/adapter", "../entries/adapter.ts"],
  ["sessarc/files", "../entries/files.ts"],
  ["sessarc/serve", "../entries/serve.ts"],
  ["sessarc/storage", "../entries/storage.ts"],
  ["sessarc/terminal", "../entries/terminal.ts"],
  ["sessarc", "../index.ts"],
] as const;

/**
 * This very package under its names: what the own name means, and in a source checkout the modules that run already. Taken from the
 * files there it would be a second kernel beside the first, and a second of a processor each time.
 */
async function ourselves() {
  if (!import.meta.url.endsWith(".ts"))
    return { alias: Object.fromEntries(ENTRIES.map(([name]) => [name, fileURLToPath(import.meta.resolve(name))])) };
  const made = ENTRIES.map(async ([name, file]) => [name, await import(new URL(file, import.meta.url).href)] as const);
  return { virtualModules: Object.fromEntries(await Promise.all(made)) };
}
