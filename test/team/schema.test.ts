/** What the schema promises for every table of every plugin that runs on a server. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TeamDatabase } from "../../plugins/team/index.ts";
import { ACCOUNTS } from "../../plugins/team/server/accounts/schema.ts";
import { migrateAll, openTeam, place } from "./_world.ts";
import { engines } from "./postgres.ts";

const TABLES = `select c.relname as name, c.relrowsecurity as secured, c.relforcerowsecurity as forced,
    has_table_privilege('sessarc_member', c.oid, 'select, insert, update, delete, truncate') as member,
    has_table_privilege('sessarc_member', c.oid, 'insert, update, delete, truncate') as changes,
    has_table_privilege('sessarc_writer', c.oid, 'select, insert, update, delete, truncate') as writer,
    exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant') as tenant,
    exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'space' and a.attnotnull) as space
  from pg_class c where c.relnamespace = 'sessarc'::regnamespace and c.relkind in ('r', 'p') order by 1`;
const KEYS = `select c.relname as name, i.relname as key, a.attname as first
  from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
    join pg_attribute a on a.attrelid = c.oid and a.attnum = x.indkey[0]
  where c.relnamespace = 'sessarc'::regnamespace and x.indisunique order by 1, 2`;

/** Which step of which plugin was applied: no data of any tenant. */
const COMMON = ["migration"];

describe.each(engines())("the schema on $name", (engine) => {
  let opened: Awaited<ReturnType<typeof openTeam>>;
  let team: TeamDatabase;
  beforeAll(async () => {
    opened = await openTeam(engine);
    team = opened.team;
    await migrateAll(team);
    await team.migrate("team", ACCOUNTS);
  });
  afterAll(async () => {
    await team?.close();
    await opened?.stop();
  });
  const tables = () =>
    team.owner.all<
      Record<"secured" | "forced" | "member" | "changes" | "writer" | "tenant" | "space", number> & { name: string }
    >(TABLES);

  it("has row-level security on every table that a member or a writer may touch, for its owner, too", async () => {
    const touched = (await tables()).filter(({ name, member, writer }) => (member || writer) && !COMMON.includes(name));
    expect(touched.length).toBeGreaterThan(30);
    expect(touched.filter(({ secured, forced, tenant }) => !secured || !forced || !tenant)).toEqual([]);
  });

  it("gives a member no right to change anything", async () => {
    expect((await tables()).filter(({ changes }) => changes)).toEqual([]);
  });

  it("begins every unique key of a tenant's table with the tenant", async () => {
    const keys = await team.owner.all<{ name: string; key: string; first: string }>(KEYS);
    const shared = new Set((await tables()).filter(({ tenant }) => tenant).map(({ name }) => name));
    expect(keys.filter(({ name, first }) => shared.has(name) && first !== "tenant")).toEqual([]);
  });

  it("can be distributed by Citus as the documentation says", async () => {
    const all = await tables();
    const statements = [
      ...COMMON.map((name) => `select create_reference_table('sessarc.${name}');`),
      ...all
        .filter(({ tenant }) => tenant)
        .map(({ name }) => `select create_distributed_table('sessarc.${name}', 'tenant');`),
    ];
    await expect(`${statements.join("\n")}\n`).toMatchFileSnapshot("../../docs/reference/team-citus.sql");
  });

  it("applies no step twice, and refuses one that changed or is missing", async () => {
    const steps = ["create table extra (id text primary key)", "create index extra_id on extra (id)"];
    await Promise.all([team.migrate("extra", steps), team.migrate("extra", steps)]);
    await expect(team.migrate("extra", ["create table other (id text)", steps[1] ?? ""])).rejects.toMatchObject({
      code: "ARCHIVE_OTHER",
    });
    await expect(team.migrate("extra", steps.slice(0, 1))).rejects.toMatchObject({ code: "ARCHIVE_NEWER" });
    await expect(team.migrate("broken", ["create table half (id text); create nonsense"])).rejects.toThrow(/nonsense/);
    expect(await team.owner.all("select name from sqlite_master where name = 'half'")).toEqual([]);
  });

  it("shows nothing of another space or tenant, and takes nothing for another tenant", async () => {
    await place(team, "x:1", 1);
    await place(team, "x:2", 2);
    await place(team, "x:1", 3, 2);
    for (const [tenant, ids] of [
      [1, ["x:1", "x:2"]],
      [2, ["x:1"]],
    ] as const) {
      const { db, release } = await team.write(tenant, 1_000);
      for (const id of ids) {
        await db.run("insert into note_mark values (?, '', null, 1, ?, '', '')", [id, `of ${tenant}`]);
        await db.run("insert into note_tag values (?, '', 'mine')", [id]);
      }
      await db.run("insert into note_search values (?, 'q', '')", [`search of ${tenant}`]);
      await release();
    }
    const seen = async (tenant: number, spaces: number[]) =>
      (await team
        .member({ tenant, person: "ada", spaces })
        .all("select session, note from note_mark order by session")) as unknown[];
    expect(await seen(1, [1])).toEqual([{ session: "x:1", note: "of 1" }]);
    expect(await seen(1, [2, 3])).toEqual([{ session: "x:2", note: "of 1" }]);
    expect(await seen(1, [])).toEqual([]);
    expect(await seen(2, [1, 2])).toEqual([]);
    expect(await seen(2, [3])).toEqual([{ session: "x:1", note: "of 2" }]);
    const member = team.member({ tenant: 1, person: "ada", spaces: [1] });
    expect(await member.all("select * from note_search")).toEqual([]);
    for (const sql of [
      "update note_mark set note = 'x'",
      "delete from note_tag",
      "insert into note_tag values ('x:1', '', 'b')",
    ])
      await expect(member.run(sql)).rejects.toMatchObject({ code: "STORAGE_READ_ONLY" });

    const { db, release } = await team.write(2, 1_000);
    expect(await db.run("update note_mark set note = 'stolen' where tenant = 1")).toEqual({ changes: 0 });
    await expect(
      db.run("insert into note_tag (session, message, tag, tenant) values ('x:1', '', 'b', 1)"),
    ).rejects.toThrow(/in no space/);
    await expect(db.run("update note_tag set tenant = 1")).rejects.toThrow(/policy/);
    await expect(db.run("insert into note_tag values ('x:9', '', 'b')")).rejects.toThrow(/session x:9 is in no space/);
    await release();
    expect(await seen(1, [1])).toEqual([{ session: "x:1", note: "of 1" }]);
  });

  it("counts committed batches of a tenant, and has one writer at a time", async () => {
    const before = await team.generation(1);
    const first = await team.write(1, 1_000);
    await expect(team.write(1, 150)).rejects.toMatchObject({ code: "TEAM_BUSY" });
    const other = await team.write(2, 150);
    await other.release();
    await first.db.run("delete from note_tag");
    await expect(first.db.batch([["delete from note_mark"], ["delete from nothing_there"]])).rejects.toThrow(
      /nothing_there/,
    );
    const waiting = team.write(1, 10_000);
    await first.release();
    await (await waiting).release();
    expect(await team.generation(1)).toBe(before + 1);
    expect(await team.owner.get("select count(*) as n from note_mark")).not.toEqual({ n: 0 });
  });
});
