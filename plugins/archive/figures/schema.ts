/** Tables of the figures: what each session did, by UTC quarter-hour. `write.ts` fills them in the batch that stores the session, `read.ts` reads them back. */
export const migrations: readonly string[] = [
  // One row per session. `root` is the session that counts for it: its own id, or that of the session it was started from, through all
  // levels. `first` and `last` are quarter-hours; null without any. `prompt`: tokens sent, those of caches among them.
  // `usage_total` and the sums of `usage_session` spare reading the quarter-hours of sessions that lie in a range as a whole: at 20,000
  // sessions that is most of what a question costs.
  `create table usage_session (
     session text primary key,
     tool text not null,
     kind text not null,
     project text not null,
     parent text,
     root text not null,
     ended integer,
     first integer,
     last integer,
     messages integer not null,
     active_ms integer not null,
     errors integer not null,
     prompt integer not null,
     records integer not null,
     requests integer not null,
     duplicates integer not null,
     inherited integer not null
   ) without rowid;
   create index usage_session_parent on usage_session (parent) where parent is not null;
   create table usage_work (
     session text not null,
     quarter integer not null,
     messages integer not null,
     active_ms integer not null,
     errors integer not null,
     primary key (session, quarter)
   ) without rowid;
   create table usage_tokens (
     session text not null,
     quarter integer not null,
     model text not null,
     input integer not null,
     output integer not null,
     cache_write_5m integer not null,
     cache_write_1h integer not null,
     cache_read integer not null,
     primary key (session, quarter, model)
   ) without rowid;
   create table usage_total (
     session text not null,
     model text not null,
     input integer not null,
     output integer not null,
     cache_write_5m integer not null,
     cache_write_1h integer not null,
     cache_read integer not null,
     primary key (session, model)
   ) without rowid;
   create table usage_call (
     session text not null,
     name text not null,
     calls integer not null,
     errors integer not null,
     primary key (session, name)
   ) without rowid;
   create table usage_kind (
     session text not null,
     kind text not null,
     messages integer not null,
     primary key (session, kind)
   ) without rowid;
   create table usage_model (model text primary key) without rowid;
   create table usage_skill (
     session text not null,
     name text not null,
     calls integer not null,
     failures integer not null,
     last_at integer,
     primary key (session, name)
   ) without rowid;
   create index usage_skill_name on usage_skill (name);
   -- Of the newest reply: its model, the tokens of its prompt, and the largest prompt of that model in the session.
   create table usage_context (
     session text primary key,
     model text not null,
     tokens integer not null,
     most integer not null
   ) without rowid;
   -- JSON: reads and edits by path. As rows they would be most of the archive's rows, and views read them by session.
   create table usage_files (session text primary key, files text not null) without rowid;
   -- JSON: what the counting goes on from when the log grows.
   create table usage_state (session text primary key, state text not null) without rowid;`,
  // A session is moved to another project, or its origin becomes known, without being read again.
  `create trigger usage_session_moved after update of project_id, parent_id, forked_from on session begin
     update usage_session set project = new.project_id,
       kind = case when new.parent_id is not null then 'subagent' when new.forked_from is not null then 'fork' else 'main' end
     where session = new.id;
   end;`,
  // The rows of a session go with its first one.
  `create trigger usage_session_removed after delete on usage_session begin
     delete from usage_work where session = old.session;
     delete from usage_tokens where session = old.session;
     delete from usage_total where session = old.session;
     delete from usage_call where session = old.session;
     delete from usage_kind where session = old.session;
     delete from usage_skill where session = old.session;
     delete from usage_context where session = old.session;
     delete from usage_files where session = old.session;
     delete from usage_state where session = old.session;
   end;`,
];
