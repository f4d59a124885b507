/** What the dialect makes of SQLite's SQL answers on PostgreSQL as SQLite answers it. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database, SqlValue } from "sessarc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import { RULES } from "../../plugins/team/database/dialect.ts";
import type { TeamDatabase, TeamWriter } from "../../plugins/team/index.ts";
import { openTeam, place } from "./_world.ts";
import { engines } from "./postgres.ts";

const SCHEMA = [
  `create table session (id text primary key, tool text not null, name text, parent_id text, size integer not null, share real, usage text not null, body blob);
   create index session_size on session (size desc, name, id);
   create index session_named on session (id) where name is not null;
   create unique index session_name on session (name);`,
  `create table work (session text not null, quarter integer not null, messages integer not null, primary key (session, quarter)) without rowid;
   create table counted (session text primary key, changes integer not null) without rowid;
   create trigger counted_moved after update of tool on session begin
     update counted set changes = changes + 1 where session = new.id;
     delete from counted where session = new.id and changes > 1;
   end;`,
  "alter table work add column note text",
];

const SESSIONS = ["s:a", "s:b", "s:c", "s:D", "s:é"];
const ROWS: readonly (readonly [string, readonly SqlValue[]])[] = [
  [
    "insert into session values (?, ?, ?, ?, ?, ?, ?, ?)",
    ["s:a", "codex", "Straße", null, 5, 0.5, '{"a":1,"b":[1,"x",true]}', null],
  ],
  [
    "insert into session values (?, ?, ?, ?, ?, ?, ?, ?)",
    ["s:b", "codex", null, "s:a", 5, null, "[1,2]", new Uint8Array([0, 255])],
  ],
  [
    "insert into session values (?, ?, ?, ?, ?, ?, ?, ?)",
    ["s:c", "claude", "100%_\\x", "s:a", 9_007_199_254_740_991, -2.25, "[]", null],
  ],
  ["insert into session values (?, ?, ?, ?, ?, ?, ?, ?)", ["s:D", "claude", "ÜBER", null, 0, 1e300, "{}", null]],
  [
    "insert into work (session, quarter, messages) values (?, ?, ?), (?, ?, ?), (?, ?, ?)",
    ["s:a", 1, 3, "s:a", 2, 4, "s:b", 1, 7],
  ],
];

/** Questions by the rule that they need. Values of JSON are text over PostgreSQL, so they are cast. Those without one are bridged by functions, types or both dialects. */
const QUESTIONS: Readonly<Record<string, readonly (readonly [sql: string, ...params: SqlValue[]])[]>> = {
  "index hints": [["select id from session indexed by session_named where name is not null order by id"]],
  "in nothing": [
    ["select id from session where id in () order by id"],
    ["select id from session where size not in () order by id"],
  ],
  "like ignores case": [
    ["select id from session where name like ? order by id", "STRA%"],
    ["select id from session where name like ? order by id", "%über%"],
    ["select id from session where name like ? escape '\\' order by id", "100\\%\\_\\\\%"],
    ["select id from session where name like '%\\x'"],
  ],
  "groups by a key": [
    [
      "select s.id, s.tool, sum(w.messages) as n from session s join work w on w.session = s.id group by s.id order by s.id",
    ],
  ],
  "null in an order": [
    ["select id from session order by name, id"],
    ["select id from session order by name desc, id"],
    ["select id from session order by size desc, id"],
    ["select s.id, w.quarter from session s left join work w on w.session = s.id order by w.quarter desc, s.id"],
    ["select id, row_number() over (order by name, id) as n from session order by id"],
  ],
  "keys of the tenant": [],
  "names in two cases": [["select count(*) as inAll, max(size) as mostBytes from session"]],
  "": [
    ["select id from session order by id limit ? offset 1", 2],
    ["select cast('3000000000' as bigint) as n, cast(? as text) as t, cast(0.1 as double precision) as r", 7],
    ["select cast(? as text) as t", new Uint8Array([0xc3, 0xbc])],
    ["select id from session where parent_id is null or parent_id <> name order by id"],
    ["select 'a' || '\u001f' || 'b' as t"],
    ["select n from (select count(*) as n from session) as found where n > 1"],
    ["select count(*) as n from (values (1, 'a'), (2, 'b')) as found"],
    ["select sum(size) as s, sum(share) as r, count(*) as n from session where id <> ?", "s:c"],
    ["select sum(size) / 3 as third, sum(name is null) as nameless, sum(size) as s from session where size < 100"],
    [
      "select max(size, 3) as a, min(size, 3) as b, max(share, 0) as c, ifnull(name, '-') as d from session order by id",
    ],
    [
      "select instr(id, 'a') as i, substr(name, 2, ?) as t, substr(name, 3) as u, length(name) as n from session order by id",
      2,
    ],
    ["select lower(name) as l, upper(tool) as u from session order by id"],
    [
      "select s.id, cast(j.key as text) as key, cast(j.value as text) as value from session s, json_each(s.usage) j order by s.id, 2",
    ],
    [
      "select json_extract(usage, '$.b[1]') as b, cast(json_extract(usage, '$.a') as integer) as a from session where id = 's:a'",
    ],
    ["select j.value from json_each(?, '$.x.y') j order by j.value", '{"x":{"y":["b","a"]}}'],
    ["select id from session where id in (select value from json_each(?)) order by id", '["s:b","s:c","none"]'],
    ["select group_concat(id) as ids from session where tool = ?", "none"],
    ["select id from session where holds(name, ?) order by id", "STRASSE"],
    ["select id from session where holds(name, ?) order by id", "über"],
    [
      "select size = 5 as five, name is null as nameless, exists (select 1 from work w where w.session = session.id) as busy from session order by id",
    ],
    ["select case when ? is null then 'none' else ? end as t", null, "x"],
    ["select coalesce(?, name, 'z') as t from session order by id", null],
    [
      "with recursive up (id, depth) as (select ?, 0 union all select s.parent_id, up.depth + 1 from up join session s on s.id = up.id where s.parent_id is not null) select id, depth from up order by depth",
      "s:b",
    ],
    ["select id, share * ? as x, size * ? as y from session where id in ('s:a', 's:D') order by id", 1.5, 2],
    ["select id from session where (tool, size) in (values ('codex', 5), ('claude', 0)) order by id"],
    ["select body from session where id = 's:b'"],
    ["select ?2 as b, ?1 as a, ?2 || ?1 as c", "x", "y"],
    ["select '?' as mark, 'it''s' as quote, 'select 1 -- no' as comment /* ? */ -- ?"],
    ["select id from session where size = ? and share is null", 5],
    ["select tool, count(distinct parent_id) as n from session group by tool having count(*) > 1 order by tool"],
    ["select id, rowid > 0 as has from session order by rowid"],
    ["select count(*) as n from sqlite_master where type = 'table' and name = 'session'"],
    ["select size % 4 as rest, size / 2 as half, -size / 2 as minus from session where size < 100 order by id"],
  ],
};

