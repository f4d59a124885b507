/** Assistants that keep their sessions as OpenCode does: one reader, these differences. */
import { join } from "node:path";
import type { AdapterEnv } from "sessarc/adapter";

export interface Member {
  name: string;
  label: string;
  /** Below the folders for data and for configuration. */
  folder: string;
  /** The main database; others of the pattern beside it belong to other channels. */
  database: string;
  databases: RegExp;
  /** Environment variables: the data folder, the database file, the configuration file. */
  home?: string;
  file?: string;
  config?: string;
  /** Names of configuration files that hold tool servers. */
  configs: readonly string[];
  /** The command that resumes a session, without its id; empty where it is not known. */
  resume: readonly string[];
  /** The session's row is there before its first prompt, so the session starts with its first message. */
  isEarly?: boolean;
}

export const FAMILY: Readonly<Record<"opencode" | "kilo" | "mimo" | "icodemate", Member>> = {
  opencode: {
    name: "opencode",
    label: "OpenCode",
    folder: "opencode",
    database: "opencode.db",
    databases: /^opencode.*\.db$/,
    file: "OPENCODE_DB",
    config: "OPENCODE_CONFIG",
    configs: ["opencode.json", "opencode.jsonc"],
    resume: ["opencode", "--session"],
  },
  kilo: {
    name: "kilo",
    label: "Kilo Code",
    folder: "kilo",
    database: "kilo.db",
    databases: /^kilo.*\.db$/,
    configs: ["kilo.json", "kilo.jsonc"],
    resume: ["kilo", "-s"],
    isEarly: true,
  },
  mimo: {
    name: "mimo",
    label: "MiMo Code",
    folder: "mimocode",
    database: "mimocode.db",
    databases: /^mimocode.*\.db$/,
    home: "MIMOCODE_HOME",
    file: "MIMOCODE_DB",
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
};

/** The configuration folder, the same on every system. */
export const configFolder = (member: Member, env: AdapterEnv) =>
  join(env.env.XDG_CONFIG_HOME || join(env.home, ".config"), member.folder);

/** The data folder, the same on every system. */
export const dataFolder = (member: Member, env: AdapterEnv) =>
  (member.home && env.env[member.home]) ||
  join(env.env.XDG_DATA_HOME || join(env.home, ".local", "share"), member.folder);
