/** How Claude Code lists its sessions, and what it needs to have one back: the log alone, in a folder named after the project's path. */
import { basename, dirname, join } from "node:path";
import { type AdapterCapabilities, isRecord, toText } from "sessarc";
import { type AdapterEnv, bytesAt, movedPath, readRows, renameIds, rowsIn } from "sessarc/adapter";
import { isInside } from "sessarc/files";

type RescueContract = AdapterCapabilities["rescue"];

const HEAD = 64 * 1024;
/** Its picker leaves these out. */
const HEADLESS = new Set(["sdk-cli", "sdk-ts", "sdk-py"]);
const BACKGROUND = new Set(["daemon", "daemon-worker"]);
/** Rows about the folder and the processes of the original. */
const LEFT_OUT = new Set(["relocated", "worktree-state", "continued-in", "bridge-session", "resume-head-vouch"]);

/** Fields with what was said and done, and with whose rows a fork's are. */
const SAID = ["message", "toolUseResult", "content", "forkedFrom"];

/** `roots`: its folders of projects. `home`: its configuration folder. */
export const rescue = (
  roots: (env: AdapterEnv) => readonly string[],
  home: (env: AdapterEnv) => string,
): RescueContract => ({
  folders: roots,
  async hidden({ path }) {
    for (const row of headRows(path, ['"sessionKind"', '"entrypoint"'])) {
      const kind = toText(row.sessionKind);
      if (kind !== undefined && BACKGROUND.has(kind)) return "background";
      const entry = toText(row.entrypoint);
      if (entry !== undefined) return HEADLESS.has(entry) ? "headless" : undefined;
    }
    return undefined;
  },
  async copy({ key, path, cwd: from }, { key: to, cwd }, env) {
    const root = roots(env).find((one) => isInside(one, path)) ?? roots(env)[0] ?? "";
    return {
      path: join(root, folderName(cwd), `${to}.jsonl`),
      row(row) {
        if (LEFT_OUT.has(String(row.type))) return undefined;
        const uuid = toText(row.uuid);
        return {
          ...renameIds(row, { from: key, to, names: ["sessionId", "session_id"], except: SAID }),
          ...(row.sessionId !== undefined && { sessionId: to }),
          ...(typeof row.cwd === "string" && { cwd: movedPath(row.cwd, from, cwd) }),
          ...(uuid !== undefined && { forkedFrom: row.forkedFrom ?? { sessionId: key, messageUuid: uuid } }),
        };
      },
      index: [],
    };
  },
  /** It looks for a file of that name in the folder's, and takes rows of another session for those of a fork. */
  async finds({ key, path, cwd }) {
    let [own, other] = [0, 0];
    await readRows(path, (row) => {
      if (!isRecord(row) || row.sessionId === undefined) return;
      if (row.sessionId === key) own++;
      else other++;
    });
    return basename(path) === `${key}.jsonl` && basename(dirname(path)) === folderName(cwd) && own > 0 && other === 0;
  },
  start: (prompt) => ["claude", prompt],
  retention: (days, env) => ({
    path: join(home(env), "settings.json"),
    keys: [],
    key: "cleanupPeriodDays",
    value: days,
  }),
});

/** A project's folder below `projects`. */
const folderName = (cwd: string): string => cwd.replace(/[^A-Za-z0-9]/g, "-");

/** Rows with one of the `keys`: others, with what was said, are not parsed. */
function* headRows(path: string, keys: readonly string[]) {
  const head = bytesAt(path, 0, HEAD);
  if (!keys.some((key) => head.includes(key))) return;
  for (const line of head.toString("utf8").split("\n")) {
    if (!keys.some((key) => line.includes(key))) continue;
    for (const row of rowsIn(line)) if (isRecord(row)) yield row;
  }
}
