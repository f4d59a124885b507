/** Which files name servers: what the tools say, each file once however many tools read it, in an order that does not change. */
import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { JsonRecord, Kernel } from "sessarc";
import type { OutsideFile } from "sessarc/files";
import type { Registry } from "../registry/registry.ts";
import type { Vault } from "../vault/seal.ts";
import type { McpContract, McpFile, McpServerEntry } from "./contract.ts";
import { vscode, withProfiles } from "./vscode.ts";

export interface ProjectFolder {
  id: string;
  path: string;
}

/** A file that is there. */
export interface ConfigPlace {
  /** As the tool knows it. */
  path: string;
  /** The file itself, behind all links; the path where it leads nowhere. */
  real: string;
  scope: McpFile["scope"];
  project: ProjectFolder | null;
  /** Tools that read it; the first one's form is the file's. */
  tools: string[];
  contract: McpContract;
}

/** A file with what it says. */
export interface ConfigFile {
  place: ConfigPlace;
  file: OutsideFile;
  /** SHA-256 of its bytes. */
  hash: string;
  text: string;
  bom: boolean;
  /** The part of it that can name servers. */
  config: JsonRecord;
  /** All it names, the hub among them. */
  servers: McpServerEntry[];
}

/** Whether it is the user's file of this assistant alone: an entry for the hub in it is seen in all projects, and by no other assistant. */
export const isOwnFile = ({ scope, tools }: ConfigPlace, tool: string): boolean =>
  scope === "user" && tools.length === 1 && tools[0] === tool;

/** How a tool's files are read; undefined when its adapter is not loaded. */
export const findContract = (kernel: Kernel, tool: string): McpContract | undefined =>
  tool === vscode.name ? vscode : kernel.registry.adapters.get(tool)?.mcp;

/** The user's files first, then those of the projects by path, then the administrator's. */
export async function configPlaces(kernel: Kernel, projects: readonly ProjectFolder[]): Promise<ConfigPlace[]> {
  const { env } = kernel;
  const profiles = await withProfiles(env);
  const tools = contracts(kernel).map((one) => (one.name === vscode.name ? { ...one, contract: profiles } : one));
  const sorted = [...projects].sort((a, b) => (a.path < b.path ? -1 : 1));
  const named = (scope: McpFile["scope"], folder: ProjectFolder | null) =>
    tools.flatMap(({ name, contract }) =>
      contract
        .files(env)
        .filter((file) => file.scope === scope)
        .map(({ path }) => ({
          path: folder ? join(folder.path, path) : path,
          scope,
          project: folder,
          tools: [name],
          contract,
        })),
    );
  const all = [
    ...named("user", null),
    ...sorted.flatMap((project) => named("project", project)),
    ...named("system", null),
  ];
  const there = await Promise.all(all.map(async (place) => ({ ...place, real: await resolveLinks(place.path) })));
  const places = new Map<string, ConfigPlace>();
  for (const place of there) {
    if (place.real === undefined) continue;
    const known = places.get(place.real);
    if (!known) places.set(place.real, { ...place, real: place.real });
    else for (const tool of place.tools) if (!known.tools.includes(tool)) known.tools.push(tool);
  }
  return [...places.values()];
}

/** Every assistant whose files can name servers. */
export const contracts = (kernel: Kernel): { name: string; contract: McpContract }[] => [
  ...[...kernel.registry.adapters.values()].flatMap(({ name, mcp }) => (mcp ? [{ name, contract: mcp }] : [])),
  { name: vscode.name, contract: vscode },
];

async function resolveLinks(path: string): Promise<string | undefined> {
  const link = await lstat(path).catch(() => undefined);
  return link && realpath(path).catch(() => path);
}

export interface ConfigParts {
  services: Registry;
  vault: Vault;
}
