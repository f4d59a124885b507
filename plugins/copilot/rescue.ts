/** What Copilot CLI needs to have a session back: its folder; the database is rebuilt from it. */
import { basename, dirname, join } from "node:path";
import { type AdapterCapabilities, type AdapterEnv, isRecord } from "sessarc/adapter";
import { movedPath } from "#internal/adapter";

type RescueContract = AdapterCapabilities["rescue"];

/** `root`: its folder of sessions. */
export const rescue = (root: (env: AdapterEnv) => string): RescueContract => ({
  folders: (env) => [root(env)],
  start: (prompt) => ["copilot", "--interactive", prompt],
  async copy({ key, cwd: from }, { key: to, cwd }, env) {
    const folder = join(root(env), to);
    const move = (value: unknown) => (typeof value === "string" ? movedPath(value, from, cwd) : value);
    return {
      path: join(folder, "events.jsonl"),
      row(row) {
        const data = isRecord(row.data) ? row.data : undefined;
        if (!data || !/^session\.(start|resume)$/.test(String(row.type))) return row;
        const context = isRecord(data.context) ? data.context : undefined;
        return {
          ...row,
          data: {
            ...data,
            ...(data.sessionId !== undefined && { sessionId: to, sessarc: data.sessarc ?? { copyOf: key } }),
            ...(context && { context: { ...context, cwd: move(context.cwd), gitRoot: move(context.gitRoot) } }),
          },
        };
      },
      file(path, text) {
        if (basename(path) !== "workspace.yaml" || basename(dirname(path)) === to) return undefined;
        const lines = text
          .replace(/^id:.*$/m, `id: ${to}`)
          .replace(/^(cwd|git_root):.*$/gm, (_, name: string) => `${name}: ${JSON.stringify(cwd)}`);
        return { path: join(folder, "workspace.yaml"), text: lines };
      },
      index: [],
    };
  },
});
