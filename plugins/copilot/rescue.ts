/** What Copilot CLI needs to have a session back: its folder; the database is rebuilt from it. */
import { basename, dirname, join } from "node:path";
import { type AdapterCapabilities, isRecord } from "sessarc";
import { type AdapterEnv, movedPath, readRows, renameIds } from "sessarc/adapter";
import { readWorkspace } from "./cli/workspace.ts";

type RescueContract = AdapterCapabilities["rescue"];

/** Fields with what was said and done. */
const SAID = ["content", "transformedContent", "toolRequests", "arguments", "result", "sessarc"];

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
        const named = renameIds(row, { from: key, to, names: ["sessionId"], except: SAID });
        const data = isRecord(named.data) ? named.data : undefined;
        if (!data || !/^session\.(start|resume)$/.test(String(row.type))) return named;
        const context = isRecord(data.context) ? data.context : undefined;
        return {
          ...named,
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
  /** It takes the folder's name for the id, and the log's and the small file's must be the same. */
  async finds({ key, path }) {
    const ids = new Set<unknown>([
      basename(dirname(path)),
      (await readWorkspace(join(dirname(path), "workspace.yaml"))).get("id"),
    ]);
    await readRows(path, (row) => {
      const data = isRecord(row) && /^session\.(start|resume)$/.test(String(row.type)) ? row.data : undefined;
      if (isRecord(data) && data.sessionId !== undefined) ids.add(data.sessionId);
    });
    ids.delete(undefined);
    return ids.size === 1 && ids.has(key);
  },
});
