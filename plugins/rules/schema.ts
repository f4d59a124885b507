/** Lines that were accepted or dismissed, and what proofs came to. Times are ms since the epoch. */
export const migrations: readonly string[] = [
  // `seeds`: JSON, what the user said (correction) or the mistake's key (command): later sessions are compared with them.
  // `times`, `sessions`, `tokens`: how often it happened before, in how many sessions that were read, and what the failed calls took.
  `create table rule_accepted (
     id text primary key,
     project_id text not null,
     kind text not null,
     line text not null,
     path text not null,
     seeds text not null,
     times bigint not null,
     sessions bigint not null,
     tokens bigint not null,
     accepted_at bigint not null
   );
   create table rule_proof (
     id text primary key,
     project_id text not null,
     line text not null,
     proof text not null,
     proved_at bigint not null
   );`,
  // `seeds` as above: what the user does not want to be proposed again.
  `create table rule_dismissed (
     id text primary key,
     project_id text not null,
     kind text not null,
     line text not null,
     seeds text not null,
     dismissed_at bigint not null
   );`,
];
