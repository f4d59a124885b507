/** What a server that is killed in the middle of a push leaves is removed, and the push goes on. */
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { LONG } from "../rounds.ts";
import { freePort, startNode } from "./fleet.ts";
import { ask, joinBy, type Machine, makeSession, openNode, tokenRequest } from "./node.ts";
import { engines } from "./postgres.ts";

const DAY = 86_400_000;

describe.each(engines())("a server on $name", (engine) => {
  it("that was killed in the middle of a push is swept; nothing in flight or stored is lost", async () => {
    const { database, stop } = await engine.open();
    onTestFinished(stop);
    const folder = await makeTempDir();
    const log: string[] = [];
    let node = await openNode(database, folder, log);
    const owner: Machine = await joinBy(node, (await node.ownerLink()) ?? "", "Olga");
    const first = makeSession({ id: "codex:s1", texts: ["the ibex"], replies: [[1, 10]] });
    await owner.push(first);
    await node.close();

    const session = makeSession({
      id: "codex:s2",
      texts: Array.from({ length: 200 }, (_, n) => `the markhor ${n}`),
      replies: [[2, 7]],
    });
    /** Pushes to a process that kills itself before so many changes of the disk. */
    const pushTo = async (killAt: number): Promise<boolean> => {
      const port = await freePort();
      const child = await startNode({ database, folder, port, killAt });
      const send = (path: string, method: string, body: string | Uint8Array<ArrayBuffer>, token = "") =>
        fetch(`http://127.0.0.1:${port}/team/api${path}`, {
          method,
          body,
          headers: {
            "content-type": typeof body === "string" ? "application/json" : "application/gzip",
            authorization: `Bearer ${token}`,
          },
        });
      try {
        const request = JSON.stringify(tokenRequest(owner, `http://127.0.0.1:${port}`));
        const { token } = (await (await send("/token", "POST", request)).json()) as { token: string };
        for (const [sha256, bytes] of session.chunks)
          await send(`/blobs/${sha256}`, "PUT", new Uint8Array(gzipSync(bytes)), token);
        const manifest = JSON.stringify({ space: owner.team, manifest: session.manifest });
        return (await send("/sessions", "POST", manifest, token)).status === 200;
      } catch {
        return false;
      } finally {
        await child.kill();
      }
    };
    let kills = 0;
    const step = engine.name === "PGlite" ? 9 : 1;
    for (let killAt = 1; killAt < (LONG ? 400 : 6 * step); killAt += step) {
      if (await pushTo(killAt)) break;
      kills++;
    }
    expect(kills).toBeGreaterThan(2);

    node = await openNode(database, folder, log);
    onTestFinished(() => node.close());
    owner.node = node;
    await owner.renew();
    const stored = async () =>
      (await readdir(join(folder, "blobs"), { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name));
    // A chunk that is sent now, whose session comes later, and files of a kill.
    const coming = makeSession({ id: "codex:s3", texts: ["the serow"], replies: [[3, 5]] });
    for (const [sha256, bytes] of coming.chunks)
      await ask(node, "PUT", `/team/api/blobs/${sha256}`, { token: owner.token, body: gzipSync(bytes) });
    const loose = join(folder, "blobs/files/team/blob/ab", "ab".repeat(32));
    await mkdir(join(loose, ".."), { recursive: true });
    await writeFile(loose, gzipSync("left"));
    await writeFile(join(loose, "..", `.~${"0".repeat(16)}.tmp`), "half");
    const now = Date.now();
    const before = await stored();
    await node.sweep.run(now);
    expect(await stored()).toEqual(before);
    // Another node of the same day does nothing.
    await node.sweep.run(now + DAY / 2);
    await node.sweep.run(now + DAY);
    const after = await stored();
    expect(after).not.toContain(loose);
    expect(after.filter((path) => path.endsWith(".tmp"))).toEqual([]);
    for (const sha256 of coming.chunks.keys()) expect(after.some((path) => path.endsWith(sha256))).toBe(true);

    for (const one of [first, session, coming]) {
      const answer = await owner.push(one);
      expect(["imported", "unchanged"], JSON.stringify(answer.body)).toContain(answer.body.outcome);
    }
    const usage = await owner.ask<{ totals: { tokens: { output: number } } }>("GET", "/api/usage?by=model");
    expect(usage.body.totals.tokens.output).toBe(22);
    const path = `/api/sessions/${encodeURIComponent(`codex:${owner.machine}~s2`)}/messages?limit=1000`;
    expect((await owner.ask<{ messages: unknown[] }>("GET", path)).body.messages).toHaveLength(200);

    // Every file has a row from then on.
    await node.sweep.run(now + 9 * DAY);
    await node.sweep.run(now + 10 * DAY);
    const chunks = new Set([first, session, coming].flatMap(({ chunks }) => [...chunks.keys()]));
    const files = (await stored()).filter((file) => file.includes(join("team", "blob")));
    expect(files.map((file) => file.slice(-64)).sort()).toEqual([...chunks].sort());
    for (const id of ["s1", "s2", "s3"]) {
      const messages = `/api/sessions/${encodeURIComponent(`codex:${owner.machine}~${id}`)}/messages?limit=1000`;
      expect((await owner.ask("GET", messages)).status).toBe(200);
    }
    const parts = await node.database.owner.all<{ parts: string }>("select parts from session");
    const count = parts.reduce((sum, { parts }) => sum + (JSON.parse(parts) as unknown[]).length, 0);
    expect((await node.transcripts.keys()).length).toBe(count);
    expect(log).toEqual([]);
  });

  it("removes an import that never ended, after a week, and takes it when it is pushed again", async () => {
    const { database, stop } = await engine.open();
    onTestFinished(stop);
    const log: string[] = [];
    const node = await openNode(database, await makeTempDir(), log);
    onTestFinished(() => node.close());
    const owner = await joinBy(node, (await node.ownerLink()) ?? "", "Olga");
    const session = makeSession({ id: "codex:half", texts: ["the takin"] });
    await owner.push(session);
    // As a kill between two texts of a session leaves it.
    const db = node.database.owner;
    await db.run("update team_session set digest = '', pushed_at = ?", [new Date(Date.now() - 6 * DAY).toISOString()]);
    await node.sweep.run(Date.now());
    expect(await db.all("select 1 from team_session")).toHaveLength(1);
    await node.sweep.run(Date.now() + 2 * DAY);
    for (const table of ["team_session", "team_session_blob", "team_blob", "session"])
      expect(await db.all(`select 1 from ${table}`)).toEqual([]);
    expect((await owner.push(session)).body).toMatchObject({ outcome: "imported" });
    expect(log).toEqual([]);
  });
});
