/** Where an assistant that has no server gets its first one: the user's file that it alone reads, whether the file exists or not. */
import { dirname } from "node:path";
import { isSessarcError, type Kernel } from "sessarc";
import { isReachable, outsideText, readOutside, toDigest } from "sessarc/files";
import type { McpContract } from "./contract.ts";
import { type ConfigFile, contracts, isOwnFile } from "./places.ts";
import type { Texts } from "./texts.ts";

/**
 * Of assistants of this machine whose own file names no server. `files` are those that the scan read, `named` those that name one. A file that
 * cannot be read is left out.
 */
export async function vacantFiles(
  kernel: Kernel,
  files: readonly ConfigFile[],
  named: readonly ConfigFile[],
  texts: Texts,
): Promise<ConfigFile[]> {
  const all = contracts(kernel);
  const userPaths = ({ contract }: (typeof all)[number]) =>
    contract.files(kernel.env).flatMap(({ path, scope }) => (scope === "user" ? [path] : []));
  const readers = (path: string) => all.filter((one) => userPaths(one).includes(path)).length;
  const found: ConfigFile[] = [];
  for (const one of all) {
    if (named.some(({ place }) => isOwnFile(place, one.name))) continue;
    const paths = userPaths(one).filter((path) => readers(path) === 1);
    if (!(await isHere(kernel, one.name, paths))) continue;
    const source = await firstFile(one, paths, files, texts);
    if (source) found.push(source);
  }
  return found;
}

/** Whether the assistant is installed: the folder of its logs or of its configuration file exists. The home folder itself does not count. */
async function isHere({ registry, env }: Kernel, tool: string, paths: readonly string[]): Promise<boolean> {
  const folders = paths.map((path) => dirname(path)).filter((folder) => folder !== env.home);
  const all = [...(registry.adapters.get(tool)?.roots(env) ?? []), ...folders];
  return (await Promise.all(all.map(isReachable))).includes(true);
}

/** The first file that exists; else the one that the assistant itself would write, in a folder that exists if there is one. */
async function firstFile(
  { name, contract }: { name: string; contract: McpContract },
  paths: readonly string[],
  files: readonly ConfigFile[],
  texts: Texts,
): Promise<ConfigFile | undefined> {
  const missing: ConfigFile[] = [];
  for (const path of paths) {
    const source = await readFile(name, contract, path, files, texts);
    if (source === undefined) return undefined;
    if (contract.into?.(source.config, path) === undefined) continue;
    if (source.file.bytes !== null) return source;
    missing.push(source);
  }
  for (const source of missing) if (await isReachable(dirname(source.file.real))) return source;
  return missing[0];
}

/** Undefined for a file that other assistants read as well, that names servers, or that cannot be read. */
async function readFile(
  tool: string,
  contract: McpContract,
  path: string,
  files: readonly ConfigFile[],
  texts: Texts,
): Promise<ConfigFile | undefined> {
  try {
    const file = await readOutside(path);
    const known = files.find(({ place }) => place.real === file.real);
    if (known) return known.servers.length === 0 && isOwnFile(known.place, tool) ? known : undefined;
    const { text, bom } = outsideText(file);
    const place: ConfigFile["place"] = { path, real: file.real, scope: "user", project: null, tools: [tool], contract };
    const config = text.trim() === "" ? {} : await texts.parse(text, contract.syntax, path);
    return { place, file, hash: toDigest(file.bytes ?? Buffer.alloc(0)), text, bom, config, servers: [] };
  } catch (error) {
    if (!isSessarcError(error)) throw error;
    return undefined;
  }
}
