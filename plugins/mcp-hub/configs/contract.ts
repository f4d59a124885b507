/** How a tool keeps tool-protocol servers in its configuration: for reading them, and for leading the tool to the hub instead. */

import type { Json, JsonRecord } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";

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

/** Reading of what most tools write in the same way: an object of names, each with `type`, `command`, `args`, `env`, `cwd`, `url`, `headers`. */
export interface McpParts {
  /**
   * The servers below `path`. `only`: names of fields that only the assistant itself can honour. What names neither a command nor an address
   * is left out.
   */
  servers(config: unknown, path: readonly string[], only?: readonly string[]): McpServerEntry[];
  /** Texts by name; numbers and switches are written out, as tools do. Undefined when there are none. */
  values(value: unknown): { values: Record<string, string> | undefined; unreadable: boolean };
  /** A list of texts; undefined where it is missing. */
  texts(value: unknown): { texts: string[] | undefined; unreadable: boolean };
}

export interface McpContract {
  /** They need not exist. The first of a scope is where the tool itself writes. */
  files(env: AdapterEnv): McpFile[];
  /** `json`: a comment makes the tool drop the whole file. `jsonc`: comments and trailing commas. */
  syntax: "json" | "jsonc" | "toml";
  /**
   * How a variable is written in any text: `${NAME}` and `${NAME:-default}` (`braced`), `${env:NAME}` (`env`), or another form, of which
   * the first group that matched is the name and `default` a group of that name.
   */
  variable: "braced" | "env" | RegExp;
  /** Servers of a file; `read` has what most tools share. */
  servers(config: JsonRecord, read: McpParts): McpServerEntry[];
  /**
   * Of servers of a project's file, those that the user has not agreed to start; asked where the tool asks. `read` answers another file
   * of the tool's: what of it is about servers and trust, an empty object where there is none.
   */
  unapproved?(project: string, names: readonly string[], env: AdapterEnv, read: McpReader): Promise<readonly string[]>;
  /** The entry that leads to an address over streamable HTTP, for the object at `path` that holds servers. */
  link(url: string, path: readonly string[], headers: Record<string, string> | undefined): { [key: string]: Json };
  /**
   * Keys of the object that the first server of a file is written into; undefined for a file that is for other things. Absent: the assistant
   * is connected to the hub only beside a server that its file has already.
   */
  into?(config: JsonRecord, path: string): readonly string[] | undefined;
  /** The field that switches a server below `path` off. Absent where the file has none. */
  off?(path: readonly string[]): { key: string; value: boolean };
}
