/** Read tokens: for a program that reads for months, and may do nothing else. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGate } from "../../plugins/team/server/gate.ts";
import { ask, invite, joinBy, joinOwner, type Machine, makeSession, startServer, type TestServer } from "./node.ts";
import { engines } from "./postgres.ts";

interface Made {
  id: string;
  token: string;
  expires: string;
}

describe.each(engines())("a read token on $name", (engine) => {
  let server: TestServer;
  let owner: Machine;
  let mika: Machine;
  let eve: Machine;

  beforeAll(async () => {
    server = await startServer(engine);
    owner = await joinOwner(server);
    mika = await invite(owner, "Mika");
    eve = await invite(owner, "Eve");
    await mika.push(makeSession({ id: "codex:m1", texts: ["a private axolotl"] }), mika.mine);
  });
  afterAll(() => server?.close());

  const make = async (machine: Machine, body: object = {}) => {
    const answer = await machine.ask<Made & { code?: string }>("POST", "/team/api/tokens", { name: "mcp", ...body });
    expect([answer.status, answer.body.code]).toEqual([200, undefined]);
    return answer.body;
  };
  const read = (token: string, path = "/api/search?q=axolotl") =>
    ask<{ code?: string }>(server.node, "GET", path, { token });
  const listed = async (machine: Machine) =>
    (
      await machine.ask<{ tokens: { id: string; person: { name: string }; usedAt: string | null }[] }>(
        "GET",
        "/team/api/tokens",
      )
    ).body.tokens;

  it("reads what its person may read, for 90 days or as many as were asked for; only its hash is stored", async () => {
    const { id, token, expires } = await make(mika);
    expect(Math.round((Date.parse(expires) - Date.now()) / 86_400_000)).toBe(90);
    expect(JSON.stringify((await read(token)).body)).toContain("axolotl");
    expect(JSON.stringify((await read((await make(eve)).token)).body)).not.toContain("a private axolotl");
    const begun = await ask<string>(server.node, "POST", "/mcp", {
      token,
      headers: { accept: "application/json, text/event-stream" },
      body: {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
      },
    });
    expect(begun.status).toBe(200);
    expect(await server.everywhere(token)).toEqual([]);
    // Each use is in the access log, under the token's id.
    const uses = await server.rows<{ path: string; person: string }>(
      "select path, person from team_access where device = ? order by at",
      [id],
    );
    expect(uses.map(({ path, person }) => [path, person])).toEqual([
      ["/api/search", mika.person],
      ["/mcp", mika.person],
    ]);
    const [own] = await listed(mika);
    expect(own).toMatchObject({ id, person: { name: "Mika" }, usedAt: expect.any(String) });
    for (const days of [0, 366, 1.5])
      expect((await mika.ask("POST", "/team/api/tokens", { name: "x", days })).status).toBe(400);
  });

  it("pushes nothing, manages nothing, and makes nothing that outlives it", async () => {
    const { token } = await make(owner);
    const session = makeSession({ id: "codex:t1", texts: ["one"] });
    for (const [method, path, body] of [
      ["POST", "/team/api/sessions", { space: owner.team, manifest: session.manifest }],
      ["POST", "/team/api/have", { sessions: [] }],
      ["POST", "/team/api/withdraw", { ids: ["codex:m1"] }],
      ["POST", "/team/api/open", {}],
      ["POST", "/team/api/tokens", { name: "another" }],
      ["POST", "/team/api/invites", { scopes: ["read"], person: owner.person }],
      ["POST", "/team/api/spaces", { name: "mine", kind: "project", people: [owner.person] }],
      ["DELETE", `/team/api/devices/${mika.device}`, undefined],
      ["GET", "/team/api/people", undefined],
      ["GET", "/team/api/tokens", undefined],
      ["GET", "/team/api/access", undefined],
    ] as const) {
      const answer = await ask(server.node, method, path, { token, ...(body && { body }) });
      expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 403, "TEAM_FORBIDDEN"]);
    }
    // It is no cookie, and no ticket of a sign-in link.
    expect((await ask(server.node, "GET", "/api/sessions", { cookie: `sessarc_team=${token}` })).status).toBe(401);
    expect((await ask(server.node, "GET", `/auth/${token}`)).status).toBe(401);
    expect((await ask(server.node, "DELETE", "/api/sessions/x", { token })).status).toBe(422);
  });

  it("is made by a machine that may read: by no browser, and by no machine that only pushes", async () => {
    const opened = await mika.ask<{ url: string }>("POST", "/team/api/open", {});
    const page = await ask(server.node, "GET", new URL(opened.body.url).pathname);
    const cookie = String(page.headers.get("set-cookie")).split(";")[0] ?? "";
    expect((await ask(server.node, "GET", "/api/sessions", { cookie })).status).toBe(200);
    expect((await ask(server.node, "POST", "/team/api/tokens", { cookie, body: { name: "x" } })).body.code).toBe(
      "TEAM_FORBIDDEN",
    );
    const builder = await invite(owner, "Build", { scopes: ["push"] });
    expect((await builder.ask("POST", "/team/api/tokens", { name: "x" })).status).toBe(403);
  });

  it("is listed and revoked by its person and by owners, not by others; a revoked one ends at once", async () => {
    const one = await make(mika, { days: 1 });
    const two = await make(mika);
    expect((await listed(eve)).map(({ id }) => id)).not.toContain(one.id);
    expect((await listed(owner)).map(({ id }) => id)).toEqual(expect.arrayContaining([one.id, two.id]));
    const stolen = await eve.ask("DELETE", `/team/api/tokens/${one.id}`);
    expect([stolen.status, stolen.body.code]).toEqual([404, "TEAM_NOT_FOUND"]);
    expect((await read(one.token)).status).toBe(200);
    expect((await mika.ask("DELETE", `/team/api/tokens/${one.id}`)).status).toBe(200);
    expect((await read(one.token)).status).toBe(401);
    expect((await mika.ask("DELETE", `/team/api/tokens/${one.id}`)).status).toBe(404);
    expect((await owner.ask("DELETE", `/team/api/tokens/${two.id}`)).status).toBe(200);
    expect((await read(two.token)).status).toBe(401);
  });

  it("ends when it expires, with the machine that made it, and with its person", async () => {
    const late = await make(mika);
    await server.node.database.owner.run("update team_token set expires_at = 1 where id = ?", [late.id]);
    expect((await read(late.token)).status).toBe(401);

    const link = await mika.ask<{ link: string }>("POST", "/team/api/invites", {
      scopes: ["read"],
      person: mika.person,
    });
    const lost = await joinBy(server.node, link.body.link, "ignored", "lost laptop");
    const [byLost, kept] = [await make(lost), await make(mika)];
    await mika.ask("DELETE", `/team/api/devices/${lost.device}`);
    expect((await read(byLost.token)).status).toBe(401);
    expect((await read(kept.token)).status).toBe(200);

    const gone = await make(eve);
    await server.node.database.owner.run("update team_person set removed_at = ? where id = ?", [
      Date.now(),
      eve.person,
    ]);
    expect((await read(gone.token)).status).toBe(401);
    expect(server.log).toEqual([]);
  });
});

describe("links of a server behind a proxy", () => {
  it("name without an address the one that the server listens on, not its loopback", () => {
    expect(createGate("192.168.1.5", 41_730, undefined).addresses[0]).toBe("http://192.168.1.5:41730");
    expect(createGate("0.0.0.0", 41_730, undefined).addresses[0]).toBe("http://127.0.0.1:41730");
    expect(createGate("192.168.1.5", 41_730, "https://team.example.com").addresses).toEqual([
      "https://team.example.com",
    ]);
  });

  it("name the address that the operator configured, in invitations, sign-in links and answers to agents", async () => {
    const [engine] = engines();
    if (!engine) throw new Error("no engine");
    const address = "https://team.example.com";
    const server = await startServer(engine, { address });
    try {
      const headers = { host: "team.example.com", "x-forwarded-for": "203.0.113.9" };
      const link = (await server.node.ownerLink()) ?? "";
      expect(link).toMatch(/^https:\/\/team\.example\.com\/join#/);
      const owner = await joinBy(server.node, link, "Olga", "laptop", address);
      const answers = await Promise.all([
        owner.ask<{ link: string }>("POST", "/team/api/invites", { scopes: ["read"] }),
        owner.ask<{ url: string }>("POST", "/team/api/open", {}),
      ]);
      expect(answers.map(({ body }) => ("link" in body ? body.link : body.url).split(/[#]|auth/)[0])).toEqual([
        `${address}/join`,
        `${address}/`,
      ]);
      await owner.push(makeSession({ id: "codex:o1", texts: ["an axolotl"] }));
      const rpc = async (method: string, params: object, session?: string) =>
        ask<string>(server.node, "POST", "/mcp", {
          token: owner.token,
          headers: {
            ...headers,
            accept: "application/json, text/event-stream",
            ...(session !== undefined && { "mcp-session-id": session }),
          },
          body: { jsonrpc: "2.0", id: 1, method, params },
        });
      const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
      const session = (await rpc("initialize", client)).headers.get("mcp-session-id") ?? "";
      const tools = JSON.stringify((await rpc("tools/list", {}, session)).body);
      const name = /"name\\*":\\*"([^"\\]*search_sessions)/.exec(tools)?.[1];
      const called = await rpc("tools/call", { name, arguments: { query: "axolotl" } }, session);
      expect(JSON.stringify(called.body)).toContain(`${address}/sessions/codex`);
    } finally {
      await server.close();
    }
  });
});
