/** The logs below a root, each under the key it is archived under. */

import { type Database, marks, pages, type SessionRef } from "sessarc";
import type { Adapter, AdapterEnv } from "sessarc/adapter";

/** Ids per look-up. */
const PAGE = 500;

/**
 * What `adapter.scan` yields. A log that may have another key (`otherKey`: two logs of one session, one of which came or went) keeps that
 * under which its text is stored: under a new one its messages would be archived, and counted, twice.
 */
export async function* listLogs(
  adapter: Adapter,
  root: string,
  env: AdapterEnv,
  db: Database,
): AsyncGenerator<SessionRef> {
  const shared: SessionRef[] = [];
  for await (const ref of adapter.scan(root, env)) {
    if (ref.otherKey === undefined) yield ref;
    else shared.push(ref);
  }
  if (shared.length > 0) yield* asStored(shared, await readPaths(db, shared));
}

function asStored(refs: readonly SessionRef[], paths: ReadonlyMap<string, string>): SessionRef[] {
  const isStored = ({ tool, path }: SessionRef, key: string | undefined) => paths.get(`${tool}:${key}`) === path;
  const kept = new Map<string, SessionRef>();
  const open: SessionRef[] = [];
  for (const ref of refs) {
    if (isStored(ref, ref.key)) kept.set(ref.key, ref);
    else if (isStored(ref, ref.otherKey)) kept.set(ref.otherKey as string, swapped(ref));
    else open.push(ref);
  }
  for (const ref of open) {
    const one = kept.has(ref.key) ? swapped(ref) : ref;
    kept.set(one.key, one);
  }
  return [...kept.values()];
}

const swapped = (ref: SessionRef): SessionRef => ({ ...ref, key: ref.otherKey ?? ref.key, otherKey: ref.key });

/** Where the stored sessions among `refs` were read from, by id. */
async function readPaths(db: Database, refs: readonly SessionRef[]): Promise<Map<string, string>> {
  const ids = refs.flatMap(({ tool, key, otherKey }) => [`${tool}:${key}`, `${tool}:${otherKey}`]);
  const paths = new Map<string, string>();
  for (const page of pages(ids, PAGE)) {
    const rows = await db.all<{ id: string; source_path: string }>(
      `select id, source_path from session where id in (${marks(page)})`,
      page,
    );
    for (const row of rows) paths.set(row.id, row.source_path);
  }
  return paths;
}
