/** What pi needs to have a session back: its log, in a folder named after the project's path. */
import { basename, dirname, join } from "node:path";
import type { AdapterCapabilities } from "sessarc";
import { type AdapterEnv, headRows } from "sessarc/adapter";
import { isInside } from "sessarc/files";

type RescueContract = AdapterCapabilities["rescue"];

/** `roots`: its folders of sessions. */
export const rescue = (roots: (env: AdapterEnv) => readonly string[]): RescueContract => ({
  folders: roots,
  async copy({ key, path }, { key: to, cwd }, env) {
    const root = roots(env).find((one) => isInside(one, path)) ?? roots(env)[0] ?? dirname(path);
    const name = basename(path);
    // A folder of sessions that the user chose holds all of them.
    const folder = dirname(path) === root ? root : join(root, folderName(cwd));
    const at = new Date().toISOString();
    return {
      path: join(folder, name.includes(key) ? name.replace(key, to) : `${name.replace(/\.jsonl$/, "")}_${to}.jsonl`),
      // Rows are named by the head alone. Those before the copy's time are the original's: their tokens count there.
      row: (row) => (row.type === "session" ? { ...row, id: to, cwd, timestamp: at, parentSession: path } : row),
      index: [],
    };
  },
  /** It looks for the id in the heads of the logs in the folder's. */
  async finds({ key, path, cwd }, env) {
    const head = headRows(path).find((row) => row.type === "session");
    const isThere = roots(env).includes(dirname(path)) || basename(dirname(path)) === folderName(cwd);
    return isThere && head?.id === key && head.cwd === cwd;
  },
  start: (prompt) => ["pi", prompt],
});

/** A project's folder below `sessions`. */
const folderName = (cwd: string): string => `--${cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-")}--`;
