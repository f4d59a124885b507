/** The client's tables. What the server has is asked of it: `team_pushed` only saves redacting what did not change. */
export const migrations: readonly string[] = [
  `create table team_server (
     address text primary key,
     person_id text not null,
     person text not null,
     device text not null,
     machine text not null,
     key_file text not null,
     spaces text not null,
     space integer not null,
     joined_at text not null
   );
   create table team_project (
     address text not null,
     project_id text not null,
     space integer not null,
     primary key (address, project_id)
   );
   create table team_pushed (
     address text not null,
     session_id text not null,
     project_id text not null,
     pushed_id text not null,
     stamp text not null,
     digest text not null,
     at text not null,
     primary key (address, session_id)
   );
   create index team_pushed_session on team_pushed (session_id);
   create table team_withdrawn (
     address text not null,
     session_id text not null,
     pushed_id text not null,
     at text not null,
     receipt text not null,
     primary key (address, session_id)
   );`,
];
