/** Assistants that keep their sessions as OpenCode does: one reader, these differences. */
import { join } from "node:path";
import type { AdapterEnv, ToolRole } from "sessarc/adapter";

export interface Member {
  name: string;
  label: string;
  /** Below the folders for data and for configuration. */
  folder: string;
  /** The main database; others of the pattern beside it belong to other channels. */
  database: string;
  databases: RegExp;
  /** The data folder below the home, where it is not among the usual ones. */
  place?: string;
  /** Environment variables: the data folder, the database file (the first that is set), the configuration file. */
  home?: string;
  files?: readonly string[];
  config?: string;
  /** Names of configuration files that hold tool servers. */
  configs: readonly string[];
  /** The command that resumes a session, without its id; empty where it is not known. */
  resume: readonly string[];
  /** The session's row is there before its first prompt, so the session starts with its first message. */
  isEarly?: boolean;
  /** Tools that only this assistant has. */
  tools?: Readonly<Record<string, ToolRole>>;
  /** Its messages count cached tokens as input, too; a row of `model_usage` for each request decides where there is one. */
  isGross?: boolean;
  /** The newest version whose own logs were compared. */
  tried?: string;
  /** Its plugins are known to ask before a call, as OpenCode's do. */
  isGuarded?: boolean;
  /** No log that it wrote was compared with what is read, and nothing else of it is known. */
  unproved?: boolean;
}

export const FAMILY: Readonly<Record<"opencode" | "kilo" | "mimo" | "icodemate" | "zcode", Member>> = {
  opencode: {
    name: "opencode",
    label: "OpenCode",
    folder: "opencode",
    database: "opencode.db",
    databases: /^opencode.*\.db$/,
    files: ["OPENCODE_DB"],
    config: "OPENCODE_CONFIG",
    configs: ["opencode.json", "opencode.jsonc"],
    resume: ["opencode", "--session"],
    isGuarded: true,
    tried: "2.0.26",
  },
  kilo: {
    name: "kilo",
    label: "Kilo Code",
    folder: "kilo",
    database: "kilo.db",
    databases: /^kilo.*\.db$/,
    configs: ["kilo.json", "kilo.jsonc"],
    resume: ["kilo", "-s"],
    isGuarded: true,
    tried: "7.7.9",
    isEarly: true,
  },
  mimo: {
    name: "mimo",
    label: "MiMo Code",
    folder: "mimocode",
    database: "mimocode.db",
    databases: /^mimocode.*\.db$/,
    home: "MIMOCODE_HOME",
    files: ["MIMOCODE_DB"],
    configs: ["mimocode.json", "mimocode.jsonc"],
    resume: ["mimo", "--session"],
  },
  icodemate: {
    name: "icodemate",
    label: "IcodeMate",
    folder: "icodemate",
    database: "icodemate.db",
    databases: /^(?:icodemate|opencode).*\.db$/,
    configs: [],
    resume: [],
  },
  zcode: {
    name: "zcode",
    label: "ZCode",
    folder: "zcode",
    place: join(".zcode", "cli", "db"),
    database: "db.sqlite",
    databases: /^db\.sqlite$/,
    files: ["ZCODE_SESSION_DB_PATH", "ZCODE_SESSION_DB"],
    configs: [],
    resume: [],
    tools: {
      Read: "read",
      Edit: "edit",
      Write: "write",
      Bash: "shell",
      Grep: "search",
      Glob: "search",
      WebFetch: "fetch",
      WebSearch: "fetch",
      TodoWrite: "todo",
      Agent: "agent",
      Task: "agent",
    },
    isGross: true,
    unproved: true,
  },
};

/** The configuration folder, the same on every system. */
export const configFolder = (member: Member, env: AdapterEnv) =>
  join(env.env.XDG_CONFIG_HOME || join(env.home, ".config"), member.folder);

/** The data folder, the same on every system. */
export function dataFolder(member: Member, env: AdapterEnv): string {
  const named = member.home && env.env[member.home];
  if (named) return named;
  if (member.place !== undefined) return join(env.home, member.place);
  return join(env.env.XDG_DATA_HOME || join(env.home, ".local", "share"), member.folder);
}
