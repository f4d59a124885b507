/** SQLite databases of one's own as bytes: samples and fixtures in the shape of other programs' files. */
import { loadSqlJs } from "./sqljs.ts";
import type { SqlValue } from "./types.ts";

/** Runs `write` over an empty database in memory and answers the file it makes. */
export async function buildSqlite(
  write: (run: (sql: string, params?: readonly SqlValue[]) => void) => void,
): Promise<Uint8Array> {
  const sql = await loadSqlJs();
  const db = new sql.Database();
  try {
    write((text, params = []) => void db.run(text, [...params]));
    return db.export();
  } finally {
    db.close();
  }
}