/** Writes in this order, each followed by all rows. */
const WRITES: readonly (readonly [rule: string, sql: string, ...params: SqlValue[]])[] = [
  ["", "insert into work (session, quarter, messages) values (?, ?, ?) on conflict do nothing", "s:a", 1, 99],
  [
    "keys of the tenant",
    "insert into work (session, quarter, messages) values (?, ?, ?) on conflict (session, quarter) do update set messages = excluded.messages",
    "s:a",
    1,
    11,
  ],
  [
    "keys of the tenant",
    "insert into counted values (?, ?) on conflict (session) do update set changes = excluded.changes",
    "s:a",
    0,
  ],
  [
    "keys of the tenant",
    "insert into work (session, quarter, messages) values (?, ?, ?) on conflict (session, quarter) do update set messages = excluded.messages + work.messages",
    "s:a",
    1,
    5,
  ],
  ["", "update session set tool = 'moved' where id = ?", "s:a"],
  ["", "update session set name = ? where id = ?", "with\0zero", "s:b"],
  ["", "update session set share = ?, size = size + 1 where id = ?", Number.NEGATIVE_INFINITY, "s:b"],
  ["", "delete from work where session in (select id from session where tool = ?)", "codex"],
  ["", "insert into counted select id, 3 from session where true on conflict (session) do nothing"],
  ["", "update session set tool = 'again' where id = ?", "s:b"],
];

const everything = async (db: Database) => ({
  session: await db.all("select id, tool, name, parent_id, size, share, usage from session order by id"),
  work: await db.all("select session, quarter, messages, note from work order by session, quarter"),
  counted: await db.all("select session, changes from counted order by session"),
});

