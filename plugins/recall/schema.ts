/** What the indexer `facts` fills. */
export const migrations: readonly string[] = [
  // `at`: ms. `files`: JSON, paths as the calls wrote them. `other`: the call that failed, or the one that fixed it.
  `create table recall_facts (
     session text not null,
     seq integer not null,
     kind text not null,
     at integer,
     subject text not null,
     family text not null,
     command text not null,
     text text not null,
     files text not null,
     other integer,
     count integer not null,
     primary key (session, seq, kind)
   ) without rowid;
   create index recall_facts_family on recall_facts (family) where family <> '';
   -- The last part of each path that a fact names.
   create table recall_file (name text not null, session text not null, primary key (session, name)) without rowid;
   create index recall_file_name on recall_file (name);`,
];
