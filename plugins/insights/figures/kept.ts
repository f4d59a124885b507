/**
 * Figures kept from start to start: one file, named by a row of the table `derived` together with the last change it knows. A file that is
 * missing, damaged, or of another catalogue is as good as none.
 */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "sessarc";
import type { CubeSession } from "./cube-session.ts";
import { readFigures, writeFigures } from "./figures-file.ts";
import type { Rollup } from "./rollup.ts";

const NAME = /^[0-9a-f]{16}\.figures$/;
const ROW = "figures";
/** Changes taken out by one statement: some 3 ms, now and at each start until the next snapshot. */
const AT_ONCE = 1_000;

export interface KeptFigures {
  load(): Promise<{ sessions: CubeSession[]; rollup: Rollup; upto: number } | undefined>;
  /** `upto`: number of the last change they know. False: they could not be kept. */
  store(sessions: readonly CubeSession[], rollup: Rollup, upto: number): Promise<boolean>;
}

/** `folder` is made when there is something to keep. */
export function createKept(db: Database, { folder, readOnly }: { folder: string; readOnly: boolean }): KeptFigures {
  const named = () => db.get<{ token: string; upto: number }>("select token, upto from derived where name = ?", [ROW]);
  /** All but one. */
  const sweep = async (name: string | undefined) => {
    for (const other of await readdir(folder).catch(() => []))
      if (NAME.test(other) && other !== name) await rm(join(folder, other), { force: true });
  };
  /** Changes that are known are needed by nobody. What a crash leaves of them is taken out the next time. */
  const forget = async (upto: number) => {
    const { first } = (await db.get<{ first: number | null }>("select min(n) as first from session_change")) ?? {};
    for (let n = first ?? upto + 1; n <= upto; n += AT_ONCE)
      await db.run("delete from session_change where n <= ?", [Math.min(n + AT_ONCE - 1, upto)]);
  };
  return {
    async load() {
      const row = await named();
      if (!readOnly) await sweep(row?.token);
      if (!row) return undefined;
      try {
        return { ...(await readFigures(join(folder, row.token))), upto: row.upto };
      } catch {
        return undefined;
      }
    },
    async store(sessions, rollup, upto) {
      if (readOnly) return false;
      const { undone } = db;
      const name = `${randomBytes(8).toString("hex")}.figures`;
      const path = join(folder, name);
      // At once: the sums go on with the archive.
      await writeFigures(path, sessions, rollup, () => mkdir(folder, { recursive: true, mode: 0o700 }));
      if (undone !== db.undone) {
        await rm(path, { force: true });
        return false;
      }
      // Only now it counts: a crash before leaves a file that nobody names.
      await db.run("insert or replace into derived (name, token, upto) values (?, ?, ?)", [ROW, name, upto]);
      // It may have waited for a disk that refused what the figures know.
      const isSure = undone === db.undone;
      if (!isSure) await db.run("delete from derived where name = ?", [ROW]);
      await sweep(isSure ? name : undefined);
      if (isSure) await forget(upto);
      return isSure;
    },
  };
}
