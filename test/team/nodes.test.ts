/** Two nodes on one database: what one imports, the other answers at once; nothing is lost, nothing counts twice. */
import { describe, expect, it, onTestFinished } from "vitest";
import { invite, joinOwner, type Machine, makeSession, startServer } from "./node.ts";
import { engines } from "./postgres.ts";

const MACHINES = 5;
const SESSIONS = 12;

describe.each(engines().filter(({ name }) => name !== "PGlite"))("two nodes on $name", (engine) => {
  it("import from many machines at once", async () => {
    const server = await startServer(engine);
    onTestFinished(() => server.close());
    const nodes = [server.node, await server.another()];
    const owner = await joinOwner(server);
    const machines = await Promise.all(Array.from({ length: MACHINES }, (_, i) => invite(owner, `Machine ${i}`)));
    // Half of all replies are in two sessions of different machines; each counts once.
    const replies = (machine: number, n: number) =>
      [
        [1 + machine * 1_000 + n, 10],
        [900_000 + Math.floor(machine / 2) * 1_000 + n, 7],
      ] as const;
    const expected = new Set<number>();
    for (let m = 0; m < MACHINES; m++)
      for (let n = 0; n < SESSIONS; n++) for (const [hash] of replies(m, n)) expected.add(hash);
    const total = [...expected].reduce((sum, hash) => sum + (hash >= 900_000 ? 7 : 10), 0);

    let answers = 0;
    const push = async (machine: Machine, m: number) => {
      for (let n = 0; n < SESSIONS; n++) {
        machine.node = nodes[(m + n) % 2] ?? server.node;
        const session = makeSession({
          id: `codex:s${n}`,
          texts: [`the kiwi of machine ${m} number ${n}`],
          replies: replies(m, n),
        });
        const answer = await machine.push(session);
        expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200, body: { outcome: "imported" } });
        // What was acknowledged is found by the other node.
        machine.node = nodes[(m + n + 1) % 2] ?? server.node;
        const id = encodeURIComponent(`codex:${machine.machine}~s${n}`);
        expect((await machine.ask("GET", `/api/sessions/${id}`)).status).toBe(200);
        const found = await machine.ask("GET", `/api/search?q=${encodeURIComponent(`"machine ${m} number ${n}"`)}`);
        expect(JSON.stringify(found.body)).toContain("kiwi");
        answers++;
      }
    };
    await Promise.all(machines.map(push));
    expect(answers).toBe(MACHINES * SESSIONS);
    for (const node of nodes) {
      owner.node = node;
      const list = await owner.ask<{ sessions: { id: string }[]; total: number }>("GET", "/api/sessions?limit=1000");
      const ids = list.body.sessions.map(({ id }) => id);
      expect([ids.length, new Set(ids).size]).toEqual([MACHINES * SESSIONS, MACHINES * SESSIONS]);
      const usage = await owner.ask<{ totals: { tokens: { output: number } } }>("GET", "/api/usage?by=model");
      expect(usage.body.totals.tokens.output).toBe(total);
      const people = await owner.ask<{ rows: { tokens: { output: number } }[] }>("GET", "/api/team/usage?by=person");
      expect(people.body.rows.reduce((sum, { tokens }) => sum + tokens.output, 0)).toBe(total);
    }
    expect(server.log).toEqual([]);
  });
});
