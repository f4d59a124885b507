/** Cline, and its relatives Roo Code, Zoo Code, Kilo Code's first extension and IBM Bob. */
import { basename, dirname, join } from "node:path";
import { type SessionRef, toList, toRecord, toText } from "sessarc";
import { defineAdapter, documentSessions, readFolderInSlices } from "sessarc/adapter";
import { FAMILY, tools } from "./family.ts";
import { type ClineOptions, dataFolder, toPlaces } from "./places.ts";

export type { ClineOptions } from "./places.ts";

const TASK = "api_conversation_history.json";
const MESSAGES = ".messages.json";

export default defineAdapter((options: ClineOptions | undefined) => {
  const member = FAMILY[options?.variant ?? "cline"];
  const documents = documentSessions({
    beside: ({ path }) => filesBeside(path),
    async read(ref) {
      if (basename(ref.path) !== TASK) return (await import("./session.ts")).readSession(ref);
      return (await import("./task.ts")).readTask(ref);
    },
  });

  async function* found(refs: readonly Pick<SessionRef, "key" | "path" | "parent">[]) {
    for (const ref of refs) {
      const stamp = await documents.stamp(ref);
      if (stamp) yield { ...ref, ...stamp };
    }
  }

  return {
    name: member.name,
    label: member.label,
    ...(member.tried && { tried: member.tried }),
    roots(env) {
      const { sessions, tasks } = toPlaces(member, options?.dir, env);
      return [...sessions, ...tasks];
    },
    async *scan(root, env) {
      const isTasks = toPlaces(member, options?.dir, env).tasks.includes(root);
      for (const { name } of (await readFolderInSlices(root)).filter((entry) => entry.isDirectory())) {
        if (isTasks) yield* found([{ key: name, path: join(root, name, TASK) }]);
        else yield* found(await sessionsIn(join(root, name)));
      }
    },
    async peek(ref) {
      if (basename(ref.path) !== TASK) return (await import("./session.ts")).peekSession(ref);
      return (await import("./task.ts")).peekTask(ref);
    },
    token: documents.token,
    open: documents.open,

    tools,
    resume: ({ key, path }) => (member.hasSessions && basename(path) !== TASK ? ["cline", "--id", key] : undefined),
    ...(member.folder && {
      skills: {
        dirs: ({ home }) => [
          { path: join(member.folder ?? "", "skills"), scope: "project" },
          { path: join(".agents", "skills"), scope: "project" },
          { path: join(home, member.folder ?? "", "skills"), scope: "user" },
          { path: join(home, ".agents", "skills"), scope: "user" },
        ],
      },
    }),
    ...(member.hasSessions && {
      mcp: {
        files: (env) => [{ path: join(dataFolder(env), "settings", "cline_mcp_settings.json"), scope: "user" }],
        syntax: "json",
        variable: "env",
        servers: (config, read) => read.servers(config, ["mcpServers"]),
        into: () => ["mcpServers"],
        link: (url, _, headers) => ({ type: "streamableHttp", url, ...(headers && { headers }) }),
        off: () => ({ key: "disabled", value: true }),
      },
    }),
    replay: {
      actions: ({ name, input }) =>
        name === "run_commands"
          ? toList(toRecord(input).commands).flatMap((command) => {
              const text = toText(command);
              return text ? [{ do: "command" as const, command: text }] : [];
            })
          : undefined,
    },
  };
});

/** A session and the sub-agents whose messages are beside its own. */
async function sessionsIn(folder: string): Promise<Pick<SessionRef, "key" | "path" | "parent">[]> {
  const id = basename(folder);
  const names = (await readFolderInSlices(folder)).flatMap((entry) => (entry.isFile() ? [entry.name] : []));
  return names.flatMap((name) => {
    if (!name.endsWith(MESSAGES)) return [];
    const path = join(folder, name);
    const stem = name.slice(0, -MESSAGES.length);
    return [stem === id ? { key: id, path } : { key: `${id}__${stem}`, path, parent: id }];
  });
}

/** What else a session's figures come from. */
function filesBeside(path: string): string[] {
  const folder = dirname(path);
  if (basename(path) !== TASK) return [join(folder, `${basename(folder)}.json`)];
  return ["ui_messages.json", "task_metadata.json", "history_item.json"].map((name) => join(folder, name));
}
