/** Tables of notes. Nothing of them is deleted with a session: what is imported again has its notes back. */
export const migrations: readonly string[] = [
  // `message`: '' for the session itself, else the fingerprint of the message; `seq`: where it is now, null when the log no longer has it.
  `create table note_mark (
     session text not null,
     message text not null,
     seq integer,
     bookmarked integer not null,
     note text not null,
     excerpt text not null,
     updated_at text not null,
     primary key (session, message)
   ) without rowid;
   create table note_tag (
     session text not null,
     message text not null,
     tag text not null,
     primary key (tag, session, message)
   ) without rowid;
   create index note_tag_session on note_tag (session, message);
   create table note_search (
     name text primary key collate nocase,
     query text not null,
     updated_at text not null
   );`,
];
