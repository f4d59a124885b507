/** Times are ms since the epoch: what is compared is a number. Once there is a release: append migrations, never edit one. */
export const migrations: readonly string[] = [
  `create table share (
     id text primary key,
     token_hash text not null unique,
     session_id text not null,
     title text not null,
     file_name text not null,
     redactions text not null,
     created_at integer not null,
     expires_at integer not null,
     revoked_at integer,
     has_body integer not null,
     views integer not null,
     checksum text not null
   );`,
];
