/** The end of a machine's and of a person's access: with all that they made, at once, and in the access log. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, invite, joinBy, joinOwner, type Machine, makeSession, startServer, type TestServer } from "./node.ts";
import { engines } from "./postgres.ts";

interface Invited {
  id: string;
  link: string;
}

describe.each(engines())("revoking on $name", (engine) => {
  let server: TestServer;
  let owner: Machine;
  /** Each with its own server: one takes ten joins a minute. */
  const started = () => {
    beforeAll(async () => {
      server = await startServer(engine);
      owner = await joinOwner(server);
    });
    afterAll(async () => {
      expect(server.log).toEqual([]);
      await server.close();
    });
  };

  const invitation = async (machine: Machine, body: object = {}) =>
    (await machine.ask<Invited>("POST", "/team/api/invites", { scopes: ["push", "read"], ...body })).body;
  const joining = (link: string) => joinBy(server.node, link, "Thief").catch((error: Error) => error.message);
  /** A browser's cookie, by a sign-in link. */
  async function readCookie(machine: Machine): Promise<string> {
    const opened = await machine.ask<{ url: string }>("POST", "/team/api/open", {});
    const page = await ask(server.node, "GET", new URL(opened.body.url).pathname);
    return String(page.headers.get("set-cookie")).split(";")[0] ?? "";
  }
  const ends = async () =>
    (
      await owner.ask<{ entries: { method: string; path: string; person: string }[] }>(
        "GET",
        `/team/api/access?limit=1000&person=${owner.person}`,
      )
    ).body.entries.filter(({ method }) => method === "END");

  describe("a machine", () => {
    started();

    it("ends with the invitations that it made, and the access log has it", async () => {
      const mika = await invite(owner, "Mika");
      const mine = await invitation(mika, { person: mika.person, days: 30 });
      const read = await mika.ask<{ id: string }>("POST", "/team/api/tokens", { name: "agent" });
      const cookie = await readCookie(mika);
      const ended = await owner.ask("DELETE", `/team/api/devices/${mika.device}`);
      expect(ended.body).toEqual({
        revoked: true,
        machines: [{ id: mika.device, name: "Mika's laptop" }],
        invitations: 1,
        tokens: 1,
        invited: [],
      });
      expect(await joining(mine.link)).toContain("TEAM_INVITE_INVALID");
      expect((await ask(server.node, "GET", "/api/sessions", { cookie })).status).toBe(401);
      expect((await ends()).map(({ path }) => path)).toEqual(
        expect.arrayContaining([`/machines/${mika.device}`, `/invitations/${mine.id}`, `/tokens/${read.body.id}`]),
      );
    });

    it("that was stolen ends the person's machines that joined by its invitations, and names the others", async () => {
      const laptop = await joinBy(
        server.node,
        (await invitation(owner, { scopes: ["push", "read", "own"] })).link,
        "Nora",
      );
      const desktop = await joinBy(
        server.node,
        (await invitation(laptop, { person: laptop.person })).link,
        "Nora",
        "desktop",
      );
      const thief = await joinBy(server.node, (await invitation(laptop, { person: laptop.person })).link, "x", "van");
      const second = await joinBy(server.node, (await invitation(thief, { person: laptop.person })).link, "x", "boat");
      const stranger = await joinBy(server.node, (await invitation(laptop)).link, "Stranger");
      // From the person's other machine, which stays; that one may see its own machines alone.
      const ended = await desktop.ask("DELETE", `/team/api/devices/${laptop.device}?stolen=1`);
      expect(ended.body).toMatchObject({ revoked: true, invited: [] });
      expect((ended.body as { machines: { name: string }[] }).machines.map(({ name }) => name)).toEqual([
        "Nora's laptop",
        "van",
        "boat",
      ]);
      for (const gone of [laptop, thief, second]) expect((await gone.ask("GET", "/team/api/me")).status).toBe(401);
      for (const here of [desktop, stranger]) expect((await here.ask("GET", "/team/api/me")).status).toBe(200);
      const again = await owner.ask("DELETE", `/team/api/devices/${laptop.device}?stolen=1`);
      expect(again.body).toMatchObject({
        invited: [{ id: stranger.device, name: "Stranger's laptop", personName: "Stranger" }],
      });
    });
  });

  describe("a person who is removed", () => {
    started();

    it("has no machine, token, sign-in, invitation or space any more; the private space is deleted if the owner wants that", async () => {
      const eve = await invite(owner, "Eve");
      const phone = await joinBy(server.node, (await invitation(eve, { person: eve.person })).link, "Eve", "phone");
      const open = await invitation(phone, { person: eve.person });
      const byOwner = await invitation(owner, { person: eve.person });
      const cookie = await readCookie(eve);
      const read = await phone.ask<{ token: string }>("POST", "/team/api/tokens", { name: "agent" });
      const secret = makeSession({ id: "codex:eves-own", texts: ["a private question"], replies: [[81, 7]] });
      const shared = makeSession({ id: "codex:eves-shared", texts: ["a shared question"] });
      expect((await eve.push(secret, eve.mine)).status).toBe(200);
      expect((await phone.push(shared, phone.team)).status).toBe(200);

      const member = await invite(owner, "Member");
      const path = `/team/api/people/${eve.person}`;
      expect((await member.ask("DELETE", path, { private: "delete" })).body.code).toBe("TEAM_FORBIDDEN");
      expect((await owner.ask("DELETE", path, {})).body.code).toBe("INVALID_INPUT");
      expect((await owner.ask("DELETE", path, { private: "delete" })).body).toEqual({
        removed: true,
        machines: [
          { id: eve.device, name: "Eve's laptop" },
          { id: phone.device, name: "phone" },
        ],
        invitations: 2,
        tokens: 1,
        sessions: 1,
      });
      for (const machine of [eve, phone]) {
        expect((await machine.ask("GET", "/team/api/me")).status).toBe(401);
        await expect(machine.renew()).rejects.toThrow("TEAM_MACHINE_REVOKED");
      }
      expect((await ask(server.node, "GET", "/api/sessions", { cookie })).status).toBe(401);
      expect((await ask(server.node, "GET", "/api/sessions", { token: read.body.token })).status).toBe(401);
      for (const link of [open.link, byOwner.link]) expect(await joining(link)).toContain("TEAM_INVITE_INVALID");
      expect(await server.everywhere(`codex:${eve.machine}~eves-own`)).toEqual([
        "team_change",
        "team_withdrawn",
        "tombstone",
      ]);
      expect(await server.rows("select * from team_space where id = ?", [eve.mine])).toEqual([]);
      expect(await server.rows("select * from team_space_person where person = ?", [eve.person])).toEqual([]);
      // What was pushed to the team stays, under the person's name.
      const people = await owner.ask<{ people: { name: string }[] }>("GET", "/api/team/people");
      expect(people.body.people.map(({ name }) => name)).toContain("Eve");
      expect(
        (await owner.ask<{ people: { name: string }[] }>("GET", "/team/api/people")).body.people,
      ).not.toContainEqual(expect.objectContaining({ name: "Eve" }));
      expect((await ends()).map(({ path: ended }) => ended)).toEqual(
        expect.arrayContaining([`/machines/${eve.device}`, `/machines/${phone.device}`, `/invitations/${open.id}`]),
      );
      expect((await owner.ask("DELETE", path, { private: "delete" })).body.code).toBe("TEAM_NOT_FOUND");
    });

    it("leaves the private space to whom the owner names", async () => {
      const ben = await invite(owner, "Ben");
      const heir = await invite(owner, "Heir");
      const notes = makeSession({ id: "codex:bens-own", texts: ["Bens handover notes"] });
      expect((await ben.push(notes, ben.mine)).status).toBe(200);
      const path = `/team/api/people/${ben.person}`;
      expect((await owner.ask("DELETE", path, { private: "give", to: ben.person })).body.code).toBe("INVALID_INPUT");
      expect((await owner.ask("DELETE", path, { private: "give", to: heir.person })).body).toMatchObject({
        removed: true,
        sessions: 0,
      });
      const found = (machine: Machine) =>
        machine
          .ask<{ sessions: { id: string }[] }>("GET", "/api/sessions")
          .then(({ body }) => body.sessions.some(({ id }) => id === `codex:${ben.machine}~bens-own`));
      expect([await found(heir), await found(owner)]).toEqual([true, false]);
      expect((await ben.ask("GET", "/team/api/me")).status).toBe(401);
    });

    it("a browser makes nothing that outlives its cookie", async () => {
      const cookie = await readCookie(owner);
      expect((await ask(server.node, "GET", "/team/api/me", { cookie })).body).toMatchObject({
        scopes: expect.arrayContaining(["own"]),
      });
      const member = await invite(owner, "Pia");
      const attempts: [string, string, object][] = [
        ["POST", "/team/api/open", {}],
        ["POST", "/team/api/invites", { scopes: ["read"], person: owner.person, days: 30 }],
        ["POST", "/team/api/invites", { scopes: ["read"] }],
        ["POST", "/team/api/tokens", { name: "x" }],
        ["POST", "/team/api/spaces", { name: "x", kind: "project" }],
        ["POST", `/team/api/spaces/${owner.team}/people`, { people: [member.person] }],
        ["DELETE", `/team/api/people/${member.person}`, { private: "give", to: owner.person }],
      ];
      for (const [method, path, body] of attempts) {
        const answer = await ask(server.node, method, path, { cookie, body });
        expect([path, answer.status, answer.body.code]).toEqual([path, 403, "TEAM_FORBIDDEN"]);
      }
      expect((await member.ask("GET", "/team/api/me")).status).toBe(200);
    });

    it("is not the last owner", async () => {
      const answer = await owner.ask("DELETE", `/team/api/people/${owner.person}`, { private: "delete" });
      expect([answer.status, answer.body.code]).toEqual([409, "TEAM_LAST_OWNER"]);
    });
  });

  it("where TLS ends here, only a cookie that no other host can set signs in", async () => {
    const secure = await startServer(engine, { address: "https://team.example.com" });
    try {
      const link = (await secure.node.ownerLink()) ?? "";
      const headers = { host: "team.example.com" };
      const { generateKeyPairSync } = await import("node:crypto");
      const { privateKey, publicKey } = generateKeyPairSync("ed25519");
      const joined = await ask<{ device: string }>(secure.node, "POST", "/team/api/join", {
        headers,
        body: {
          invite: link.split("#")[1],
          name: "Olga",
          machine: "x",
          publicKey: publicKey.export({ format: "jwk" }).x,
        },
      });
      const { tokenRequest } = await import("./node.ts");
      const { body } = await ask<{ token: string }>(secure.node, "POST", "/team/api/token", {
        headers,
        body: tokenRequest({ device: joined.body.device, privateKey }, "https://team.example.com"),
      });
      const opened = await ask<{ url: string }>(secure.node, "POST", "/team/api/open", {
        headers,
        token: body.token,
        body: {},
      });
      const page = await ask(secure.node, "GET", new URL(opened.body.url).pathname, { headers });
      const [set = ""] = String(page.headers.get("set-cookie")).split(";");
      expect(String(page.headers.get("set-cookie"))).toMatch(/^__Host-sessarc_team=.*Path=\/;.*; Secure$/);
      const status = async (cookie: string) =>
        (await ask(secure.node, "GET", "/api/sessions", { headers, cookie })).status;
      expect(await status(set)).toBe(200);
      expect(await status(set.replace("__Host-", ""))).toBe(401);
      expect(await status(`sessarc_team=x; ${set}`)).toBe(200);
    } finally {
      await secure.close();
    }
  });
});
