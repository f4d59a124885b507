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
   create table guard_install (
     tool text primary key,
     id text not null,
     path text not null,
     real_path text not null,
     format text not null,
     created integer not null,
     made_folder text,
     before_sha text,
     after_sha text not null,
     backup text,
     made text not null,
     url text not null,
     on_failure text not null,
     mode text not null,
     installed_at text not null,
     last_fired_at text
   );`,
];
