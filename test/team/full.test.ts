/** A team server whose database or disk is full: it refuses what it cannot store, by name, and goes on answering what is asked. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { fillDisk, mountSmall } from "../small-disk.ts";
import { ask, invite, joinOwner, type Machine, makeSession, startServer, type TestServer } from "./node.ts";
import { engines } from "./postgres.ts";

/** What PostgreSQL answers when its disk has no room, for every row that is written. */
const FULL = `create function no_room() returns trigger language plpgsql as
  'begin raise exception ''could not extend file: No space left on device'' using errcode = ''53100''; end'`;

describe.each(engines())("a team server on $name whose database is full", (engine) => {
  let server: TestServer;
  let owner: Machine;
  let mika: Machine;
  const before = makeSession({ id: "codex:before", texts: ["a walrus before the flood"] });

  /** Rows may be deleted, as on a full disk. */
  async function fill(): Promise<void> {
    const tables = await server.rows<{ t: string }>(
      "select tablename::text as t from pg_tables where schemaname = 'sessarc' order by 1",
    );
    for (const { t } of tables)
      await server.node.database.owner.run(
        `create trigger no_room before insert or update on ${t} for each row execute function no_room()`,
      );
  }
  async function free(): Promise<void> {
    const tables = await server.rows<{ t: string }>(
      "select tablename::text as t from pg_tables where schemaname = 'sessarc' order by 1",
    );
    for (const { t } of tables) await server.node.database.owner.run(`drop trigger if exists no_room on ${t}`);
  }

  beforeAll(async () => {
    server = await startServer(engine);
    owner = await joinOwner(server);
    mika = await invite(owner, "Mika");
    expect((await mika.push(before)).status).toBe(200);
    await server.node.database.owner.run(FULL);
  });
  afterAll(() => server?.close());

  it("answers reads, and refuses what it cannot store with code, remedy and headers; the access log misses nothing", async () => {
    const read = await mika.ask<{ token: string }>("POST", "/team/api/tokens", { name: "editor" });
    await fill();
    onTestFinished(free);
    for (const path of ["/api/sessions", "/api/search?q=walrus", "/team/api/me", "/team/api/access"])
      expect([path, (await mika.ask("GET", path)).status]).toEqual([path, 200]);
    expect(JSON.stringify((await mika.ask("GET", "/api/search?q=walrus")).body)).toContain("before the flood");
    // A read token's use is noted, where that can be.
    expect((await ask(server.node, "GET", "/api/sessions", { token: read.body.token })).status).toBe(200);
    expect((await ask(server.node, "GET", "/readyz")).status).toBe(200);
    const [sha256, bytes] = [...before.chunks][0] ?? ["", Buffer.alloc(0)];
    const next = makeSession({ id: "codex:next", texts: ["a walrus after"] });
    for (const answer of [
      await owner.ask("PUT", `/team/api/blobs/${sha256}`, gzipSync(bytes)),
      await mika.ask("POST", "/team/api/sessions", {
        space: mika.team,
        manifest: { ...next.manifest, events: before.manifest.events },
      }),
      await mika.ask("POST", "/team/api/withdraw", { ids: ["codex:before"] }),
      await owner.ask("POST", "/team/api/invites", { scopes: ["read"] }),
    ]) {
      expect([answer.status, answer.body.code, answer.body.message]).toEqual([
        507,
        "TEAM_FULL",
        "The server's database is full: nothing can be stored",
      ]);
      expect(answer.body.fix).toContain("make room");
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      expect(answer.headers.get("content-type")).toContain("application/json");
    }
    expect(server.log.filter((line) => line.includes("no room for the access log"))).toHaveLength(1);

    await free();
    expect((await mika.push(next)).body).toMatchObject({ outcome: "imported" });
    const { entries } = (
      await owner.ask<{ entries: { path: string; status: number; code: string | null }[] }>("GET", "/team/api/access")
    ).body;
    const paths = entries.map(({ path, status, code }) => `${status} ${path} ${code}`);
    expect(paths).toContain("200 /api/search null");
    expect(paths).toContain("507 /team/api/sessions TEAM_FULL");
    expect(server.log.filter((line) => line.includes("stored again"))).toEqual(["The access log is stored again."]);
  });
});

describe("a team server whose disk for bodies is full", () => {
  it("names the disk, goes on reading, and takes the session once there is room", async (context) => {
    const [engine] = engines();
    if (!engine) throw new Error("no engine");
    const server = await startServer(engine);
    onTestFinished(() => server.close());
    const owner = await joinOwner(server);
    expect((await owner.push(makeSession({ id: "codex:kept", texts: ["a walrus"] }))).status).toBe(200);
    // Chunks of one first digit pair, and all new transcripts, are on the small disk.
    const chunks = join(server.folder, "blobs", "files", "team", "blob");
    const session = makeSession({ id: "codex:late", texts: ["x".repeat(100_000)] });
    const [sha256 = "", bytes = Buffer.alloc(0)] = [...session.chunks][0] ?? [];
    await mkdir(join(chunks, sha256.slice(0, 2)), { recursive: true });
    const unmount = mountSmall(join(chunks, sha256.slice(0, 2)), "64k");
    if (!unmount) return context.skip();
    onTestFinished(unmount);
    const rest = join(chunks, sha256.slice(0, 2), "rest");
    fillDisk(rest);
    const answer = await owner.ask("PUT", `/team/api/blobs/${sha256}`, gzipSync(bytes));
    expect([answer.status, answer.body.code, answer.body.message]).toEqual([
      507,
      "TEAM_FULL",
      "The server's disk for chunks and transcripts is full: nothing can be stored",
    ]);
    expect(JSON.stringify((await owner.ask("GET", "/api/search?q=walrus")).body)).toContain("a walrus");
    await rm(rest);
    expect((await owner.push(session)).body).toMatchObject({ outcome: "imported" });
  });
});
