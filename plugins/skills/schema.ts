/** Tables of skills. Times are ms since the epoch. Once there is a release: append migrations, never edit one. */
export const migrations: readonly string[] = [
  `create table skill (
     id text primary key,
     name text not null,
     description text not null,
     tags text not null,
     rating integer not null,
     origin text,
     base text not null,
     upstream text,
     imported_at integer not null,
     deleted_at integer
   );
   create table skill_snapshot (
     seq integer primary key autoincrement,
     id text not null unique,
     skill_id text not null,
     at integer not null,
     reason text not null,
     content_hash text not null,
     size integer not null,
     manifest text not null,
     origin text
   );
   create index skill_snapshot_skill on skill_snapshot (skill_id, seq);
   create table skill_link (
     path text primary key,
     skill_id text not null,
     tool text not null,
     scope text not null,
     project_id text,
     kind text not null,
     target text not null,
     stage text,
     identity text,
     before text not null,
     made text not null,
     state text not null,
     created_at integer not null
   );
   create index skill_link_skill on skill_link (skill_id);
   create table skill_intent (id text primary key, skill_id text not null, work text not null, at integer not null);`,
];
