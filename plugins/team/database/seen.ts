/** What a member sees instead of a table that all spaces share: its row as the spaces of the reader made it. */
import type { Connection } from "./engine.ts";

/** Where a member looks first. */
export const SEEN_PATH = "sessarc_seen, sessarc, pg_catalog";

const TENANT = "(select current_setting('sessarc.tenant', true))::bigint";
const SPACES = "(select current_setting('sessarc.spaces', true))::bigint[]";

/** It asks as the owner of the tables, so the condition of a policy is in it. Name and time are those of the oldest session that the reader may read. */
const PROJECT = `create view sessarc_seen.project with (security_barrier) as
  select p.id, p.kind, p.key, p.path, p.root_commit, seen.derived_name, p.name, seen.created_at, p.tenant
  from sessarc.project p cross join lateral (
    select coalesce(t.project_name, nullif(t.manifest, '')::json -> 'project' ->> 'name', p.derived_name) collate "C" as derived_name,
      s.imported_at as created_at
    from sessarc.session s join sessarc.team_session t on t.tenant = s.tenant and t.session = s.id
    where s.tenant = p.tenant and s.project_id = p.id and s.space = any (${SPACES})
    order by s.sort_at, s.id limit 1
  ) seen
  where p.tenant = ${TENANT}`;

/** Creates the views whose tables are there. In a transaction, under the schema's lock. */
export async function createSeen(connection: Connection): Promise<void> {
  const { rows } = await connection.query(
    "select 1 where to_regclass('sessarc.project') is not null and to_regclass('sessarc.session') is not null and to_regclass('sessarc_seen.project') is null",
    [],
  );
  if (rows.length === 0) return;
  await connection.execute(PROJECT);
  await connection.execute("grant select on sessarc_seen.project to sessarc_member");
}
