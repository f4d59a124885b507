/** What the indexer `findings` fills, and of each session the prompt of its newest reply. */
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
   create table health_tool (
     session text not null,
     tool text not null,
     calls integer not null,
     failed integer not null,
     first_failed integer not null,
     primary key (session, tool)
   ) without rowid;`,
  // Of the calls that failed: about how many tokens, and the first of them.
  `alter table health_tool add column tokens integer not null default 0;
   alter table health_tool add column seq integer not null default 0;`,
  // `most`: the largest prompt of this model in the session. `errors`: calls that failed, with their characters.
  `create table health_context (
     session text primary key,
     model text not null,
     tokens integer not null,
     most integer not null
   ) without rowid;
   alter table health_tool drop column tokens;
   alter table health_tool drop column seq;
   alter table health_tool add column errors text not null default '[]';`,
];
