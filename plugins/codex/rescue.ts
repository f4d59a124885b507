/** How Codex lists its threads, and what it needs to have one back: the rollout; its database repairs itself from the files. */
import { basename, dirname, join } from "node:path";
import { type AdapterCapabilities, isRecord, parseRecord, toText } from "sessarc";
import { type AdapterEnv, bytesAt, movedPath } from "sessarc/adapter";
import { isInside } from "sessarc/files";
import { readPinned } from "./titles.ts";

type RescueContract = AdapterCapabilities["rescue"];

const HEAD = 64 * 1024;
const ARCHIVED = "archived_sessions";

/** `folders`: of rollouts. */
export const rescue = (folders: (env: AdapterEnv) => readonly string[]): RescueContract => ({
  folders,
  async hidden({ path }) {
    if (basename(dirname(path)) === ARCHIVED) return "archived";
    if (path.endsWith(".zst")) return undefined;
    const head = bytesAt(path, 0, HEAD).toString("utf8");
    // The base instructions may be longer than the head.
    const [, source] =
      /"source":\s*"([a-z_]{1,40})"/.exec(head.slice(0, head.indexOf('"base_instructions"') >>> 0)) ?? [];
    return source === "exec" ? "headless" : undefined;
  },
  async copy({ key, path, cwd: from }, { key: to, cwd }, env) {
    const own = folders(env).find((one) => isInside(one, path));
    // A copy is no longer archived.
    const sessions = folders(env).find((one) => basename(one) !== ARCHIVED) ?? dirname(path);
    const name = basename(path).replace(/\.zst$/, "");
    const folder = own !== undefined && basename(own) !== ARCHIVED ? dirname(path) : sessions;
    const at = new Date().toISOString();
    let isFirst = true;
    return {
      path: join(
        folder,
        name.includes(key) ? name.replace(key, to) : `rollout-${at.slice(0, 19).replaceAll(":", "-")}-${to}.jsonl`,
      ),
      row(row) {
        const payload = isRecord(row.payload) ? row.payload : undefined;
        if (!payload) return row;
        const moved = {
          ...payload,
          ...(typeof payload.cwd === "string" && { cwd: movedPath(payload.cwd, from, cwd) }),
        };
        const workspace = { ...(payload.runtime_workspace_roots !== undefined && { runtime_workspace_roots: [cwd] }) };
        if (row.type !== "session_meta" || !isFirst || toText(payload.id) !== key)
          return { ...row, payload: { ...moved, ...workspace } };
        isFirst = false;
        const meta = { ...moved, ...workspace, id: to, ...(payload.session_id !== undefined && { session_id: to }) };
        // Everything after this row is the original's: its tokens count there.
        return {
          ...row,
          timestamp: at,
          payload: { ...meta, timestamp: at, forked_from_id: key, git: undefined, sessarc: { copied: at } },
        };
      },
      index: [],
    };
  },
  async pinned(env) {
    const homes = new Set(folders(env).map((folder) => dirname(folder)));
    return new Set((await Promise.all([...homes].map(readPinned))).flat());
  },
  /** It takes the id from the file's name, and the thread's head from the first row. */
  async finds({ key, path, cwd }) {
    const [line = ""] = bytesAt(path, 0, 1 << 20)
      .toString("utf8")
      .split("\n", 1);
    const { type, payload } = parseRecord(line) ?? {};
    const head = isRecord(payload) ? payload : {};
    return path.endsWith(`${key}.jsonl`) && type === "session_meta" && head.id === key && head.cwd === cwd;
  },
  start: (prompt) => ["codex", prompt],
  lost: "A name that was given to the thread does not come back: Codex CLI stores it in its own database",
});
