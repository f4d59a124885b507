/** How a tool keeps tool-protocol servers in its configuration: for reading them, and for leading the tool to the hub instead. */
import type { Json, JsonRecord } from "../utils/json.ts";
import type { AdapterEnv } from "./env.ts";

/** A server as a tool's configuration names it. */
export interface McpServerEntry {
  name: string;
  /** Keys that lead to it in the file. */
  path: readonly string[];
  transport: "stdio" | "http" | "sse";
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  url?: string;
  headers?: Record<string, string>;
  disabled?: boolean;
  timeoutMs?: number;
  /** Names of tools: those shown alone, those hidden. */
  tools?: { allow?: string[]; deny?: string[] };
  /** Folder of the one project it is for, in a file that has servers of several. */
  project?: string;
  /** Fields that only the tool itself can make sense of: its own sign-in, a sandbox. */
  only?: string[];
}

export interface McpFile {
  path: string;
  /** Paths of scope `project` are relative to the project; files of scope `system` are the administrator's. */
  scope: "user" | "project" | "system";
}

export type McpReader = (path: string) => Promise<JsonRecord>;

export interface McpContract {
  /** They need not exist. The first of a scope is where the tool itself writes. */
  files(env: AdapterEnv): McpFile[];
  /** `json`: a comment makes the tool drop the whole file. `jsonc`: comments and trailing commas. */
  syntax: "json" | "jsonc" | "toml";
  /** What stands for a variable in any text: its name is the first group that matched, `default` a group of that name. */
  variable: RegExp;
  servers(config: JsonRecord): McpServerEntry[];
  /**
   * Of servers of a project's file, those that the user has not agreed to start; asked where the tool asks. `read` answers another file
   * of the tool's: what of it is about servers and trust, an empty object where there is none.
   */
  unapproved?(project: string, names: readonly string[], env: AdapterEnv, read: McpReader): Promise<readonly string[]>;
  /** The entry that leads to an address over streamable HTTP, for the object at `path` that holds servers. */
  link(url: string, path: readonly string[], headers: Record<string, string> | undefined): { [key: string]: Json };
  /** The field that switches a server below `path` off. Absent where the file has none. */
  off?(path: readonly string[]): { key: string; value: boolean };
}
