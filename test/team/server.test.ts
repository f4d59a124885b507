/** The team server: joining, pushing, reading, withdrawing; against PGlite and a real PostgreSQL. */
import { createPublicKey, randomBytes, verify } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ask,
  invite,
  joinBy,
  joinOwner,
  type Machine,
  makeSession,
  startServer,
  type TestServer,
  tokenRequest,
} from "./node.ts";
import { engines } from "./postgres.ts";

interface Listed {
  sessions: { id: string; title: string | null; usage: Record<string, { output: number }>; name: string | null }[];
}

describe.each(engines())("a team server on $name", (engine) => {
  let server: TestServer;
  let owner: Machine;
  let member: Machine;
  beforeAll(async () => {
    server = await startServer(engine);
    owner = await joinOwner(server);
    member = await invite(owner, "Mika");
  });
  afterAll(async () => {
    await server?.close();
    expect(server?.log).toEqual([]);
  });

  const listed = async (machine: Machine) => {
    const { status, body } = await machine.ask<Listed>("GET", "/api/sessions?limit=100");
    expect(status, JSON.stringify(body)).toBe(200);
    return body.sessions;
  };
  const toOutput = (sessions: Listed["sessions"]) =>
    sessions.reduce((sum, { usage }) => sum + Object.values(usage).reduce((part, { output }) => part + output, 0), 0);

  it("answers health, readiness and metrics", async () => {
    expect((await ask(server.node, "GET", "/healthz", { headers: { host: "10.0.0.7:8080" } })).body).toBe("ok\n");
    expect((await ask(server.node, "GET", "/readyz")).body).toBe("ready\n");
    // A request without a socket has no address, so it is not from the local network.
    expect((await ask(server.node, "GET", "/metrics")).status).toBe(401);
  });

  describe("joining", () => {
    it("gives each person a private space, and the team's", () => {
      expect(owner.scopes).toEqual(["push", "read", "own"]);
      expect(member.scopes).toEqual(["push", "read"]);
      expect(member.spaces.map(({ kind, mine }) => [kind, mine])).toEqual([
        ["team", false],
        ["private", true],
      ]);
    });

    it("takes an invitation once, and no invented one", async () => {
      const made = await owner.ask<{ link: string }>("POST", "/team/api/invites", { scopes: ["read"] });
      await joinBy(server.node, made.body.link, "Nova");
      await expect(joinBy(server.node, made.body.link, "Eve")).rejects.toThrow("TEAM_INVITE_INVALID");
      const invented = `http://127.0.0.1/join#${randomBytes(32).toString("base64url")}`;
      await expect(joinBy(server.node, invented, "Eve")).rejects.toThrow("TEAM_INVITE_INVALID");
      expect(await server.node.ownerLink()).toBeUndefined();
    });

    it("lets two who use one invitation at once join only once", async () => {
      const made = await owner.ask<{ link: string }>("POST", "/team/api/invites", { scopes: ["read"] });
      const both = await Promise.allSettled([
        joinBy(server.node, made.body.link, "Ida"),
        joinBy(server.node, made.body.link, "Ivo"),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    });

    it("refuses a revoked invitation", async () => {
      const made = await owner.ask<{ link: string; id: string }>("POST", "/team/api/invites", { scopes: ["read"] });
      expect((await owner.ask("DELETE", `/team/api/invites/${made.body.id}`)).status).toBe(200);
      await expect(joinBy(server.node, made.body.link, "Eve")).rejects.toThrow("TEAM_INVITE_INVALID");
    });

    it("lets a member invite their own second machine, with no more rights than they have, and no other person", async () => {
      const second = await member.ask<{ link: string }>("POST", "/team/api/invites", {
        scopes: ["push"],
        person: member.person,
      });
      const desktop = await joinBy(server.node, second.body.link, "ignored", "desktop");
      expect([desktop.person, desktop.scopes]).toEqual([member.person, ["push"]]);
      expect((await desktop.ask("GET", "/api/sessions")).status).toBe(403);
      const own = await member.ask("POST", "/team/api/invites", { scopes: ["own"], person: member.person });
      expect([own.status, own.body.code]).toEqual([403, "TEAM_FORBIDDEN"]);
      expect((await member.ask("POST", "/team/api/invites", { scopes: ["read"] })).status).toBe(403);
    });

    it("signs a token for the holder of the key, once for each nonce, at this address, now", async () => {
      const good = tokenRequest(member);
      const token = await ask<{ token: string }>(server.node, "POST", "/team/api/token", { body: good });
      expect(token.status).toBe(200);
      for (const bad of [
        good,
        tokenRequest(member, "https://another.example.com"),
        tokenRequest(member, undefined, new Date(Date.now() - 3_600_000)),
        { ...tokenRequest(member), device: owner.device },
        { ...tokenRequest(member), nonce: randomBytes(16).toString("base64url") },
      ]) {
        const answer = await ask(server.node, "POST", "/team/api/token", { body: bad });
        expect([answer.status, answer.body.code]).toEqual([401, "TEAM_SIGNATURE_INVALID"]);
      }
    });

    it("stores no secret as it is", async () => {
      const made = await owner.ask<{ link: string }>("POST", "/team/api/invites", { scopes: ["read"] });
      const opened = await owner.ask<{ url: string }>("POST", "/team/api/open", {});
      const secrets = [made.body.link.split("#")[1], opened.body.url.split("/auth/")[1], owner.token];
      const rows = JSON.stringify([
        await server.rows("select * from team_invite"),
        await server.rows("select * from team_token"),
        await server.rows("select * from team_device"),
        await server.rows("select * from team_access"),
      ]);
      for (const secret of secrets) expect(rows.includes(secret ?? "?")).toBe(false);
    });
  });

  describe("pushing", () => {
    const session = makeSession({
      id: "claude-code:a1",
      texts: ["Where does the flamingo counter live?", "In the aviary module."],
      title: "Flamingos",
      replies: [[101, 40]],
    });

    it("imports a session, which the team finds and searches", async () => {
      const have = { sessions: [{ id: "claude-code:a1", digest: session.digest }] };
      expect((await owner.ask("POST", "/team/api/have", have)).body).toEqual({
        missing: ["claude-code:a1"],
        withdrawn: [],
      });
      expect(await owner.push(session)).toMatchObject({
        status: 200,
        body: { id: "claude-code:a1", outcome: "imported", digest: session.digest },
      });
      expect((await owner.ask("POST", "/team/api/have", have)).body.missing).toEqual([]);
      expect((await owner.push(session)).body).toMatchObject({ outcome: "unchanged" });
      expect((await listed(member)).map(({ id, title }) => [id, title])).toEqual([
        [`claude-code:${owner.machine}~a1`, "Flamingos"],
      ]);
      const found = await member.ask("GET", "/api/search?q=flamingo");
      expect(found.status, JSON.stringify(found.body)).toBe(200);
      expect(JSON.stringify(found.body)).toContain("flamingo counter");
      const messages = await member.ask<{ messages: { text: string }[] }>(
        "GET",
        `/api/sessions/${encodeURIComponent(`claude-code:${owner.machine}~a1`)}/messages`,
      );
      expect(messages.body.messages.map(({ text }) => text)).toEqual([
        "Where does the flamingo counter live?",
        "In the aviary module.",
      ]);
    });

    it("counts a reply once that two machines have", async () => {
      const copy = makeSession({
        id: "claude-code:a1",
        texts: ["Copied home"],
        replies: [
          [101, 40],
          [102, 7],
        ],
      });
      expect((await member.push(copy)).status).toBe(200);
      expect(toOutput(await listed(owner))).toBe(47);
      const usage = await owner.ask<{ totals: { usage: Record<string, { output: number }> } }>(
        "GET",
        "/api/usage?days=3650",
      );
      expect(usage.status, JSON.stringify(usage.body)).toBe(200);
    });

    it("files sessions of one repository under one project, whatever the assistant and the machine", async () => {
      await member.push(makeSession({ id: "codex:p1", texts: ["x"], project: "acme" }));
      const { body } = await owner.ask<{ name: string; path: string | null; tools: string[] }[]>(
        "GET",
        "/api/projects",
      );
      expect(body.map(({ name, path, tools }) => [name, path, [...tools].sort()])).toEqual([
        ["acme", null, ["claude-code", "codex"]],
      ]);
    });

    it("imports a session of an assistant that it does not know", async () => {
      expect((await member.push(makeSession({ id: "brand-new:n1", texts: ["hello from the future"] }))).status).toBe(
        200,
      );
      expect((await listed(owner)).some(({ id }) => id === `brand-new:${member.machine}~n1`)).toBe(true);
    });

    it("takes a session that grew, and keeps what its readers have", async () => {
      const longer = makeSession({
        id: "claude-code:a1",
        texts: ["Where does the flamingo counter live?", "In the aviary module.", "Move it to the zoo"],
        title: "Flamingos",
        replies: [
          [101, 40],
          [103, 5],
        ],
      });
      expect((await owner.push(longer)).body).toMatchObject({ outcome: "imported" });
      const found = await member.ask("GET", "/api/search?q=zoo");
      expect(JSON.stringify(found.body)).toContain("Move it to the");
      expect(toOutput(await listed(owner))).toBe(52);
    });

    it("names the sessions that a push or a withdrawal changed, so that others read those again and no more", async () => {
      const { database } = server.node;
      const id = (session: string) => `${session.replace(":", `:${member.machine}~`)}`;
      const before = await database.generation(1);
      await member.push(makeSession({ id: "codex:ch1", texts: ["one"], replies: [[700, 3]] }));
      expect(await database.changesSince(1, before)).toEqual([id("codex:ch1")]);
      const between = await database.generation(1);
      // It claims a reply, and the copy is written again without it.
      await member.push(makeSession({ id: "codex:ch0", texts: ["two"], replies: [[700, 3]], born: 1 }));
      expect([...((await database.changesSince(1, between)) ?? [])].sort()).toEqual([id("codex:ch0"), id("codex:ch1")]);
      const last = await database.generation(1);
      await member.ask("POST", "/team/api/withdraw", { ids: ["codex:ch0", "codex:ch1"] });
      expect(await database.changesSince(1, last)).toEqual(expect.arrayContaining([id("codex:ch0"), id("codex:ch1")]));
      expect(await database.changesSince(1, await database.generation(1))).toEqual([]);
    });

    it("says which chunks are missing, and takes the session once they are there", async () => {
      const one = makeSession({ id: "codex:c1", texts: ["chunked"] });
      const early = await member.ask<{ code: string; message: string }>("POST", "/team/api/sessions", {
        space: member.team,
        manifest: one.manifest,
      });
      expect([early.status, early.body.code]).toEqual([409, "TEAM_BLOBS_MISSING"]);
      expect(early.body.message).toContain(one.manifest.events[0]);
      expect((await member.push(one)).status).toBe(200);
    });

    it("moves a session to another space when it is pushed there", async () => {
      const one = makeSession({ id: "codex:m1", texts: ["a wandering tapir"] });
      await member.push(one, member.mine);
      expect((await listed(owner)).some(({ id }) => id.endsWith("~m1"))).toBe(false);
      expect((await listed(member)).some(({ id }) => id.endsWith("~m1"))).toBe(true);
      const have = { sessions: [{ id: "codex:m1", digest: one.digest, space: member.team }] };
      expect((await member.ask("POST", "/team/api/have", have)).body.missing).toEqual(["codex:m1"]);
      expect((await member.push(one, member.team)).body).toMatchObject({ outcome: "imported" });
      expect((await listed(owner)).some(({ id }) => id.endsWith("~m1"))).toBe(true);
    });

    it("moves a session whose sub-agent was moved before: both are there", async () => {
      const [one, agent] = [
        makeSession({ id: "codex:m2", texts: ["a nomadic tapir"] }),
        makeSession({ id: "codex:m2-agent", texts: ["its calf"], parent: "m2" }),
      ];
      for (const session of [one, agent]) await member.push(session, member.mine);
      await member.push(agent, member.team);
      await member.push(one, member.team);
      const there = (await listed(owner)).map(({ id }) => id.replace(/.*~/, ""));
      expect(there).toContain("m2");
      const path = `/api/sessions/${encodeURIComponent(`codex:${member.machine}~m2-agent`)}/messages`;
      expect(JSON.stringify((await owner.ask("GET", path)).body)).toContain("its calf");
    });

    it("keeps the name that the user gave a session", async () => {
      const one = makeSession({ id: "codex:name1", texts: ["x"] });
      await member.push({ ...one, manifest: { ...one.manifest, name: "Renamed" } });
      expect((await listed(owner)).find(({ id }) => id.endsWith("~name1"))?.name).toBe("Renamed");
    });

    it("files a sub-agent under the session of its own machine", async () => {
      await member.push(makeSession({ id: "codex:parent", texts: ["x"] }));
      await member.push(makeSession({ id: "codex:child", texts: ["y"], parent: "parent" }));
      const { body } = await owner.ask<{ subagents: { id: string }[] }>(
        "GET",
        `/api/sessions/${encodeURIComponent(`codex:${member.machine}~parent`)}`,
      );
      expect(body.subagents.map(({ id }) => id)).toEqual([`codex:${member.machine}~child`]);
    });
  });

  describe("whose sessions are whose", () => {
    it("is said beside each session of a list, and of one", async () => {
      type Owned = { id: string; owner?: string };
      const { body } = await owner.ask<{ sessions: Owned[] }>("GET", "/api/sessions?limit=100");
      expect(body.sessions.length).toBeGreaterThan(1);
      for (const session of body.sessions)
        expect([session.id, session.owner]).toEqual([
          session.id,
          session.id.includes(member.machine) ? "Mika" : "Olga",
        ]);
      const [first] = body.sessions;
      const one = await owner.ask<{ session: Owned }>("GET", `/api/sessions/${encodeURIComponent(first?.id ?? "")}`);
      expect(one.body.session.owner).toBe(first?.owner);
    });

    it("names people and machines, and answers usage and sessions of each", async () => {
      const { body } = await owner.ask<{ people: { id: string; name: string; machines: { name: string }[] }[] }>(
        "GET",
        "/api/team/people",
      );
      expect(body.people.map(({ name, machines }) => [name, machines.map((one) => one.name)])).toEqual([
        ["Mika", ["Mika's laptop"]],
        ["Olga", ["Olga's laptop"]],
      ]);
      const usage = await owner.ask<{
        rows: { key: string; tokens: { output: number }; cost: { microdollars: number } }[];
      }>("GET", "/api/team/usage?by=person");
      expect(usage.status, JSON.stringify(usage.body)).toBe(200);
      const total = usage.body.rows.reduce((sum, { tokens }) => sum + tokens.output, 0);
      expect(total).toBe(toOutput(await listed(owner)));
      expect(usage.body.rows.every(({ cost }) => cost.microdollars > 0)).toBe(true);
      const machines = await owner.ask<{ rows: { key: string }[] }>(
        "GET",
        "/api/team/usage?by=machine&tool=claude-code",
      );
      expect(machines.body.rows.map(({ key }) => key).sort()).toEqual([owner.machine, member.machine].sort());
      expect((await owner.ask("GET", "/api/team/usage?from=never")).status).toBe(400);

      const all: string[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page: { body: { sessions: { id: string; person: string }[]; nextCursor: string | null } } =
          await owner.ask("GET", `/api/team/sessions?person=${member.person}&limit=2${cursor && `&cursor=${cursor}`}`);
        for (const session of page.body.sessions) {
          expect(session.person).toBe(member.person);
          all.push(session.id);
        }
        cursor = page.body.nextCursor;
      }
      expect(all.sort()).toEqual(
        (await listed(owner)).flatMap(({ id }) => (id.includes(member.machine) ? id : [])).sort(),
      );
    });
  });

  describe("withdrawing", () => {
    it("removes a session everywhere, with a receipt that anybody can check", async () => {
      const one = makeSession({
        id: "codex:w1",
        texts: ["an embarrassing quokka"],
        replies: [
          [900, 100],
          [901, 1],
        ],
      });
      const copy = makeSession({
        id: "codex:w2",
        texts: ["copy of it"],
        replies: [[900, 100]],
        born: Date.parse("2026-11-21T10:00:00Z"),
      });
      await member.push(makeSession({ id: "codex:w1", texts: ["an embarrassing quokka, as it was first"] }));
      await member.push(one);
      expect(await server.transcripts(`codex:${member.machine}~w1`)).toBe(2);
      await owner.push(copy);
      const before = toOutput(await listed(owner));
      const answer = await member.ask<{
        removed: { id: string; digest: string }[];
        receipt: string;
        signature: string;
        publicKey: string;
      }>("POST", "/team/api/withdraw", { ids: ["codex:w1", "codex:unknown"] });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      const { removed, receipt, signature, publicKey } = answer.body;
      expect(removed.map(({ id, digest }) => [id, digest])).toEqual([["codex:w1", one.digest]]);
      const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: publicKey }, format: "jwk" });
      expect(verify(null, Buffer.from(receipt), key, Buffer.from(signature, "base64url"))).toBe(true);
      expect(JSON.parse(receipt)).toMatchObject({ person: member.person, device: member.device, removed });
      expect((await ask(server.node, "GET", "/team/api/key")).body).toEqual({ publicKey });

      const id = `codex:${member.machine}~w1`;
      expect((await owner.ask("GET", `/api/sessions/${encodeURIComponent(id)}`)).status).toBe(404);
      expect(JSON.stringify((await owner.ask("GET", "/api/search?q=quokka")).body)).not.toContain("embarrassing");
      // The copy counts the reply that both had.
      expect(toOutput(await listed(owner))).toBe(before - 1);
      expect(await server.everywhere(id)).toEqual(["team_change", "team_withdrawn", "tombstone"]);
      for (const sha256 of one.chunks.keys()) expect(await server.blob(sha256)).toBe(false);
      expect(await server.transcripts(id)).toBe(0);

      const again = await member.push(one);
      expect([again.status, again.body.code]).toEqual([410, "TEAM_WITHDRAWN"]);
      const have = { sessions: [{ id: "codex:w1", digest: one.digest }] };
      expect((await member.ask("POST", "/team/api/have", have)).body).toEqual({ missing: [], withdrawn: ["codex:w1"] });
      expect((await member.push(one, member.team, { again: true })).body).toMatchObject({ outcome: "imported" });
      expect(toOutput(await listed(owner))).toBe(before);
    });

    it("lets a person withdraw what a lost machine of theirs pushed, and no other person", async () => {
      const made = await member.ask<{ link: string }>("POST", "/team/api/invites", {
        scopes: ["push"],
        person: member.person,
      });
      const lost = await joinBy(server.node, made.body.link, "ignored", "lost laptop");
      await lost.push(makeSession({ id: "codex:lost", texts: ["left behind"] }));
      await member.ask("DELETE", `/team/api/devices/${lost.device}`);
      const withdraw = (machine: Machine) =>
        machine.ask<{ removed: { id: string }[]; code?: string }>("POST", "/team/api/withdraw", {
          ids: ["codex:lost"],
          machine: lost.machine,
        });
      expect((await withdraw(owner)).body.code).toBe("TEAM_NOT_FOUND");
      expect((await withdraw(member)).body.removed.map(({ id }) => id)).toEqual(["codex:lost"]);
    });

    it("keeps chunks that another session of the person needs", async () => {
      const one = makeSession({ id: "codex:s1", texts: ["shared text"] });
      const two = { ...one, manifest: { ...one.manifest, id: "codex:s2" } };
      await member.push(one);
      await member.push(two);
      await member.ask("POST", "/team/api/withdraw", { ids: ["codex:s1"] });
      for (const sha256 of one.chunks.keys()) expect(await server.blob(sha256)).toBe(true);
    });
  });

  describe("the dashboard", () => {
    it("opens by a link that works once, for reading", async () => {
      const opened = await member.ask<{ url: string }>("POST", "/team/api/open", {});
      const path = new URL(opened.body.url).pathname;
      const first = await ask(server.node, "GET", path);
      expect(first.status).toBe(200);
      const cookie = String(first.headers.get("set-cookie")).split(";")[0];
      expect(first.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Strict/);
      expect((await ask(server.node, "GET", path)).status).toBe(401);
      const listing = await ask<Listed>(server.node, "GET", "/api/sessions", { cookie: cookie ?? "" });
      expect(listing.status).toBe(200);
      expect(listing.body.sessions.length).toBeGreaterThan(0);
      expect(
        (await ask(server.node, "POST", "/team/api/have", { cookie: cookie ?? "", body: { sessions: [] } })).status,
      ).toBe(403);
      expect((await ask(server.node, "GET", "/")).status).toBe(401);
      expect((await ask(server.node, "GET", "/api/sessions")).body.code).toBe("TEAM_UNAUTHORIZED");
    });
  });

  it("answers agents by MCP, with the rights of whose token it is", async () => {
    const rpc = async (machine: Machine, method: string, params: object, session?: string) => {
      const answer = await ask<string>(server.node, "POST", "/mcp", {
        token: machine.token,
        body: { jsonrpc: "2.0", id: 1, method, params },
        headers: { accept: "application/json, text/event-stream", ...(session && { "mcp-session-id": session }) },
      });
      return { ...answer, text: typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body) };
    };
    await member.push(makeSession({ id: "codex:mcp", texts: ["a private axolotl"] }), member.mine);
    const found: Record<string, string> = {};
    for (const [name, machine] of [
      ["member", member],
      ["owner", owner],
    ] as const) {
      const begun = await rpc(machine, "initialize", {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "test", version: "1" },
      });
      expect(begun.status, begun.text).toBe(200);
      const session = begun.headers.get("mcp-session-id") ?? "";
      const tools = await rpc(machine, "tools/list", {}, session);
      const tool = /"name":"([^"]*search_sessions)"/.exec(tools.text)?.[1];
      expect(tool, tools.text.slice(0, 500)).toBeDefined();
      const called = await rpc(machine, "tools/call", { name: tool, arguments: { query: "axolotl" } }, session);
      found[name] = called.text;
    }
    expect(found.member).toContain("a private axolotl");
    expect(found.owner).not.toContain("a private axolotl");
    expect((await ask(server.node, "POST", "/mcp", { body: {} })).status).toBe(401);
    expect((await member.ask("POST", "/mcp/other", {})).status).toBe(422);
  });

  describe("the access log", () => {
    it("has every request, refused ones too, with who asked; owners see all, others themselves", async () => {
      await member.ask("GET", "/api/sessions/unknown");
      await ask(server.node, "GET", "/api/sessions");
      const all = (
        await owner.ask<{ entries: { person: string | null; path: string; status: number; code: string | null }[] }>(
          "GET",
          "/team/api/access?limit=1000",
        )
      ).body.entries;
      expect(
        all.some(
          ({ person, path, status }) => person === member.person && path === "/api/sessions/unknown" && status === 404,
        ),
      ).toBe(true);
      expect(
        all.some(({ person, status, code }) => person === null && status === 401 && code === "TEAM_UNAUTHORIZED"),
      ).toBe(true);
      const mine = (await member.ask<{ entries: { person: string | null }[] }>("GET", "/team/api/access?limit=1000"))
        .body.entries;
      expect(new Set(mine.map(({ person }) => person))).toEqual(new Set([member.person]));
    });
  });

  it("never failed inside", () => {
    expect(server.log).toEqual([]);
  });
});
