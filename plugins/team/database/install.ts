/** What a database needs before the plugins' tables: schema, roles, functions, and which session is in which space. */
import { isSessarcError, SessarcError } from "sessarc";
import type { Connection } from "./engine.ts";
import { AGGREGATES, FUNCTIONS } from "./functions.ts";

export const SEARCH_PATH = "set search_path = sessarc, pg_catalog";

/** Held while a schema changes. */
export const SCHEMA_LOCK = 7_305_913;

const ROLES = ["sessarc_member", "sessarc_writer"] as const;

/** Which collation knows the letters of every script: ICU's, else PostgreSQL's own of version 18 or 17. */
const LETTERS = ["und-x-icu", "pg_unicode_fast", "pg_c_utf8"];

const toSpace = (
  column: string,
) => `create or replace function team_space_of_${column}() returns trigger language plpgsql as $$ begin
  select t.space into new.space from sessarc.team_session t where t.tenant = new.tenant and t.session = new.${column};
  if new.space is null then raise exception 'session % is in no space', new.${column} using errcode = 'TS001'; end if;
  return new;
end $$`;

/** The batch under way raises the generation by one when it is committed. */
const NOTE_CHANGE = `create or replace function team_note_change() returns trigger language plpgsql as $$
  declare changed record := case when tg_op = 'DELETE' then old else new end;
  begin
    insert into sessarc.team_change (tenant, session, generation)
      values (changed.tenant, changed.id, 1 + coalesce((select g.generation from sessarc.team_generation g where g.tenant = changed.tenant), 0))
      on conflict (tenant, session) do update set generation = excluded.generation where team_change.generation <> excluded.generation;
    return null;
  end $$`;

/** Written as a list so that a later version adds to it; each statement may run at every start. */
const TABLES = [
  `create table if not exists migration (plugin text, number bigint, digest text, at text, primary key (plugin, number))`,
  "grant select on migration to sessarc_member, sessarc_writer",
  // Which space a session is in. Written before the session's first row. An empty digest: its own rows are not committed yet.
  `create table if not exists team_session (
     tenant bigint not null,
     session text collate "C" not null,
     space bigint not null,
     person text collate "C" not null,
     machine text collate "C" not null,
     digest text collate "C" not null default '',
     manifest text not null default '',
     pushed_at text not null default '',
     primary key (tenant, session)
   )`,
  // Where the session's machine has the repository, its working directory, and how it calls the project: redacted, as its messages are.
  ...["root", "cwd", "project_name"].map((name) => `alter table team_session add column if not exists ${name} text`),
  "create index if not exists team_session_space on team_session (tenant, space)",
  // `reader`: version of the adapter that made the stored messages. `log`: 1 if the raw log may be parsed again. `tried` and `problem`: the
  // last version that could not, and why. `recount`: 1 if another session no longer has replies that this one may have.
  `alter table team_session add column if not exists reader text collate "C" not null default '',
     add column if not exists log integer not null default 0,
     add column if not exists tried text collate "C" not null default '',
     add column if not exists problem text not null default '',
     add column if not exists recount integer not null default 0`,
  // How often the plugins' rows of a tenant changed.
  "create table if not exists team_generation (tenant bigint primary key, generation bigint not null)",
  "grant select on team_generation to sessarc_member",
  "grant select, insert, update on team_generation to sessarc_writer",
  // The generation in which a session's row last changed, so that a kernel reads again only what did.
  `create table if not exists team_change (
     tenant bigint not null, session text collate "C" not null, generation bigint not null, primary key (tenant, session)
   )`,
  "create index if not exists team_change_generation on team_change (tenant, generation)",
  "grant select, insert, update on team_change to sessarc_writer",
  "grant select on team_session to sessarc_member",
  "grant select, insert, update, delete on team_session to sessarc_writer",
  ...["team_session", "team_generation", "team_change"].flatMap((table) => [
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    ...["owner", "writer", "member"].map((name) => `drop policy if exists team_${name} on ${table}`),
    `create policy team_owner on ${table} to current_user using (true) with check (true)`,
    `create policy team_writer on ${table} to sessarc_writer using (tenant = (select current_setting('sessarc.tenant', true))::bigint)`,
    `create policy team_member on ${table} for select to sessarc_member using (tenant = (select current_setting('sessarc.tenant', true))::bigint${
      table === "team_session" ? " and space = any ((select current_setting('sessarc.spaces', true))::bigint[])" : ""
    })`,
  ]),
  ...["id", "session", "session_id"].map(toSpace),
  NOTE_CHANGE,
  "grant usage on schema sessarc to sessarc_member, sessarc_writer",
  "grant usage on schema sessarc_seen to sessarc_member",
  "grant execute on all functions in schema sessarc to sessarc_member, sessarc_writer",
  `create or replace view sqlite_master as select case relkind when 'i' then 'index' else 'table' end as type, relname::text as name
     from pg_class where relnamespace = 'sessarc'::regnamespace`,
  "grant select on sqlite_master to sessarc_member, sessarc_writer",
];

/** In a transaction, under the schema's lock. */
export async function install(connection: Connection): Promise<void> {
  await connection.execute("create schema if not exists sessarc; create schema if not exists sessarc_seen");
  await connection.execute(SEARCH_PATH.replace("set ", "set local "));
  await connection.execute("create extension if not exists pg_trgm with schema sessarc");
  await makeRoles(connection);
  await makeLetters(connection);
  for (const statement of FUNCTIONS) await connection.execute(statement);
  for (const [signature, make] of AGGREGATES) {
    const { rows } = await connection.query("select 1 from pg_aggregate where aggfnoid = to_regprocedure($1)", [
      `sessarc.${signature}`,
    ]);
    if (rows.length === 0) await connection.execute(make);
  }
  for (const statement of TABLES) await connection.execute(statement);
}

async function makeRoles(connection: Connection): Promise<void> {
  const { rows } = await connection.query(
    "select rolname from pg_roles where rolname = any (string_to_array($1, ','))",
    [ROLES.join()],
  );
  const known = new Set(rows.map(([name]) => name));
  const missing = ROLES.filter((role) => !known.has(role));
  // Asked first: a failed command ends the transaction, and the error must name the login.
  const user = String((await connection.query("select current_user", [])).rows[0]?.[0]);
  const grant = `grant ${ROLES.join(", ")} to current_user`;
  try {
    for (const role of missing) await connection.execute(`create role ${role} nologin`);
    const { rows: member } = await connection.query(
      "select 1 where pg_has_role(current_user, $1, 'member') and pg_has_role(current_user, $2, 'member')",
      [...ROLES],
    );
    if (member.length === 0) await connection.execute(grant);
  } catch (cause) {
    if (codeOf(cause) !== "42501") throw cause;
    throw new SessarcError("TEAM_ROLES_MISSING", { roles: [...ROLES], user }, { cause });
  }
}

async function makeLetters(connection: Connection): Promise<void> {
  const { rows } = await connection.query(
    "select collname, collnamespace = 'sessarc'::regnamespace from pg_collation where collname = 'letters' or collname = any (string_to_array($1, ','))",
    [LETTERS.join()],
  );
  if (rows.some(([name, ours]) => name === "letters" && ours === 1)) return;
  const best = LETTERS.find((one) => rows.some(([name]) => name === one)) ?? "default";
  await connection.execute(`create collation letters from pg_catalog."${best}"`);
}

/** PostgreSQL's code of an error. */
export function codeOf(error: unknown): string | undefined {
  if (isSessarcError(error) || !(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