/** What SQLite takes and no rule rewrites, with what both engines take. */
const REFUSED = [
  [/\binsert or (replace|ignore|abort|fail|rollback)\b|[`"]replace into\b/i, "on conflict … do"],
  [/\bas (integer|int|real|blob)\)/i, "bigint, double precision"],
  [/\blimit -1\b/i, "no limit"],
] as const;

/** Plugins that no server runs and that have such SQL. */
const LOCAL = ["budget", "feedback", "notices", "replay", "skills", "traces"];

it("SQL of what a server runs has no form that needs another rule", async () => {
  const files = (await readdir("plugins", { recursive: true })).map((file) => file.replaceAll("\\", "/"));
  const read = files.filter((file) => file.endsWith(".ts") && !LOCAL.includes(file.split("/")[0] ?? ""));
  expect(read.length).toBeGreaterThan(300);
  const found: string[] = [];
  for (const file of read) {
    const code = (await readFile(`plugins/${file}`, "utf8")).replace(/^ *(\/\*|\*|\/\/).*$/gm, "");
    for (const [form, instead] of REFUSED) if (form.test(code)) found.push(`${file}: ${instead}`);
  }
  expect(found).toEqual([]);
});

describe.each(engines())("the dialect on $name", (engine) => {
  let folder: string;
  let here: Database;
  let opened: Awaited<ReturnType<typeof openTeam>>;
  let team: TeamDatabase;
  let writer: TeamWriter;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sessarc-dialect-"));
    here = openDatabase({ dir: folder });
    for (const step of SCHEMA) await here.run(step);
    opened = await openTeam(engine);
    team = opened.team;
    await team.migrate("archive", SCHEMA);
    for (const session of SESSIONS) await place(team, session, 1);
    writer = await team.write(1, 1_000);
    for (const [sql, params] of ROWS) for (const db of [here, writer.db]) await db.run(sql, params);
  });
  afterAll(async () => {
    await here?.close();
    await writer?.release();
    await team?.close();
    await opened?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("has a question or a write for each rule", () => {
    const asked = Object.entries(QUESTIONS).flatMap(([rule, list]) => (list.length > 0 ? [rule] : []));
    const covered = new Set([...asked, ...WRITES.map(([rule]) => rule)]);
    expect(RULES.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual([]);
    expect(RULES.filter(({ why }) => why === "")).toEqual([]);
  });

  it.each(Object.entries(QUESTIONS))("answers as SQLite does: %s", async (_, questions) => {
    const wrong: string[] = [];
    for (const [sql, ...params] of questions) {
      const wanted = await here.all(sql, params);
      const found = await writer.db.all(sql, params).catch(String);
      if (JSON.stringify(found) !== JSON.stringify(wanted))
        wrong.push(`${sql}\n  ${JSON.stringify(found)}\n  ${JSON.stringify(wanted)}`);
    }
    expect(wrong.join("\n")).toBe("");
  });

  it("writes as SQLite does", async () => {
    for (const [, sql, ...params] of WRITES) {
      const [a, b] = [await here.run(sql, params), await writer.db.run(sql, params)];
      expect(b, sql).toEqual(a);
      const rows = await everything(here);
      // PostgreSQL's text holds no zero character.
      const wanted = JSON.parse(JSON.stringify(rows).replaceAll("\\u0000", "\ufffd"));
      expect(JSON.parse(JSON.stringify(await everything(writer.db))), sql).toEqual(wanted);
    }
  });

  it("stores JSON with characters that a database's JSON refuses", async () => {
    await place(team, "s:json", 1);
    const usage = JSON.stringify({ a: "x\0y", b: "\ud800z", c: "\ud83d\ude00", d: "\\u0000", "e\udfff": 1 });
    await writer.db.run("insert into session (id, tool, size, usage) values ('s:json', 'codex', 1, ?)", [usage]);
    const rows = await writer.db.all(
      "select j.key, j.value from session s, json_each(s.usage) j where s.id = 's:json' order by j.key",
    );
    expect(rows).toEqual([
      { key: "a", value: "x\ufffdy" },
      { key: "b", value: "\ufffdz" },
      { key: "c", value: "\ud83d\ude00" },
      { key: "d", value: "\\u0000" },
      { key: "e\ufffd", value: "1" },
    ]);
  });

  it("refuses a number that JavaScript cannot hold exactly", async () => {
    await expect(writer.db.all("select cast('9007199254740993' as bigint) as n")).rejects.toThrow(
      /9007199254740993 is beyond/,
    );
  });
});
