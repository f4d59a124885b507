/** Assistants that write Claude Code's log, or one of their own, in folders as its are elsewhere: as data. */
import { join } from "node:path";
import { type SessionRef, toText } from "sessarc";
import { type AdapterEnv, findLogs, type LineParser, readRecord } from "sessarc/adapter";
import { createEitherParser } from "./flat.ts";
import { scanProjects } from "./scan.ts";

export interface Relative {
  label: string;
  /** Where logs are on this machine. */
  roots(env: AdapterEnv): string[];
  /** Where they are below a folder that the user chose. */
  places: readonly string[];
  scan(root: string): AsyncIterable<SessionRef>;
  /** Of a log that is not, or not always, Claude Code's. */
  parse?(ref: SessionRef): LineParser;
  /** The command that goes on with a session. */
  command?: string;
  /** No log that it wrote was compared with what is read. */
  unproved?: boolean;
}

const projects = (label: string, folder: string): Relative => ({
  label,
  roots: ({ home }) => [join(home, folder, "projects")],
  places: ["projects", `${folder}/projects`],
  scan: scanProjects,
});

/** Qoder names a session in a file beside its log. */
const qoder = (label: string, folder: string): Relative => ({
  ...projects(label, folder),
  async *scan(root) {
    for await (const ref of scanProjects(root)) {
      const title = toText(readRecord(ref.path.replace(/\.jsonl$/, "-session.json"))?.title);
      yield title === undefined ? ref : { ...ref, title };
    }
  },
  unproved: true,
});

/** `folders` are below the home, unless the variable names one. */
const flat = (label: string, folders: readonly string[], variable: string): Relative => ({
  label,
  roots: ({ home, env }) => (env[variable] ? [env[variable]] : folders.map((folder) => join(home, folder))).map(inside),
  places: ["projects", ...folders.map(inside)],
  scan: scanProjects,
  parse: createEitherParser,
});

const inside = (folder: string) => join(folder, "projects");

const COWORK = "local-agent-mode-sessions";

export const RELATIVES = {
  openclaude: projects("OpenClaude", ".openclaude"),
  codebuddy: { ...flat("CodeBuddy", [".codebuddy"], "CODEBUDDY_CONFIG_DIR"), command: "codebuddy" },
  workbuddy: { ...flat("WorkBuddy", [".workbuddy-ai", ".workbuddy"], "WORKBUDDY_CONFIG_DIR"), unproved: true },
  qoder: qoder("Qoder", ".qoder"),
  qoderwork: qoder("QoderWork", ".qoderwork"),
  cowork: {
    label: "Claude Cowork",
    roots: (env) => desktopFolders(env).map((folder) => join(folder, COWORK)),
    places: [COWORK],
    scan: scanCowork,
  },
  // The second version moved its logs and left those of the first.
  "cherry-studio": {
    label: "Cherry Studio",
    roots: (env) =>
      programFolders(env, "CherryStudio").flatMap((folder) => [
        join(folder, "Data", "Agents", ".claude", "projects"),
        join(folder, ".claude", "projects"),
      ]),
    places: ["Data/Agents/.claude/projects", ".claude/projects", "projects"],
    scan: scanProjects,
    unproved: true,
  },
} satisfies Record<string, Relative>;

function desktopFolders(env: AdapterEnv): string[] {
  const usual = programFolders(env, "Claude");
  if (env.platform !== "win32") return usual;
  const local = env.env.LOCALAPPDATA || join(env.home, "AppData", "Local");
  return [...usual, join(local, "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming", "Claude")];
}

/** Where a desktop program keeps its data. */
function programFolders({ home, platform, env }: AdapterEnv, name: string): string[] {
  if (platform === "darwin") return [join(home, "Library", "Application Support", name)];
  if (platform !== "win32") return [join(env.XDG_CONFIG_HOME || join(home, ".config"), name)];
  return [join(env.APPDATA || join(home, "AppData", "Roaming"), name)];
}

/** Each piece of work has a home of its own, `local_<id>/.claude`, and a file of facts beside it. */
async function* scanCowork(root: string): AsyncGenerator<SessionRef> {
  const homes = new Set<string>();
  for await (const { folders } of findLogs(root, (name) => name.endsWith("/") || name.endsWith(".jsonl"), 10)) {
    const at = folders.lastIndexOf(".claude");
    if (at > 0 && folders[at + 1] === "projects") homes.add(join(root, ...folders.slice(0, at)));
  }
  for (const home of homes) {
    const title = toText(readRecord(`${home}.json`)?.title);
    for await (const ref of scanProjects(join(home, ".claude", "projects")))
      yield title === undefined ? ref : { ...ref, title };
  }
}
