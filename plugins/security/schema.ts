/** The tables. Once there is a release: append migrations, never edit one. */
export const migrations: readonly string[] = [
  `create table security_rule (id text primary key, data text not null, created_at text not null);
   create table security_builtin (id text primary key, enabled integer not null);
   create table security_check (
     session_id text primary key,
     transcript text not null,
     version text not null,
     data text not null
   );
   create table interception (
     id text primary key,
     at text not null,
     client text not null,
     tool_name text not null,
     path text,
     decision text not null,
     mode text not null,
     rules text not null,
     masked text not null,
     session_id text,
     ms real not null
   );
   create index interception_at on interception (at);
   -- What the indexer found: one row per secret and kind of place in a session.
   create table security_leak (
     session text not null,
     fingerprint text not null,
     rule_id text not null,
     confidence text not null,
     masked text not null,
     kind text not null,
     tool_name text not null,
     path text not null,
     command text not null,
     count integer not null,
     seq integer not null,
     field text not null,
     first_at text,
     last_at text
   );
   create index security_leak_session on security_leak (session);
   create index security_leak_fingerprint on security_leak (fingerprint);
   -- Messages that could not be checked, and secrets above the limit of rows.
   create table security_unchecked (session text primary key, messages integer not null, more integer not null);
   -- What the user says of a secret. It is kept when its sessions are deleted or imported again.
   create table security_mark (fingerprint text primary key, state text not null, at text not null);
   -- When each installed hook last asked.
   create table guard_fired (tool text primary key, hook text not null, at text not null);`,
  `-- Secrets that were removed, without their values: sums by which they are found again (MaskKey[]).
   create table security_scrub (fingerprint text primary key, rule_id text not null, masked text not null, keys text not null, at text not null);
   -- From which sessions. Kept when these are deleted: their logs may be imported again.
   create table security_scrub_session (
     session text not null,
     fingerprint text not null,
     count integer not null,
     at text not null,
     original integer not null,
     primary key (session, fingerprint)
   ) without rowid;
   -- Logs at assistants that were changed, and the copies of what they were.
   create table security_scrub_file (
     path text primary key,
     session text not null,
     backup text not null,
     -- SHA-256 before and after.
     before text not null,
     after text not null,
     at text not null
   ) without rowid;`,
  // SHA-256 of what a log was before its last change, if an earlier change had made it so: a kill may leave it as that.
  "alter table security_scrub_file add column was text",
];
