/** What the indexer `findings` fills. */
export const migrations: readonly string[] = [
  // `seq` and `last`: the messages at which it begins and ends. `tokens`: about how many were sent again. `ms`: how long it took.
  `create table health_finding (
     session text not null,
     kind text not null,
     seq integer not null,
     last integer not null,
     count integer not null,
     tool text not null,
     subject text not null,
     tokens integer not null,
     ms integer not null
   );
   create index health_finding_session on health_finding (session);
   create table health_file (
     session text not null,
     path text not null,
     reads integer not null,
     chars integer not null,
     primary key (session, path)
   ) without rowid;
   -- errors: calls that failed, with their characters.
   create table health_tool (
     session text not null,
     tool text not null,
     calls integer not null,
     failed integer not null,
     first_failed integer not null,
     errors text not null,
     primary key (session, tool)
   ) without rowid;`,
];
