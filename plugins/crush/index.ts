/** Crush: sessions of the database that each project has. */
import { basename, dirname, join } from "node:path";
import { parseRecord, toList, toRecord, toText } from "sessarc";
import { type AdapterEnv, defineAdapter, readFolder, sqliteSessions } from "sessarc/adapter";
import { isGone, readRegularSync } from "sessarc/files";

export interface CrushOptions {
  /** Read only below this folder: a project, a folder of projects, or a project's `.crush`. */
  dir?: string;
}

const DATABASE = "crush.db";

export default defineAdapter((options: CrushOptions | undefined) => {
  const store = sqliteSessions({
    list: async (db) => (await import("./sessions.ts")).listSessions(db),
    async *read(db, ref, onBytes) {
      return yield* (await import("./sessions.ts")).readSession(db, ref, onBytes);
    },
  });
  const projects = (env: AdapterEnv) => (options?.dir === undefined ? listed(globalFolder(env)) : below(options.dir));

  return {
    name: "crush",
    label: "Crush",
    roots: (env) => [...projects(env).keys()],
    async *scan(root, env) {
      const cwd = projects(env).get(root) ?? toProject(root);
      for (const ref of await store.list(root)) yield { ...ref, cwd };
    },
    open: store.open,

    tools: {
      view: "read",
      edit: "edit",
      multiedit: "edit",
      write: "write",
      bash: "shell",
      ls: "search",
      grep: "search",
      glob: "search",
      fetch: "fetch",
      download: "fetch",
      todos: "todo",
      agent: "agent",
    },
    resume: ({ key }) => ["crush", "--session", key],
    skills: {
      dirs: (env) => [
        { path: join(".agents", "skills"), scope: "project" },
        { path: join(configFolder(env), "skills"), scope: "user" },
      ],
    },
    mcp: {
      files: (env) => [
        { path: join(configFolder(env), "crush.json"), scope: "user" },
        { path: "crush.json", scope: "project" },
        { path: ".crush.json", scope: "project" },
      ],
      syntax: "json",
      variable: "braced",
      servers: (config, read) => read.servers(config, ["mcp"]),
      into: () => ["mcp"],
      link: (url, _, headers) => ({ type: "http", url, ...(headers && { headers }) }),
      off: () => ({ key: "disabled", value: true }),
    },
    guard: {
      home: configFolder,
      settings: (env) => join(configFolder(env), "crush.json"),
      format: "json",
      entry: ({ command }) => ({ command, timeout: 10 }),
      deny: (reason) => ({ decision: "deny", reason }),
    },
  };
});

const configFolder = ({ home, env }: AdapterEnv) => join(env.XDG_CONFIG_HOME || join(home, ".config"), "crush");

function globalFolder({ home, platform, env }: AdapterEnv): string {
  if (env.CRUSH_GLOBAL_DATA) return env.CRUSH_GLOBAL_DATA;
  if (env.XDG_DATA_HOME) return join(env.XDG_DATA_HOME, "crush");
  if (platform === "win32") return join(env.LOCALAPPDATA || join(home, "AppData", "Local"), "crush");
  return join(home, ".local", "share", "crush");
}

/** Databases with their projects, by the list that Crush keeps of them. */
function listed(folder: string): Map<string, string> {
  let text = "";
  try {
    text = readRegularSync(join(folder, "projects.json"));
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  const found = new Map<string, string>();
  for (const project of toList(parseRecord(text)?.projects).map(toRecord)) {
    const [path, data] = [toText(project.path), toText(project.data_dir)];
    if (path) found.set(join(data ?? join(path, ".crush"), DATABASE), path);
  }
  return found;
}

/** The folder itself, its `.crush`, and those of the folders in it. */
function below(dir: string): Map<string, string> {
  const folders = readFolder(dir).filter((entry) => entry.isDirectory() && !entry.name.startsWith("."));
  const projects = [dir, ...folders.map((entry) => join(dir, entry.name))];
  const paths = [join(dir, DATABASE), ...projects.map((project) => join(project, ".crush", DATABASE))];
  return new Map(paths.map((path) => [path, toProject(path)]));
}

const toProject = (database: string): string => {
  const folder = dirname(database);
  return basename(folder) === ".crush" ? dirname(folder) : folder;
};
