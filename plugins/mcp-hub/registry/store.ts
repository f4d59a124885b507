/** SQL of the registry, one function per question. What a service holds is sealed as a whole: no column can leak it. */
import type { Database, Statement } from "sessarc";

export const migrations = [
  `create table mcp_service (id text primary key, sealed text not null);
   create table mcp_builtin (id text primary key, data text not null);
   create table mcp_tool (
     service text not null,
     name text not null,
     digest text not null,
     definition text not null,
     accepted_at text not null,
     primary key (service, name)
   );
   create table mcp_call (
     id integer primary key,
     at integer not null,
     service text not null,
     tool text not null,
     name text not null,
     client text,
     tool_use_id text,
     ms real not null,
     ok integer not null,
     tokens_in integer not null,
     tokens_out integer not null,
     session_id text,
     seq integer,
     model text
   );
   create index mcp_call_open on mcp_call (session_id, at);
   create table mcp_grant (id text primary key, sealed text not null);`,
] as const;

export interface AcceptedTool {
  name: string;
  digest: string;
  /** JSON of the definition as it was accepted. */
  definition: string;
}

export function createRegistryStore(db: Database) {
  return {
    services: () => db.all<{ id: string; sealed: string }>("select id, sealed from mcp_service order by id"),
    put: (id: string, sealed: string) =>
      db.run(
        "insert into mcp_service (id, sealed) values (?, ?) on conflict (id) do update set sealed = excluded.sealed",
        [id, sealed],
      ),
    remove: (id: string) =>
      db.batch([
        ["delete from mcp_service where id = ?", [id]],
        ["delete from mcp_tool where service = ?", [id]],
        ["delete from mcp_grant where id = ?", [id]],
      ]),
    grant: (id: string) => db.get<{ sealed: string }>("select sealed from mcp_grant where id = ?", [id]),
    putGrant: (id: string, sealed: string) =>
      db.run(
        "insert into mcp_grant (id, sealed) values (?, ?) on conflict (id) do update set sealed = excluded.sealed",
        [id, sealed],
      ),
    builtin: (id: string) => db.get<{ data: string }>("select data from mcp_builtin where id = ?", [id]),
    putBuiltin: (id: string, data: string) =>
      db.run("insert into mcp_builtin (id, data) values (?, ?) on conflict (id) do update set data = excluded.data", [
        id,
        data,
      ]),
    accepted: (service: string) =>
      db.all<AcceptedTool>("select name, digest, definition from mcp_tool where service = ?", [service]),
    accept: (service: string, tools: readonly AcceptedTool[], at: string) =>
      db.batch(
        tools.map(
          ({ name, digest, definition }): Statement => [
            "insert into mcp_tool (service, name, digest, definition, accepted_at) values (?, ?, ?, ?, ?) on conflict (service, name) do update set digest = excluded.digest, definition = excluded.definition, accepted_at = excluded.accepted_at",
            [service, name, digest, definition, at],
          ],
        ),
      ),
  };
}
export type RegistryStore = ReturnType<typeof createRegistryStore>;
