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
  return createJiti(from, { alias: ownEntries(), interopDefault: false, moduleCache: false });
}

/** Names of this package that plugins import, and their sources. */
const ENTRIES = [
  ["sessarc/adapter", "../adapter/index.ts"],
  ["sessarc/terminal", "../terminal/index.ts"],
  ["sessarc", "../index.ts"],
] as const;

/** This very package: in a source checkout its files, else what the package's own name means. */
function ownEntries(): Record<string, string> {
  const inSources = import.meta.url.endsWith(".ts");
  const fileOf = ([name, file]: readonly [string, string]) =>
    [name, fileURLToPath(inSources ? new URL(file, import.meta.url) : import.meta.resolve(name))] as const;
  return Object.fromEntries(ENTRIES.map(fileOf));
}
