/** Links for the owner: each start before the first join prints one, all of them work until a machine joins, and none after that. */
import { describe, expect, it, onTestFinished } from "vitest";
import { joinBy, joinOwner, openNode, startServer, type TestServer } from "./node.ts";
import { engines } from "./postgres.ts";

/** Links of several starts of nodes on an empty database. */
async function readLinks(server: TestServer): Promise<string[]> {
  const links = await Promise.all([1, 2, 3].map(() => server.node.ownerLink()));
  return links.map((link) => link ?? "");
}

describe.each(engines())("the owner's links on $name", (engine) => {
  it("work until the first machine joins, whichever start printed them", async () => {
    const server = await startServer(engine);
    onTestFinished(() => server.close());
    const [first = "", second = "", third = ""] = await readLinks(server);
    expect(new Set([first, second, third]).size).toBe(3);
    const owner = await joinBy(server.node, second, "Olga");
    expect(owner.scopes).toEqual(["push", "read", "own"]);
    for (const link of [first, second, third])
      await expect(joinBy(server.node, link, "Eve")).rejects.toThrow("TEAM_INVITE_INVALID");
    expect(await server.node.ownerLink()).toBeUndefined();
    const { body } = await owner.ask<{ spaces: { kind: string }[] }>("GET", "/team/api/spaces");
    expect(body.spaces.filter(({ kind }) => kind === "team")).toHaveLength(1);
  });

  it("make one owner where two are used at the same moment", async () => {
    const server = await startServer(engine);
    onTestFinished(() => server.close());
    const links = await readLinks(server);
    const joins = await Promise.allSettled(links.map((link, i) => joinBy(server.node, link, `Owner ${i}`)));
    expect(joins.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(await server.rows("select id from team_person")).toHaveLength(1);
    expect(server.log).toEqual([]);
  });
});

it.each(engines().filter(({ name }) => name !== "PGlite"))(
  "two nodes that start on an empty database at the same time make one team on $name",
  async (engine) => {
    const { database, stop } = await engine.open();
    onTestFinished(stop);
    const server = await startServer({ name: engine.name, open: async () => ({ database, stop: async () => {} }) });
    onTestFinished(() => server.close());
    const log: string[] = [];
    const other = await openNode(database, server.folder, log);
    onTestFinished(() => other.close());
    const [here, there] = await Promise.all([server.node.ownerLink(), other.ownerLink()]);
    expect(await server.rows("select id from team_space")).toHaveLength(1);
    const owner = await joinBy(other, here ?? "", "Olga");
    await expect(joinBy(server.node, there ?? "", "Eve")).rejects.toThrow("TEAM_INVITE_INVALID");
    expect(owner.team).toBeGreaterThan(0);
    await expect(joinOwner(server)).rejects.toThrow("joined already");
    expect([...log, ...server.log]).toEqual([]);
  },
);
