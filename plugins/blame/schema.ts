/** What sessions wrote, by file: filled by the indexer `writes`. */
export const migrations: readonly string[] = [
  // `name`: last part of `path`, by which a file's writers are found. `lines`: 32 bits a line (`indexer/rows.ts`).
  `create table blame_file (
     session text not null,
     path text not null,
     name text not null,
     calls text not null,
     lines blob not null,
     primary key (session, path)
   ) without rowid;
   create index blame_file_name on blame_file (name);
   create table blame_session (session text primary key, prompts text not null) without rowid;`,
];
