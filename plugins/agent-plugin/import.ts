/** A foreign plugin: shown, then its skills into the store and its servers into the hub. */
import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { isSessarcError, type Kernel, SessarcError, toMessage } from "sessarc";
import type { PluginProblem } from "./folder.ts";
import { type ForeignPlugin, readForeign } from "./foreign.ts";
import type { ServerEntry } from "./servers.ts";

export interface ShownSkill {
  name: string;
  description: string;
  folder: string;
  files: number;
  size: number;
  /** Of all its files. */
  contentHash: string;
  warnings: string[];
}

export interface ShownPlugin extends Omit<ForeignPlugin, "skills" | "digest"> {
  skills: ShownSkill[];
  /** Of plugin.json, mcp.json and every file of the skills, as they were read. */
  digest: string;
}

export interface ImportedPlugin {
  /** Ids in the store. */
  skills: string[];
  /** Ids in the hub. */
  servers: string[];
  problems: PluginProblem[];
}

/** What an import would take. Nothing is written or started. Throws AGENT_PLUGIN_INVALID. */
export async function showPlugin(kernel: Kernel, path: string): Promise<ShownPlugin> {
  if (!isAbsolute(path)) throw new SessarcError("AGENT_PLUGIN_INVALID", { path, reason: "its path is not absolute" });
  const plugin = await readForeign(path, (name) => dataOf(kernel, name));
  const skills: ShownPlugin["skills"] = [];
  const problems = [...plugin.problems];
  for (const { name, folder } of plugin.skills)
    try {
      const { path: _, ...found } = await kernel.inject("skills").preview(folder);
      skills.push({ ...found, folder });
    } catch (error) {
      problems.push({ what: `skills/${name}`, reason: toMessage(error) });
    }
  return { ...plugin, skills, problems, digest: toDigest(plugin, skills) };
}

const toDigest = ({ digest }: ForeignPlugin, skills: readonly ShownSkill[]): string =>
  createHash("sha256")
    .update(JSON.stringify([digest, skills.map(({ name, folder, contentHash }) => [name, folder, contentHash])]))
    .digest("hex");

/**
 * Takes what `showPlugin` showed, under the digest it had. Throws AGENT_PLUGIN_CHANGED before anything is taken. A skill or server whose name is
 * taken is left out; nothing is replaced.
 */
export async function importPlugin(kernel: Kernel, path: string, digest: string): Promise<ImportedPlugin> {
  const shown = await showPlugin(kernel, path);
  if (shown.digest !== digest) throw new SessarcError("AGENT_PLUGIN_CHANGED", { path });
  const imported: ImportedPlugin = { skills: [], servers: [], problems: [...shown.problems] };
  for (const { name, folder, contentHash } of shown.skills)
    try {
      imported.skills.push((await kernel.inject("skills").importFolder(folder, contentHash)).id);
    } catch (error) {
      const isOther = isSessarcError(error) && error.code === "SKILL_LOCK_DIFFERS";
      imported.problems.push({ what: `skills/${name}`, reason: isOther ? "it changed just now" : toMessage(error) });
    }
  for (const server of shown.servers)
    try {
      imported.servers.push(await addServer(kernel, shown.name, server));
    } catch (error) {
      imported.problems.push({ what: `server ${server.name}`, reason: toMessage(error) });
    }
  return imported;
}

const dataOf = (kernel: Kernel, name: string) => kernel.storage.path("agent-plugin", "data", name);

async function addServer(kernel: Kernel, plugin: string, { name, ...server }: ServerEntry): Promise<string> {
  const { services } = kernel.inject("mcp");
  const known = await services.list();
  const wanted = toId(name);
  // The hub would change a service of this name: a plugin must not.
  const taken = known.find(({ id, name: other }) => id === wanted || other.toLowerCase() === name.toLowerCase());
  if (taken) throw new TypeError(`the hub has a server ${taken.id} already`);
  if (server.transport === "stdio") await mkdir(dataOf(kernel, plugin), { recursive: true, mode: 0o700 });
  const { entry } = await services.put({ id: wanted, name, ...server });
  return entry.id;
}

/** As the hub names services: words of lower-case letters and digits. */
const toId = (name: string): string =>
  (name.toLowerCase().match(/[a-z0-9]+/g) ?? ["server"]).join("-").slice(0, 20).replace(/-+$/, "");
