/** Attacks on a team server: reading another person's private space, a stolen machine, replays, a hostile client. None succeeds. */
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toDigest } from "./digest.ts";
import {
  type Answer,
  ask,
  invite,
  joinBy,
  joinOwner,
  type Machine,
  makeSession,
  readOffers,
  startServer,
  type TestServer,
  tokenRequest,
} from "./node.ts";
import { engines } from "./postgres.ts";

/** In the title, the texts, the project and the branch of the private session, and in no question. */
const MARK = "walrus7731";
const SQL = [
  `'; drop table session; --`,
  `" or 1=1 --`,
  `$1::text`,
  `?1`,
  `x') returning 1; --`,
  `\\'; select pg_sleep(9); --`,
];

describe.each(engines())("attacks on a team server on $name", (engine) => {
  let server: TestServer;
  let owner: Machine;
  let mika: Machine;
  let eve: Machine;
  let id: string;
  /** Paths that GET reads of plugins. */
  let offered: readonly string[];
  const secret = makeSession({
    id: "codex:private-1",
    texts: [`the ${MARK} launch code`, `${MARK} is in the vault`],
    title: `${MARK} plan`,
    project: `${MARK}-project`,
    replies: [[5_001, 777_123]],
  });

  beforeAll(async () => {
    offered = (await readOffers()).paths;
    server = await startServer(engine);
    owner = await joinOwner(server);
    mika = await invite(owner, "Mika");
    eve = await invite(owner, "Eve");
    expect((await mika.push(secret, mika.mine)).status).toBe(200);
    expect(
      (await eve.push(makeSession({ id: "codex:e1", texts: ["the usual launch"], replies: [[6_001, 5]] }))).status,
    ).toBe(200);
    id = `codex:${mika.machine}~private-1`;
  });
  afterAll(() => server?.close());

  const leaks = ({ body }: Answer<unknown>) => {
    const text = JSON.stringify(body);
    return text.includes(MARK) || text.includes("777123") || text.includes("private-1");
  };

  const readOutput = async (machine: Machine) =>
    (await machine.ask<{ totals: { tokens: { output: number } } }>("GET", "/api/usage?by=model")).body.totals.tokens
      .output;

  describe("a private space", () => {
    it("is readable by its person", async () => {
      expect(leaks(await mika.ask("GET", "/api/search?q=launch"))).toBe(true);
      expect(leaks(await mika.ask("GET", `/api/sessions/${encodeURIComponent(id)}`))).toBe(true);
      expect(await readOutput(mika)).toBe(777_128);
    });

    it("is hidden from a member and from the owner on every route, by list, id, name, search and usage", async () => {
      const projects = await server.rows<{ id: string }>("select id from project where derived_name = ?", [
        `${MARK}-project`,
      ]);
      const project = projects[0]?.id ?? "";
      const queries = [
        "",
        "?q=launch",
        "?q=vault",
        "?name=last",
        "?by=session",
        "?by=project",
        "?by=model",
        "?by=machine",
        `?project=${project}`,
        `?person=${mika.person}`,
        `?machine=${mika.machine}`,
        `?session=${encodeURIComponent(id)}`,
        "?limit=1000",
        "?days=3650",
      ];
      for (const thief of [eve, owner]) {
        expect(await readOutput(thief)).toBe(5);
        for (const pattern of offered) {
          const subject = pattern.startsWith("/api/projects") ? project : encodeURIComponent(id);
          const path = pattern.replace(":id", subject).replace("/**", "/index.html");
          // One session or file is the same whatever is asked of it.
          for (const query of /:id|\*\*/.test(pattern) ? [""] : queries) {
            const answer = await thief.ask("GET", `${path}${query}`);
            // A question's own words may come back in an error.
            const shown = JSON.stringify(answer.body)
              .replaceAll(id, "")
              .replaceAll(encodeURIComponent(id), "")
              .replaceAll(project, "");
            expect(
              shown.includes(MARK) || shown.includes("777123") || shown.includes("private-1"),
              `${path}${query} -> ${shown.slice(0, 300)}`,
            ).toBe(false);
            if (pattern.includes("/sessions/:id")) expect(answer.status, path).toBeGreaterThanOrEqual(400);
          }
        }
      }
    });

    it("names no project for others: each reader sees the name and the time of what they may read", async () => {
      const key = `commit:${"7".repeat(40)}`;
      const named = (id: string, name: string, at: string) => {
        const session = makeSession({ id, texts: ["a shared repository"], at });
        session.manifest.project = { kind: "repository", name, key };
        return session;
      };
      // Mika's private session is the first of the repository, and the oldest.
      const push = async (machine: Machine, session: ReturnType<typeof makeSession>, space: number) =>
        expect((await machine.push(session, space)).status).toBe(200);
      await push(mika, named("codex:named-1", `${MARK}-acquisition`, "2026-11-01T10:00:00.000Z"), mika.mine);
      await push(eve, named("codex:named-2", "harbour", "2026-11-10T10:00:00.000Z"), eve.team);
      type Listed = { id: string; name: string; createdAt: string; sessionCount: number };
      const seen = async (machine: Machine) =>
        (await machine.ask<Listed[]>("GET", "/api/projects?git=0")).body.filter(({ name }) =>
          ["harbour", `${MARK}-acquisition`].includes(name),
        );
      const [ofEve] = await seen(eve);
      const [ofMika] = await seen(mika);
      expect(ofEve).toMatchObject({ name: "harbour", sessionCount: 1 });
      expect(ofMika).toMatchObject({ id: ofEve?.id, name: `${MARK}-acquisition`, sessionCount: 2 });
      expect(Date.parse(ofMika?.createdAt ?? "")).toBeLessThan(Date.parse(ofEve?.createdAt ?? ""));
      for (const path of [`/api/projects/${ofEve?.id}`, "/api/search?q=shared", "/api/sessions?q=shared"])
        expect(JSON.stringify((await eve.ask("GET", path)).body)).not.toContain(MARK);
      expect((await eve.ask("POST", "/team/api/withdraw", { ids: ["codex:named-2"] })).status).toBe(200);
      expect(await seen(eve)).toEqual([]);
      expect((await mika.ask("POST", "/team/api/withdraw", { ids: ["codex:named-1"] })).status).toBe(200);
    });

    it("takes no figures from the team, and none from another private space; its person counts each reply once", async () => {
      const of = (id: string, replies: [number, number][], at: string) =>
        makeSession({ id, texts: ["counted"], replies, at });
      const push = async (machine: Machine, session: ReturnType<typeof makeSession>, space: number) =>
        expect((await machine.push(session, space)).status).toBe(200);
      const before = { mika: await readOutput(mika), eve: await readOutput(eve), owner: await readOutput(owner) };
      const grown = async () => ({
        mika: (await readOutput(mika)) - before.mika,
        eve: (await readOutput(eve)) - before.eve,
        owner: (await readOutput(owner)) - before.owner,
      });
      // Older, and with more of one reply: alone it would count the replies of all others.
      await push(
        mika,
        of(
          "codex:count-1",
          [
            [7_001, 100],
            [7_002, 40],
          ],
          "2026-11-01T10:00:00.000Z",
        ),
        mika.mine,
      );
      expect(await grown()).toEqual({ mika: 140, eve: 0, owner: 0 });
      await push(
        eve,
        of(
          "codex:count-2",
          [
            [7_001, 100],
            [7_002, 30],
          ],
          "2026-11-02T10:00:00.000Z",
        ),
        eve.mine,
      );
      expect(await grown()).toEqual({ mika: 140, eve: 130, owner: 0 });
      await push(eve, of("codex:count-3", [[7_001, 100]], "2026-11-03T10:00:00.000Z"), eve.team);
      expect(await grown()).toEqual({ mika: 140, eve: 130, owner: 100 });
      // Withdrawn for the team, it counts for each of the others again.
      expect((await eve.ask("POST", "/team/api/withdraw", { ids: ["codex:count-3"] })).status).toBe(200);
      expect(await grown()).toEqual({ mika: 140, eve: 130, owner: 0 });
      for (const [machine, id] of [
        [mika, "codex:count-1"],
        [eve, "codex:count-2"],
      ] as const)
        expect((await machine.ask("POST", "/team/api/withdraw", { ids: [id] })).status).toBe(200);
      expect(await grown()).toEqual({ mika: 0, eve: 0, owner: 0 });
    });

    it("is hidden however a path is spelled", async () => {
      const encoded = encodeURIComponent(id);
      for (const path of [
        `/api//sessions/${encoded}`,
        `/API/sessions/${encoded}`,
        `/api/sessions/${encoded}/`,
        `/./api/sessions/${encoded}`,
        `/api/sessions/%2e%2e/sessions/${encoded}`,
        `/api/sessions/${encoded}%00`,
        `/team/api/sessions/${encoded}`,
        `/mcp/../api/sessions/${encoded}`,
      ]) {
        const answer = await eve.ask("GET", path);
        expect(
          leaks({ ...answer, body: JSON.stringify(answer.body).replaceAll(id, "").replaceAll(encoded, "") }),
          path,
        ).toBe(false);
      }
    });

    it("cannot be shared, exported, changed or written to by others", async () => {
      const encoded = encodeURIComponent(id);
      for (const [method, path] of [
        ["POST", `/api/sessions/${encoded}/share`],
        ["GET", "/api/shares"],
        ["GET", `/api/sessions/${encoded}/export-redacted`],
        ["GET", "/api/backup"],
        ["GET", "/api/settings"],
        ["PATCH", `/api/sessions/${encoded}`],
        ["DELETE", `/api/sessions/${encoded}`],
        ["POST", "/api/import"],
        ["POST", "/api/sources"],
        ["PUT", `/api/sessions/${encoded}`],
      ] as const) {
        const answer = await eve.ask(method, path, method === "GET" ? undefined : {});
        expect([path, answer.status >= 400 && answer.status < 500]).toEqual([path, true]);
        expect(leaks({ ...answer, body: JSON.stringify(answer.body).replaceAll(encoded, "").replaceAll(id, "") })).toBe(
          false,
        );
      }
      const pushed = await eve.push(makeSession({ id: "codex:e2", texts: ["planted"] }), mika.mine);
      expect([pushed.status, pushed.body.code]).toEqual([404, "TEAM_NOT_FOUND"]);
      expect(
        (
          await eve.ask<{ removed: unknown[] }>("POST", "/team/api/withdraw", {
            ids: ["codex:private-1", `codex:${mika.machine}~private-1`],
          })
        ).body.removed,
      ).toEqual([]);
      expect((await mika.ask("GET", `/api/sessions/${encoded}`)).status).toBe(200);
    });

    it("does not answer whether others have sent a chunk, and gives none away by its hash", async () => {
      const hashes = [...secret.chunks.keys()];
      expect((await eve.ask("POST", "/team/api/blobs/have", { sha256: hashes })).body.missing).toEqual(hashes);
      const stolen = await eve.ask("POST", "/team/api/sessions", {
        space: eve.mine,
        manifest: { ...secret.manifest, id: "codex:stolen" },
      });
      expect([stolen.status, stolen.body.code]).toEqual([409, "TEAM_BLOBS_MISSING"]);
      expect(leaks(await eve.ask("GET", "/api/sessions"))).toBe(false);
    });

    it("is hidden by the database itself, in every table", async () => {
      const member = server.node.database.member({
        tenant: 1,
        person: eve.person,
        spaces: eve.spaces.map((space) => space.id),
      });
      const tables = await server.rows<{ t: string }>(
        "select distinct table_name::text as t from information_schema.columns where table_schema = 'sessarc' and column_name = 'space' and table_name not like 'team_space%'",
      );
      expect(tables.length).toBeGreaterThan(5);
      for (const { t } of tables) {
        const rows = await member.all(`select * from ${t}`);
        expect([t, JSON.stringify(rows).includes("private-1")]).toEqual([t, false]);
      }
      for (const t of [
        "team_person",
        "team_device",
        "team_token",
        "team_invite",
        "team_access",
        "team_setting",
        "team_blob",
        "team_space_person",
      ])
        await expect(member.all(`select * from ${t}`), t).rejects.toThrow("The archive is open for reading only");
      for (const sql of [
        "update session set title = 'x'",
        "delete from session",
        "insert into team_session (tenant, session, space, person, machine, digest, manifest, pushed_at) values (1, 'x', 1, 'x', 'x', '', '', '')",
      ])
        await expect(member.run(sql), sql).rejects.toThrow();
    });
  });

  describe("rights", () => {
    it("cannot be raised", async () => {
      for (const [method, path, body] of [
        ["POST", "/team/api/invites", { scopes: ["own"] }],
        ["POST", "/team/api/invites", { scopes: ["read"] }],
        ["POST", "/team/api/invites", { scopes: ["read"], person: mika.person }],
        ["POST", "/team/api/invites", { scopes: ["own"], person: eve.person }],
        ["POST", "/team/api/spaces", { name: "mine", kind: "team" }],
        ["POST", `/team/api/spaces/${mika.mine}/people`, { people: [eve.person] }],
        ["DELETE", `/team/api/spaces/${mika.team}/people`, { people: [mika.person] }],
      ] as const) {
        const answer = await eve.ask(method, path, body);
        expect([path, answer.status]).toEqual([path, 403]);
      }
      expect((await eve.ask("DELETE", `/team/api/devices/${mika.device}`)).status).toBe(404);
      // Not even by the owner.
      const opened = await owner.ask("POST", `/team/api/spaces/${mika.mine}/people`, { people: [owner.person] });
      expect([opened.status, opened.body.code]).toEqual([404, "TEAM_NOT_FOUND"]);
      const invited = await owner.ask("POST", "/team/api/invites", { scopes: ["read"], spaces: [mika.mine] });
      expect([invited.status, invited.body.code]).toEqual([404, "TEAM_NOT_FOUND"]);
      const devices = await eve.ask<{ devices: { person: string }[] }>("GET", "/team/api/devices");
      expect(new Set(devices.body.devices.map(({ person }) => person))).toEqual(new Set([eve.person]));
    });

    it("of a machine that may only push do not let it read, and the other way round", async () => {
      const pusher = await invite(owner, "Build server", { scopes: ["push"] });
      const reader = await invite(owner, "Reader", { scopes: ["read"] });
      expect((await pusher.ask("GET", "/api/sessions")).status).toBe(403);
      expect((await pusher.ask("POST", "/team/api/open", {})).status).toBe(403);
      expect((await pusher.ask("GET", "/team/api/people")).status).toBe(403);
      expect((await reader.ask("POST", "/team/api/have", { sessions: [] })).status).toBe(403);
      expect((await reader.ask("POST", "/team/api/withdraw", { ids: ["codex:x"] })).status).toBe(403);
    });

    it("end at once when a person leaves a space", async () => {
      const { body } = await owner.ask<{ id: number }>("POST", "/team/api/spaces", {
        name: "Launch",
        kind: "project",
        people: [mika.person, eve.person],
      });
      await mika.push(makeSession({ id: "codex:launch", texts: ["a narwhal in the project space"] }), body.id);
      expect(JSON.stringify((await eve.ask("GET", "/api/search?q=narwhal")).body)).toContain("project space");
      await owner.ask("DELETE", `/team/api/spaces/${body.id}/people`, { people: [eve.person] });
      expect(JSON.stringify((await eve.ask("GET", "/api/search?q=narwhal")).body)).not.toContain("project space");
      expect(JSON.stringify((await owner.ask("GET", "/api/search?q=narwhal")).body)).not.toContain("project space");
    });
  });

  it("a stolen machine is of no use once it is revoked: not its token, key, sign-in link or cookie", async () => {
    const second = await mika.ask<{ link: string }>("POST", "/team/api/invites", {
      scopes: ["push", "read"],
      person: mika.person,
    });
    const stolen = await joinBy(server.node, second.body.link, "ignored", "stolen laptop");
    const link = await stolen.ask<{ url: string }>("POST", "/team/api/open", {});
    const used = await stolen.ask<{ url: string }>("POST", "/team/api/open", {});
    const cookie =
      String((await ask(server.node, "GET", new URL(used.body.url).pathname)).headers.get("set-cookie")).split(
        ";",
      )[0] ?? "";
    expect((await ask(server.node, "GET", "/api/sessions", { cookie })).status).toBe(200);
    expect((await mika.ask("DELETE", `/team/api/devices/${stolen.device}`)).status).toBe(200);
    expect((await stolen.ask("GET", "/api/sessions")).status).toBe(401);
    expect((await stolen.ask("POST", "/team/api/have", { sessions: [] })).status).toBe(401);
    expect((await ask(server.node, "GET", "/api/sessions", { cookie })).status).toBe(401);
    expect((await ask(server.node, "GET", new URL(link.body.url).pathname)).status).toBe(401);
    const refused = await ask(server.node, "POST", "/team/api/token", { body: tokenRequest(stolen) });
    expect([refused.status, refused.body.code]).toEqual([401, "TEAM_MACHINE_REVOKED"]);
    // Only the holder of the key learns that.
    const forged = { ...tokenRequest(mika), device: stolen.device };
    expect((await ask(server.node, "POST", "/team/api/token", { body: forged })).body.code).toBe(
      "TEAM_SIGNATURE_INVALID",
    );
    // Its person goes on with the other machine; the last owner cannot lock itself out.
    expect((await mika.ask("GET", "/api/sessions")).status).toBe(200);
    const last = await owner.ask("DELETE", `/team/api/devices/${owner.device}`);
    expect([last.status, last.body.code]).toEqual([409, "TEAM_LAST_OWNER"]);
  });

  it("replayed pushes change nothing", async () => {
    const short = makeSession({ id: "codex:r1", texts: ["one"], replies: [[7_001, 10]] });
    const long = makeSession({
      id: "codex:r1",
      texts: ["one", "two"],
      replies: [
        [7_001, 10],
        [7_002, 20],
      ],
    });
    await eve.push(short);
    await eve.push(long);
    const totals = async () =>
      JSON.stringify((await eve.ask<{ totals: { tokens: unknown } }>("GET", "/api/usage?by=model")).body.totals.tokens);
    const before = await totals();
    expect((await eve.push(long)).body).toMatchObject({ outcome: "unchanged" });
    const all = await Promise.all([eve.push(long), eve.push(long), eve.push(long)]);
    expect(all.map(({ body }) => body.outcome)).toEqual(["unchanged", "unchanged", "unchanged"]);
    expect(await totals()).toBe(before);
    const found = await eve.ask<{ sessions: { id: string }[] }>("GET", "/api/sessions?limit=1000");
    expect(found.body.sessions.filter((session) => session.id.endsWith("~r1"))).toHaveLength(1);
  });

  describe("a hostile client", () => {
    it("cannot write to a session of another machine by its id", async () => {
      for (const bad of [`codex:${mika.machine}~private-1`, "codex:../../x", "codex:%2e%2e"]) {
        const session = makeSession({ id: bad, texts: ["overwritten"] });
        await eve.push({ ...session, manifest: { ...session.manifest } }, eve.mine);
      }
      const kept = await mika.ask<{ session: { title: string } }>("GET", `/api/sessions/${encodeURIComponent(id)}`);
      expect(kept.body.session.title).toBe(`${MARK} plan`);
      const rows = await server.rows<{ session: string }>("select session from team_session where machine = ?", [
        eve.machine,
      ]);
      expect(rows.every(({ session }) => session.includes(`:${eve.machine}~`))).toBe(true);
    });

    it("is refused with a clear error for bodies that are wrong, huge or bombs", async () => {
      const hash = "a".repeat(64);
      const put = (sha256: string, body: Uint8Array, headers = {}) =>
        ask(server.node, "PUT", `/team/api/blobs/${sha256}`, { token: eve.token, body, headers });
      expect((await put(hash, gzipSync("other bytes"))).body.code).toBe("TEAM_BLOB_WRONG");
      expect((await put(hash, Buffer.from("no gzip"))).body.code).toBe("TEAM_BLOB_WRONG");
      expect((await put(hash, gzipSync(Buffer.alloc(64 * 2 ** 20)))).body.code).toBe("TEAM_BLOB_WRONG");
      expect((await put(hash, randomBytes(5 * 2 ** 20))).body.code).toBe("BODY_TOO_LARGE");
      expect((await put("../../etc/passwd", gzipSync("x"))).status).toBeGreaterThanOrEqual(400);
      expect((await put("A".repeat(64), gzipSync("x"))).body.code).toBe("INVALID_INPUT");
      expect(
        (await ask(server.node, "PUT", `/team/api/blobs/${hash}`, { token: eve.token, body: { a: 1 } })).body.code,
      ).toBe("NOT_JSON");
      const session = makeSession({ id: "codex:h1", texts: ["x"] });
      const { manifest } = session;
      for (const bad of [
        {},
        { ...manifest, version: 2 },
        { ...manifest, id: "claude-code:h1" },
        { ...manifest, id: "codex:line\nbreak" },
        { ...manifest, id: 7 },
        { ...manifest, tool: "../codex", id: "../codex:x" },
        { ...manifest, events: ["xyz"] },
        { ...manifest, summary: { ...manifest.summary, title: { $gt: "" } } },
        {
          ...manifest,
          summary: {
            ...manifest.summary,
            usage: { m: { input: -1, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 } },
          },
        },
        {
          ...manifest,
          summary: {
            ...manifest.summary,
            usage: { m: { input: 1e300, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 } },
          },
        },
        {
          ...manifest,
          summary: { ...manifest.summary, links: [{ kind: "pull-request", url: "javascript:alert(1)" }] },
        },
        { ...manifest, born: "yesterday" },
        { ...manifest, project: { kind: "repository", name: "", key: "k" } },
      ]) {
        const answer = await eve.ask("POST", "/team/api/sessions", { space: eve.mine, manifest: bad });
        expect([JSON.stringify(bad).slice(0, 80), answer.status]).toEqual([JSON.stringify(bad).slice(0, 80), 400]);
      }
      const huge = await eve.ask("POST", "/team/api/sessions", {
        space: eve.mine,
        manifest,
        junk: "x".repeat(9 * 2 ** 20),
      });
      expect(huge.body.code).toBe("BODY_TOO_LARGE");
      const many = await eve.ask("POST", "/team/api/have", {
        sessions: Array.from({ length: 1_001 }, (_, i) => ({ id: `codex:${i}`, digest: hash })),
      });
      expect(many.body.code).toBe("INVALID_INPUT");
      const deep = await ask(server.node, "POST", "/team/api/join", {
        body: JSON.parse(`${'{"a":'.repeat(80)}1${"}".repeat(80)}`),
      });
      expect(deep.body.code).toBe("INVALID_JSON");
    });

    it("finds no SQL to inject into, in any field", async () => {
      const counted = async () => (await server.rows<{ n: number }>("select count(*) as n from session"))[0]?.n;
      const before = Number(await counted());
      let pushed = 0;
      for (const [i, sql] of SQL.entries()) {
        const session = makeSession({ id: `codex:${sql}`, texts: [sql, sql], title: sql, project: sql, parent: sql });
        const usage = { [sql]: { input: 1, output: 1, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 } };
        const manifest = {
          ...session.manifest,
          name: sql,
          toolLabel: sql,
          summary: { ...session.manifest.summary, usage, gitBranch: sql, forkedFrom: sql, tags: [sql] },
        };
        const answer = await eve.push({ ...session, manifest, digest: toDigest(manifest) }, eve.mine);
        expect([sql, answer.status, answer.body.outcome]).toEqual([sql, 200, "imported"]);
        pushed++;
        const encoded = encodeURIComponent(sql);
        for (const path of [
          `/api/search?q=${encoded}`,
          `/api/sessions?q=${encoded}&tool=${encoded}`,
          `/api/sessions/${encoded}`,
          `/api/sessions/find?name=${encoded}`,
          `/api/projects/${encoded}`,
          `/api/usage?by=model&project=${encoded}`,
          `/api/team/sessions?q=${encoded}`,
          `/team/api/access?person=${encoded}&before=${encoded}&limit=${encoded}`,
          `/auth/${encoded}`,
        ]) {
          const found = await eve.ask("GET", path);
          expect([path, found.status < 500], JSON.stringify(found.body)).toEqual([path, true]);
        }
        expect(
          (await eve.ask("POST", "/team/api/have", { sessions: [{ id: `codex:${sql}`, digest: session.digest }] }))
            .status,
        ).toBe(200);
        expect(
          (
            await ask(server.node, "POST", "/team/api/join", {
              body: { invite: sql, name: sql, machine: sql, publicKey: sql },
              headers: { "x-n": String(i) },
            })
          ).status,
        ).toBe(400);
        expect(
          (
            await ask(server.node, "POST", "/team/api/token", {
              body: { device: sql, at: sql, nonce: sql, signature: sql },
            })
          ).status,
        ).toBe(400);
      }
      expect(Number(await counted())).toBe(before + pushed);
      const listed = await eve.ask<{ sessions: { title: string }[] }>("GET", "/api/sessions?limit=1000");
      for (const sql of SQL) expect(listed.body.sessions.some(({ title }) => title === sql)).toBe(true);
    });

    it("may use names of any length", async () => {
      const long = "n".repeat(20_000);
      const session = makeSession({ id: "codex:long", texts: ["x"], tool: long, title: long.slice(0, 2_000) });
      expect((await eve.push(session, eve.mine)).body).toMatchObject({ outcome: "imported" });
      expect(
        (await eve.ask("GET", `/api/sessions/${encodeURIComponent(`codex:${eve.machine}~long`)}/figures`)).status,
      ).toBe(200);
    });

    it("is not heard under another name or from another site", async () => {
      const foreign: Record<string, string>[] = [
        { host: "evil.example.com" },
        { host: "127.0.0.1:1" },
        { origin: "https://evil.example.com" },
        { origin: "null" },
        { "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" },
        { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" },
      ];
      for (const headers of foreign) {
        const answer = await ask(server.node, "GET", "/api/sessions", { token: eve.token, headers });
        expect([JSON.stringify(headers), answer.status]).toEqual([JSON.stringify(headers), 403]);
      }
    });

    it("learns no folder of the server from any route", async () => {
      for (const pattern of offered) {
        const path = pattern
          .replace(":id", encodeURIComponent(`codex:${eve.machine}~e1`))
          .replace("/**", "/index.html");
        const { body } = await eve.ask("GET", path);
        expect(JSON.stringify(body).includes(server.folder), `${path} -> ${JSON.stringify(body).slice(0, 400)}`).toBe(
          false,
        );
      }
      expect((await eve.ask("GET", "/api/status")).body).toMatchObject({ dataDir: "" });
    });

    it("joins with no key in whose name anybody can sign, and with no name that misleads", async () => {
      const made = await owner.ask<{ link: string }>("POST", "/team/api/invites", { scopes: ["read"] });
      const invite = made.body.link.split("#")[1];
      const join = (publicKey: string, name: string) =>
        ask(server.node, "POST", "/team/api/join", { body: { invite, name, machine: "x", publicKey } });
      const one = Buffer.alloc(32);
      one[0] = 1;
      expect((await join(one.toString("base64url"), "x")).body).toMatchObject({
        code: "TEAM_KEY_INVALID",
        message: expect.stringContaining("low order"),
      });
      const key = randomBytes(32).toString("base64url");
      for (const name of ["a\u202eb", "a\u001b[31mb", "a\u2066b"])
        expect((await join(key, name)).body).toMatchObject({ code: "INVALID_INPUT" });
    });

    it("is slowed down when it guesses invitations", async () => {
      const guess = () =>
        ask(server.node, "POST", "/team/api/join", {
          body: {
            invite: randomBytes(32).toString("base64url"),
            name: "x",
            machine: "x",
            publicKey: randomBytes(32).toString("base64url"),
          },
        });
      const answers: number[] = [];
      for (let i = 0; i < 15; i++) answers.push((await guess()).status);
      expect(answers.at(-1)).toBe(429);
    });
  });

  it("nothing failed inside", () => {
    expect(server.log).toEqual([]);
  });
});
