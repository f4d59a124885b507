/** The installed hooks: one row per assistant. */

import { type Database, marks, type Statement } from "sessarc";

export interface InstallRow {
  tool: string;
  /** The id in the hook's address. */
  id: string;
  path: string;
  real_path: string;
  format: string;
  /** 1 if installing created the settings file. */
  created: number;
  /** Topmost folder that installing created. */
  made_folder: string | null;
  /** Null if the previous settings cannot be restored byte for byte. */
  before_sha: string | null;
  after_sha: string;
  backup: string | null;
  /** JSON: containers that the edit created. */
  made: string;
  url: string;
  on_failure: "allow" | "block";
  mode: "enforce" | "observe";
  installed_at: string;
  last_fired_at: string | null;
  /** 1 if the hooks that report waiting are installed, too. */
  waiting: number;
}

const COLUMNS = [
  "tool",
  "id",
  "path",
  "real_path",
  "format",
  "created",
  "made_folder",
  "before_sha",
  "after_sha",
  "backup",
  "made",
  "url",
  "on_failure",
  "mode",
  "installed_at",
  "last_fired_at",
  "waiting",
] as const satisfies readonly (keyof InstallRow)[];

/** Shortest time between two writes of `last_fired_at`. */
const FIRED_MS = 10_000;

export function createLedger(db: Database) {
  let rows: Promise<Map<string, InstallRow>> | undefined;
  const fired = new Map<string, { at: string; written: number }>();

  const all = (): Promise<Map<string, InstallRow>> => {
    rows ??= db
      .all<InstallRow>("select * from guard_install")
      .then((list) => new Map(list.map((row) => [row.tool, row])));
    rows.catch(() => {
      rows = undefined;
    });
    return rows;
  };

  return {
    /** Cached, because the guard asks at every call. */
    all,
    async put(row: InstallRow): Promise<void> {
      await db.run(
        `insert or replace into guard_install (${COLUMNS.join(", ")}) values (${marks(COLUMNS)})`,
        COLUMNS.map((name) => row[name]),
      );
      rows = undefined;
    },
    async remove(tool: string): Promise<void> {
      await db.run("delete from guard_install where tool = ?", [tool]);
      rows = undefined;
    },
    async fired(client: string, hook: string | undefined, at: Date): Promise<Statement | undefined> {
      const row = (await all()).get(client);
      if (!row || row.id !== hook) return undefined;
      const iso = at.toISOString();
      const known = fired.get(client);
      // The wall clock may be set back.
      const now = performance.now();
      const due = !known || now - known.written > FIRED_MS;
      fired.set(client, { at: iso, written: due ? now : known.written });
      if (!due) return undefined;
      row.last_fired_at = iso;
      return ["update guard_install set last_fired_at = ? where tool = ?", [iso, client]];
    },
    async lastFired(row: InstallRow): Promise<string | null> {
      return fired.get(row.tool)?.at ?? row.last_fired_at;
    },
  };
}
