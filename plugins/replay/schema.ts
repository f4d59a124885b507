/** Times are ms since the epoch. Once there is a release: append migrations, never edit one. */
export const migrations: readonly string[] = [
  `create table replay_sandbox (
     session_id text primary key,
     folder text not null unique,
     root text,
     repository text,
     base_commit text,
     base_at text,
     files integer not null,
     notes text not null,
     unisolated integer not null,
     created_at integer not null,
     used_at integer not null
   );
   create table replay_step (
     session_id text not null,
     step text not null,
     position integer not null,
     fingerprint text not null,
     state text not null,
     exit_code integer,
     stdout text,
     stderr text,
     reason text,
     changed text not null,
     delta text not null,
     comparison text,
     ran_at integer not null,
     primary key (session_id, step)
   );`,
  `alter table replay_sandbox add column branch text;
   alter table replay_step add column unchecked text;`,
];
