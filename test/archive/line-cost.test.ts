/** What an appended line asks of the catalogue: reads and statements, counted where the database takes them. */
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { createTestKernel } from "sessarc/test";
import { expect, it } from "vitest";
import type { Session } from "../../plugins/archive/index.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import { countAsked } from "../asked.ts";
import { writeTree } from "../skills/world.ts";

const ID = "aaaaaaaa-0000-4000-8000-000000000001";
const start = Date.now() - 3_600_000;

const row = (n: number, type: string, message: object) =>
  `${JSON.stringify({ type, uuid: `u${n}`, timestamp: new Date(start + n * 1000).toISOString(), cwd: "/w/app", sessionId: ID, requestId: `r${n}`, message })}\n`;
const turn = (n: number) =>
  row(2 * n, "user", { role: "user", content: `question ${n}` }) +
  row(2 * n + 1, "assistant", {
    role: "assistant",
    id: `m${n}`,
    model: "claude-sonnet-4-5",
    usage: { input_tokens: 10, output_tokens: 20 },
    content: [{ type: "text", text: `answer ${n}` }],
  });

/** What the database was asked for one more turn of a session of so many. */
async function computeCost(turns: number) {
  const t = await createTestKernel({ plugins: defaultPlugins(), config: { sync: false } });
  const log = join(t.home, ".claude/projects/-w-app", `${ID}.jsonl`);
  await writeTree(t.home, {
    [`.claude/projects/-w-app/${ID}.jsonl`]: Array.from({ length: turns }, (_, n) => turn(n)).join(""),
  });
  await t.send("POST", "/api/import", { all: true });
  await appendFile(log, turn(turns));
  await t.send("POST", "/api/sync?wait=1", {});
  await appendFile(log, turn(turns + 1));
  const asked = countAsked(t.kernel.storage.db);
  await t.send("POST", "/api/sync?wait=1", {});
  asked.on = false;
  const { session } = await t.json<{ session: Session }>(`/api/sessions/claude-code:${ID}`);
  expect(session).toMatchObject({
    messageCount: 2 * (turns + 2),
    usage: { "claude-sonnet-4-5": { output: 20 * (turns + 2) } },
  });
  return { reads: asked.reads, statements: asked.statements };
}

it("an appended reply is stored with few reads and statements, however long the session is", async () => {
  const [short, long] = [await computeCost(3), await computeCost(300)];
  expect(long).toEqual(short);
  expect(short.reads.length).toBeLessThanOrEqual(11);
  expect(short.statements.length).toBeLessThanOrEqual(20);
});
