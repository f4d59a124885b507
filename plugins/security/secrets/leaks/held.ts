/** Files of the projects that hold a secret now. */
import { join, resolve } from "node:path";
import type { Kernel, PoolTask } from "sessarc";
import type { FileFingerprints } from "./files.ts";
import type { LeakLine } from "./types.ts";

/** Lines by fingerprint. */
export type Holders = ReadonlyMap<string, LeakLine[]>;

const FILES: PoolTask<[string[]], FileFingerprints[]> = {
  specifier: "sessarc/plugins/security/secrets/leaks/files",
  export: "fingerprintsIn",
  inline: async (paths) => (await import("./files.ts")).fingerprintsIn(paths),
};
/** Files searched for the secrets of the sessions, those of the newest findings first. */
const MOST_FILES = 500;
/** Files in which a project's secrets usually are; they are searched whether or not a call named them. */
const USUAL = [".env", ".env.local", ".env.development", ".env.production", ".env.test", ".npmrc"];

/** Answers which files hold which secrets. Questions at the same time share one search; the pool reads only files that changed. */
export function createHolders({ storage, pool }: Kernel): () => Promise<Holders> {
  let running: Promise<Holders> | undefined;
  return () => {
    running ??= search().finally(() => {
      running = undefined;
    });
    return running;
  };

  async function search(): Promise<Holders> {
    const rows = await storage.db.all<{ path: string; cwd: string | null }>(
      `select l.path, s.cwd from security_leak l join session s on s.id = l.session
       group by l.path, s.cwd order by max(l.last_at) desc, l.path, s.cwd limit ${MOST_FILES}`,
    );
    const paths = new Set<string>();
    for (const { path, cwd } of rows) {
      if (cwd === null) continue;
      if (path !== "") paths.add(resolve(cwd, path));
      for (const name of USUAL) paths.add(join(cwd, name));
    }
    const holders = new Map<string, LeakLine[]>();
    for (const { path, secrets } of await pool.run(FILES, [...paths].slice(0, MOST_FILES)))
      for (const { fingerprint, line } of secrets)
        holders.set(fingerprint, [...(holders.get(fingerprint) ?? []), { path, line }]);
    return holders;
  }
}
