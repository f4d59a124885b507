/** What a session's client spent is reported by its running total; a sub-agent whose log was deleted is counted once all the same. */
import { appendFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import type { SessionUsage } from "sessarc";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import { createTestKernel } from "../kernel.ts";
import { rounds } from "../rounds.ts";

const ID = "11111111-2222-4333-8444-555555555555";
const MODEL = "claude-sonnet-4-5";

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ what: fc.constant("reply" as const), tokens: fc.integer({ min: 1, max: 99 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant("agent" as const),
      n: fc.nat(2),
      tokens: fc.integer({ min: 1, max: 99 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ what: fc.constant("total" as const), own: fc.nat(50) }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant("vanish" as const), n: fc.nat(2) }) },
);

it("spends each token once, whichever logs of sub-agents are deleted while the session goes on", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const t = await createTestKernel({ plugins: [archive(), claude()], config: { sync: false } });
      const folder = join(t.home, ".claude/projects/-w-app");
      const session = join(folder, `${ID}.jsonl`);
      const agent = (n: number) => join(folder, ID, "subagents", `agent-a${n}.jsonl`);
      let clock = Date.now() - 86_400_000;
      let logged = 0;
      let own = 0;
      const say = (path: string, row: object) => {
        mkdirSync(dirname(path), { recursive: true });
        appendFileSync(path, `${JSON.stringify({ sessionId: ID, cwd: "/w/app", ...row })}\n`);
      };
      const reply = (path: string, tokens: number) => {
        clock += 60_000;
        const id = `m${clock}`;
        const message = { id, role: "assistant", model: MODEL, content: [], usage: { output_tokens: tokens } };
        say(path, { type: "assistant", uuid: id, timestamp: new Date(clock).toISOString(), message });
        logged += tokens;
      };
      const spent = new Set<number>();
      reply(session, 1);
      for (const it of steps) {
        if (it.what === "reply") reply(session, it.tokens);
        // A log that was deleted is not written again.
        else if (it.what === "agent" && !(spent.has(it.n) && !existsSync(agent(it.n)))) {
          spent.add(it.n);
          reply(agent(it.n), it.tokens);
          // Its result comes back to who asked.
          say(session, { type: "user", uuid: `r${clock}`, message: { role: "user", content: "done" } });
        } else if (it.what === "total") {
          own += it.own;
          say(session, { type: "cost-state", modelUsage: { [MODEL]: { outputTokens: logged + own } } });
        } else if (it.what === "vanish") rmSync(agent(it.n), { force: true });
        // Each state of the logs that holds a total is seen, as a running service sees it.
        await t.send("POST", "/api/import", { all: true });
        if (it.what !== "total") continue;
        const { sessions } = await t.json<{ sessions: { usage: SessionUsage }[] }>("/api/sessions");
        const sum = sessions.reduce((all, { usage }) => all + (usage[MODEL]?.output ?? 0), 0);
        expect(sum).toBe(logged + own);
      }
      await t.close();
    }),
    { numRuns: rounds(25, 400) },
  );
}, 120_000);
