/** Searches with a name. */
import { type Database, SessarcError } from "sessarc";
import "./errors.ts";

export interface SavedSearch {
  name: string;
  /** As `q` of GET /search takes it. */
  query: string;
  updatedAt: string;
}

export const listSearches = (db: Database): Promise<SavedSearch[]> =>
  db.all("select name, query, updated_at as updatedAt from note_search order by name");

/** Another one of this name is replaced. */
export async function saveSearch(db: Database, name: string, query: string): Promise<SavedSearch[]> {
  await db.batch([
    ["delete from note_search where name = ?", [name]],
    ["insert into note_search values (?, ?, ?)", [name, query, new Date().toISOString()]],
  ]);
  return listSearches(db);
}

export async function removeSearch(db: Database, name: string): Promise<SavedSearch[]> {
  if (!(await db.get("select 1 from note_search where name = ?", [name])))
    throw new SessarcError("SEARCH_NOT_FOUND", { name });
  await db.run("delete from note_search where name = ?", [name]);
  return listSearches(db);
}
