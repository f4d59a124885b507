/** Where secrets were met: messages of sessions, with the session's name and project. */
import { type Database, type EventKind, marks } from "sessarc";
import type { LeakPlace } from "./types.ts";

interface PlaceRow {
  fingerprint: string;
  session: string;
  title: string | null;
  project_id: string | null;
  seq: number;
  field: string;
  kind: EventKind;
  tool_name: string;
  path: string;
  command: string;
  count: number;
  first_at: string | null;
  last_at: string | null;
}

type Hide = (text: string) => Promise<string>;

const MOST_PLACES = 200;
const TITLE_CHARS = 160;
/** A title is masked before it is cut, so that no half of a secret stays. */
const READ_CHARS = 2_000;
const PLACES = `select l.*, substr(coalesce(s.name, s.title, s.first_prompt), 1, ${READ_CHARS}) as title, s.project_id
  from security_leak l left join session s on s.id = l.session`;

/** Of places at the same time the first of a session, so that the same question has the same answer. */
const NEWEST = "l.last_at desc, l.session, l.seq, l.field";

/** Places of a secret, the newest first. */
export async function placesOf(db: Database, hide: Hide, fingerprint: string): Promise<LeakPlace[]> {
  const rows = await db.all<PlaceRow>(`${PLACES} where l.fingerprint = ? order by ${NEWEST} limit ${MOST_PLACES}`, [
    fingerprint,
  ]);
  return toPlaces(rows, hide);
}

/** The newest place of each secret. */
export async function newestPlaces(
  db: Database,
  hide: Hide,
  fingerprints: readonly string[],
): Promise<Map<string, LeakPlace>> {
  const rows = await db.all<PlaceRow>(`${PLACES} where l.fingerprint in (${marks(fingerprints)}) order by ${NEWEST}`, [
    ...fingerprints,
  ]);
  const newest = [...new Map(rows.reverse().map((row) => [row.fingerprint, row])).values()];
  const places = await toPlaces(newest, hide);
  return new Map(newest.flatMap(({ fingerprint }, index) => (places[index] ? [[fingerprint, places[index]]] : [])));
}

/** Projects whose sessions hold a secret, by fingerprint. */
export async function projectsOf(
  db: Database,
  fingerprints: readonly string[],
): Promise<Map<string, { id: string; name: string }[]>> {
  const rows = await db.all<{ fingerprint: string; id: string; name: string }>(
    `select distinct l.fingerprint, p.id, coalesce(p.name, p.derived_name) as name
     from security_leak l join session s on s.id = l.session join project p on p.id = s.project_id
     where l.fingerprint in (${marks(fingerprints)}) order by name, p.id`,
    [...fingerprints],
  );
  const found = new Map<string, { id: string; name: string }[]>();
  for (const { fingerprint, id, name } of rows)
    found.set(fingerprint, [...(found.get(fingerprint) ?? []), { id, name }]);
  return found;
}

async function toPlaces(rows: readonly PlaceRow[], hide: Hide): Promise<LeakPlace[]> {
  const titles = new Map<string, string>();
  for (const { session, title } of rows)
    if (title !== null && !titles.has(session)) titles.set(session, toTitle(await hide(title)));
  return rows.map((row) => ({
    ...{ sessionId: row.session, title: titles.get(row.session) ?? null, projectId: row.project_id },
    ...{ seq: row.seq, field: row.field, kind: row.kind },
    ...{ tool: row.tool_name || null, path: row.path || null, command: row.command || null },
    ...{ count: row.count, firstAt: row.first_at, lastAt: row.last_at },
  }));
}

const toTitle = (text: string) => [...text.trim().replace(/\s+/g, " ")].slice(0, TITLE_CHARS).join("");
