/** Assistants that write Claude Code's log elsewhere, as data. */
import { join } from "node:path";
import { type AdapterEnv, findLogs, readRecord, type SessionRef, toText } from "sessarc/adapter";
import { scanProjects } from "./scan.ts";

export interface Relative {
  label: string;
  /** Where logs are on this machine. */
  roots(env: AdapterEnv): string[];
  /** Where they are below a folder that the user chose. */
  places: readonly string[];
  scan(root: string): AsyncIterable<SessionRef>;
}

const projects = (label: string, folder: string): Relative => ({
  label,
  roots: ({ home }) => [join(home, folder, "projects")],
  places: ["projects", `${folder}/projects`],
  scan: scanProjects,
});

const COWORK = "local-agent-mode-sessions";

export const RELATIVES = {
  openclaude: projects("OpenClaude", ".openclaude"),
  codebuddy: projects("CodeBuddy", ".codebuddy"),
  cowork: {
    label: "Claude Cowork",
    roots: (env) => desktopFolders(env).map((folder) => join(folder, COWORK)),
    places: [COWORK],
    scan: scanCowork,
  },
} satisfies Record<string, Relative>;

function desktopFolders({ home, platform, env }: AdapterEnv): string[] {
  if (platform === "darwin") return [join(home, "Library", "Application Support", "Claude")];
  if (platform !== "win32") return [join(env.XDG_CONFIG_HOME || join(home, ".config"), "Claude")];
  const local = env.LOCALAPPDATA || join(home, "AppData", "Local");
  return [
    join(env.APPDATA || join(home, "AppData", "Roaming"), "Claude"),
    join(local, "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming", "Claude"),
  ];
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
