/** The catalogue's tables. Once there is a release: append migrations, never edit one. */
export const migrations: readonly string[] = [
  `create table project (
     id text primary key,
     kind text not null,
     key text not null unique,
     path text,
     root_commit text,
     derived_name text not null,
     name text,
     created_at text not null
   );
   create table project_alias (path text primary key, project_id text not null);
   create table association (virtual_id text primary key, project_id text not null, at text not null);
   create table session (
     id text primary key,
     tool text not null,
     key text not null,
     origin_id text not null,
     project_id text not null,
     parent_id text,
     forked_from text,
     name text,
     title text,
     first_prompt text,
     cwd text,
     git_branch text,
     started_at text,
     ended_at text,
     sort_at integer not null,
     active_ms integer not null,
     message_count integer not null,
     error_count integer not null,
     usage text not null,
     inherited text,
     evidence text,
     logged text,
     remembered text,
     skipped text,
     source_path text not null,
     source_version text not null,
     source_bytes integer not null,
     source_mtime integer not null,
     source_born real not null,
     exclusive integer not null,
     companions text,
     missing integer not null default 0,
     generation integer not null,
     parts text not null,
     transcript_bytes integer not null,
     assistant_version text,
     imported_at text not null,
     format integer not null default 0,
     copied integer not null default 0,
     lineage integer not null default 0
   );
   create index session_project on session (project_id, sort_at desc);
   create index session_origin on session (origin_id);
   create index session_parent on session (parent_id);
   -- With what a list is filtered by a word: such a filter reads every session, and the index is a fifteenth of the table.
   create index session_sort on session (sort_at desc, id, name, title, first_prompt);
   create table session_replies (
     n integer primary key,
     session_id text not null unique,
     tool text not null,
     born real not null,
     hashes blob not null
   );
   create table reply (hash integer not null, book integer not null, primary key (hash, book)) without rowid;
   create table tombstone (
     session_id text primary key,
     at text not null,
     generation integer not null default 0,
     with_id text
   );
   create table earlier (
     session_id text not null,
     version integer not null,
     parts text not null,
     transcript_bytes integer not null,
     own text not null,
     names blob not null,
     own_count integer not null,
     kept_at text not null,
     primary key (session_id, version)
   );
   -- What every import asks for whatever it brought, and every page of a listing: without reading all sessions.
   create index session_uncompared on session (id) where copied = -1;
   create index session_counts on session (project_id, sort_at, parent_id, message_count, ended_at, tool);
   create index session_totals on session (transcript_bytes, message_count, tool, assistant_version);
   create index session_written on session (source_mtime);
   create index session_forked on session (forked_from) where forked_from is not null;
   create index session_unsettled on session (id) where lineage >= 8;
   -- One for each order of a listing.
   create index session_errors on session (error_count desc, id);
   create index session_bytes on session (source_bytes desc, id);
   create index session_messages on session (message_count desc, id);
   create index session_active on session (active_ms desc, id);
   create index session_undated on session (sort_at desc, id) where ended_at is null and started_at is null;
   -- When the user first imported: sessions written since then are imported without being asked.
   create table import_state (first_at text not null);
   -- Which indexer read which session, and its error where it failed.
   create table indexed (
     session text not null,
     indexer text not null,
     version integer not null,
     error text,
     primary key (session, indexer)
   ) without rowid;
   create index indexed_failed on indexed (indexer) where error is not null;`,
  `alter table session add column left_out integer;
   create index session_left_out on session (id) where left_out is not null;`,
  // What a count of the sessions of a list reads.
  "create index session_top on session (parent_id, message_count, copied);",
  // Other sessions of a folder that is gone.
  "create index session_cwd on session (cwd) where cwd is not null;",
];
