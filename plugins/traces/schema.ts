/** What assistants list of their sessions beside the logs. A trace is stored where the archive had no such session when the list was read. */
export const migrations: readonly string[] = [
  `create table trace (
     id text primary key,
     tool text not null,
     title text,
     cwd text,
     removed integer not null default 0
   ) without rowid;
   -- Lists are read again from their last line: what is there already has the same key.
   create table trace_prompt (
     trace text not null,
     at integer not null,
     hash text not null,
     text text not null,
     primary key (trace, at, hash)
   ) without rowid;
   create table trace_file (path text primary key, size integer not null, mtime real not null, next integer not null) without rowid;`,
];
