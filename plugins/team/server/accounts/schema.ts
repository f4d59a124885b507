/** Tables of people, machines, spaces, invitations and tokens, in PostgreSQL's SQL. Only the owner of the tables reads them. */
/** Once there is a release: append steps, never edit one. Every key begins with the tenant. Times are ms since the epoch. */
export const ACCOUNTS: readonly string[] = [
  [
    `create table team_setting (
       tenant bigint not null, name text not null, value text not null, primary key (tenant, name))`,
    `create table team_person (
       tenant bigint not null, id text not null, name text not null, created_at bigint not null, removed_at bigint,
       primary key (tenant, id))`,
    `create table team_device (
       tenant bigint not null, id text not null, person text not null, machine text not null, name text not null,
       public_key text not null, scopes text not null, created_at bigint not null, seen_at bigint, revoked_at bigint,
       primary key (tenant, id))`,
    "create unique index team_device_key on team_device (tenant, public_key)",
    "create unique index team_device_machine on team_device (tenant, machine)",
    "create index team_device_person on team_device (tenant, person)",
    `create table team_space (
       tenant bigint not null, id bigint not null, name text not null, kind text not null, created_at bigint not null,
       primary key (tenant, id))`,
    `create table team_space_person (
       tenant bigint not null, space bigint not null, person text not null, mine integer not null default 0,
       primary key (tenant, space, person))`,
    "create index team_space_person_person on team_space_person (tenant, person)",
    `create table team_invite (
       tenant bigint not null, id text not null, code text not null, person text, scopes text not null, spaces text not null,
       made_by text, created_at bigint not null, expires_at bigint not null, used_at bigint, used_by text, revoked_at bigint,
       primary key (tenant, id))`,
    "create unique index team_invite_code on team_invite (tenant, code)",
    `create table team_token (
       tenant bigint not null, hash text not null, kind text not null, device text not null, scopes text not null,
       created_at bigint not null, expires_at bigint not null, primary key (tenant, hash))`,
    "create index team_token_device on team_token (tenant, device)",
    `create table team_nonce (
       tenant bigint not null, device text not null, nonce text not null, expires_at bigint not null,
       primary key (tenant, device, nonce))`,
    `create table team_access (
       tenant bigint not null, at bigint not null, id text not null, person text, device text, remote text not null,
       method text not null, path text not null, status integer not null, code text, primary key (tenant, at, id))`,
    `create table team_blob (
       tenant bigint not null, person text not null, sha256 text not null, bytes bigint not null, at bigint not null,
       primary key (tenant, person, sha256))`,
    "create index team_blob_hash on team_blob (tenant, sha256)",
    `create table team_session_blob (
       tenant bigint not null, session text not null, sha256 text not null, primary key (tenant, session, sha256))`,
    "create index team_session_blob_hash on team_session_blob (tenant, sha256)",
    `create table team_withdrawn (
       tenant bigint not null, session text not null, digest text not null, at bigint not null, root text not null,
       primary key (tenant, session))`,
    "create index team_withdrawn_root on team_withdrawn (tenant, root)",
    `create table team_orphan (
       tenant bigint not null, kind text not null, key text not null, at bigint not null, primary key (tenant, kind, key))`,
    `create table team_left (tenant bigint not null, key text not null, at bigint not null, primary key (tenant, key))`,
  ].join(";\n"),
  // Of read tokens alone: a public id, by which one is listed and revoked, and a name.
  [
    "alter table team_token add column id text",
    "alter table team_token add column name text",
    "alter table team_token add column used_at bigint",
  ].join(";\n"),
  // What is in a chunk; null where an earlier version stored it.
  ["alter table team_blob add column inflated bigint", "alter table team_blob add column lines bigint"].join(";\n"),
  // The machine that made an invitation: it ends with it.
  "alter table team_invite add column device text; create index team_invite_device on team_invite (tenant, device)",
];
