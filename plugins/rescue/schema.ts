/** Tables of the rescue. Once there is a release: append migrations, never edit one. */
export const migrations: readonly string[] = [
  `-- What is stored of each session's log.
   create table rescue_log (
     session text primary key,
     -- Of the session's row that this belongs to.
     version text not null,
     path text not null,
     hidden text,
     bytes integer not null,
     stored integer not null,
     -- JSON of KeptFile[]; null: nothing is stored. Last, since a sum of the others then does not read its pages.
     files text
   ) without rowid;
   create index rescue_hidden on rescue_log (hidden) where hidden is not null;
   -- Chunks of logs, each stored once.
   create table rescue_chunk (
     -- SHA-256 of its bytes, base64url.
     hash text primary key,
     pack text not null,
     -- Where it begins in the pack's bytes, and how many it has.
     at integer not null,
     bytes integer not null,
     -- Sessions that name it in their files.
     refs integer not null
   ) without rowid;
   create index rescue_chunk_pack on rescue_chunk (pack);
   create index rescue_chunk_free on rescue_chunk (pack) where refs = 0;
   -- Files with chunks that are compressed together.
   create table rescue_pack (
     name text primary key,
     codec text not null,
     bytes integer not null,
     stored integer not null
   ) without rowid;
   -- What was written into the folders of assistants, so that it can be removed again.
   create table rescue_written (
     id integer primary key,
     session text not null,
     -- JSON of Written.
     written text not null,
     at text not null
   );
   create index rescue_written_session on rescue_written (session);
   -- Sessions whose log was removed at the assistant, to be put back from what is stored.
   create table rescue_reclaimed (
     session text primary key,
     bytes integer not null,
     at text not null
   ) without rowid;`,
];
