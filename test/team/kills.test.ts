/** A push that is killed at any change of the disk, again and again: nothing is lost, nothing arrives twice, and what is there is not sent again. */
import { join } from "node:path";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import { writeDemo } from "../../plugins/demo/index.ts";
import security from "../../plugins/security/index.ts";
import team, { type PushReport } from "../../plugins/team/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel } from "../kernel.ts";
import { LONG } from "../rounds.ts";
import { startPush } from "./fleet.ts";
import { WireServer } from "./wire-server.ts";

it("goes on where it was", async () => {
  const server = await new WireServer().start();
  const home = await makeTempDir();
  await writeDemo({ home });
  const config = { dataDir: join(home, "data") };
  const t = await createTestKernel({ home, plugins: [archive(), claude(), security(), team()], config });
  await t.send("POST", "/api/import", { all: true });
  await t.send("POST", "/api/team/join", { link: server.link });
  const projects = await t.json<{ id: string }[]>("/api/projects?git=0");
  await t.send("PUT", "/api/team/projects", { add: projects.map(({ id }) => id) });
  const ids = (await t.kernel.storage.db.all<{ id: string }>("select id from session")).map(({ id }) => id);
  await t.close();

  const sent = new Map<string, number>();
  const push = async (killAt?: number) => {
    const from = server.received.length;
    const child = await startPush({ home, data: "data", user: "anna", ...(killAt !== undefined && { killAt }) });
    await child.ended;
    for (const { method, path } of server.received.slice(from))
      if (method === "PUT") sent.set(path, (sent.get(path) ?? 0) + 1);
    return child.lines;
  };
  for (let killAt = 1; killAt <= (LONG ? 60 : 12); killAt += LONG ? 1 : 3) {
    const there = new Set(server.blobs.keys());
    const from = server.received.length;
    await push(killAt);
    const again = server.received
      .slice(from)
      .filter(({ method, path }) => method === "PUT" && there.has(path.slice(7)));
    expect(again).toEqual([]);
  }
  const lines = await push();
  const { status, body }: { status: number; body: PushReport } = JSON.parse(lines.at(-1) ?? "{}");
  expect([status, body.failed]).toEqual([200, []]);
  expect([...server.sessions.keys()].sort()).toEqual(ids.sort());
  expect([...server.imports.values()].every((count) => count === 1)).toBe(true);
  const [last] = (await push()).slice(-1);
  expect(JSON.parse(last ?? "{}").body).toMatchObject({ pushed: 0, unchanged: ids.length });
});
