/** What a fork copied counts once: tokens, messages, calls and files. */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import archive, { type Session } from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import insights from "../../plugins/insights/index.ts";
import { makeTempDir } from "../_setup.ts";
import { claudeTurn } from "../claude-turn.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

const start = (home?: string) =>
  createTestKernel({ ...(home && { home }), plugins: [archive(), insights(), claude()] });
const PARENT = "aaaaaaaa-0000-4000-8000-000000000001";
const FORK = "ffffffff-0000-4000-8000-000000000002";
const toPath = (t: TestKernel, id: string) => join(t.home, ".claude/projects/-w-app", `${id}.jsonl`);

let clock = Date.now() / 1000 - 86_400;
function write(path: string, rows: readonly object[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  utimesSync(path, ++clock, clock);
}

/** `copy`: ids of the records as a fork writes them. */
const turn = (n: number, copy = "") => claudeTurn(n, { copy, failed: true });

async function sessions(t: TestKernel): Promise<Record<string, Session>> {
  const { sessions: all } = await t.json<{ sessions: Session[] }>("/api/sessions");
  return Object.fromEntries(all.map((session) => [session.id.slice("claude-code:".length), session]));
}
const facts = async (t: TestKernel, id: string) => {
  const { tools, files, kinds } = await t.kernel.inject("archive").facts(`claude-code:${id}`);
  return { tools, files, kinds };
};
const importOnly = (t: TestKernel, id: string) => t.send("POST", "/api/import", { sessions: [`claude-code:${id}`] });

it.each([
  ["parent first", [PARENT, FORK]],
  ["fork first", [FORK, PARENT]],
  ["both at once", [null]],
] as const)(
  "counts the copied part at the parent, and links the two by the replies they share: %s",
  async (_, order) => {
    const t = await start();
    write(toPath(t, PARENT), [...turn(1), ...turn(2)]);
    await new Promise((resolve) => setImmediate(resolve));
    write(toPath(t, FORK), [...turn(1, "-copy"), ...turn(2, "-copy"), ...turn(3)]);
    await t.json("/api/scan");
    for (const id of order) {
      if (id === null) await t.send("POST", "/api/import", { all: true });
      else await importOnly(t, id);
    }
    const all = await sessions(t);
    expect(all[PARENT]).toMatchObject({ messageCount: 6, errorCount: 2, copiedMessages: 0, forkedFrom: null });
    expect(all[FORK]).toMatchObject({
      messageCount: 3,
      errorCount: 1,
      copiedMessages: 6,
      forkedFrom: `claude-code:${PARENT}`,
      usage: { "claude-sonnet-4-5": { input: 10, output: 3 } },
      inheritedUsage: { "claude-sonnet-4-5": { input: 20, output: 3 } },
    });
    expect(await facts(t, FORK)).toEqual({
      kinds: { user: 1, tool_use: 1, tool_result: 1 },
      tools: { Read: [1, 1] },
      files: { "/w/app/3.ts": [1, 0] },
    });
    // All of it is shown.
    expect((await t.json<{ total: number }>(`/api/sessions/claude-code:${FORK}/messages`)).total).toBe(9);
    const usage = await t.json<{ totals: { messages: number } }>("/api/usage?by=tool");
    expect(usage.totals.messages).toBe(9);
    // It goes on.
    write(toPath(t, FORK), [...turn(1, "-copy"), ...turn(2, "-copy"), ...turn(3), ...turn(4)]);
    await t.send("POST", "/api/import", { all: true });
    expect((await sessions(t))[FORK]).toMatchObject({ messageCount: 6, errorCount: 2, copiedMessages: 6 });
  },
);

it("finds an error that a fork copied in both texts, as all else it copied", async () => {
  const t = await start();
  write(toPath(t, PARENT), [...turn(1), ...turn(2)]);
  write(toPath(t, FORK), [...turn(1, "-copy"), ...turn(2, "-copy"), ...turn(3).slice(0, 2)]);
  await t.send("POST", "/api/import", { all: true });
  expect((await sessions(t))[FORK]).toMatchObject({ errorCount: 0, copiedMessages: 6 });
  for (const q of ["no kind:tool_result", "no is:error"])
    expect(await t.json(`/api/search/total?q=${encodeURIComponent(q)}`)).toMatchObject({ sessions: 2, messages: 4 });
});

it("counts once what a sub-agent repeats: of its parent, and of the sub-agent it was copied from along with its session", async () => {
  const t = await start();
  const toAgent = (id: string) => join(t.home, ".claude/projects/-w-app", id, "subagents", "agent-1.jsonl");
  write(toPath(t, PARENT), [...turn(1), ...turn(2)]);
  write(toAgent(PARENT), [...turn(1, "-task"), ...turn(5)]);
  await new Promise((resolve) => setImmediate(resolve));
  write(toPath(t, FORK), [...turn(1, "-copy"), ...turn(2, "-copy")]);
  write(toAgent(FORK), [...turn(1, "-task"), ...turn(5, "-copy"), ...turn(6)]);
  await t.send("POST", "/api/import", { all: true });
  const all = await sessions(t);
  expect(all[`${PARENT}:agent-1`]).toMatchObject({ messageCount: 3, copiedMessages: 3, forkedFrom: null });
  expect(all[`${FORK}:agent-1`]).toMatchObject({
    messageCount: 3,
    copiedMessages: 6,
    parentId: `claude-code:${FORK}`,
    forkedFrom: `claude-code:${PARENT}:agent-1`,
  });
  expect(await t.json("/api/usage?by=tool")).toMatchObject({ totals: { messages: 12 }, evidence: { requests: 4 } });
  const parent = await t.json<{ forks: Session[] }>(`/api/sessions/claude-code:${PARENT}`);
  expect(parent.forks.map(({ id }) => id)).toEqual([`claude-code:${FORK}`]);
});

it("compares a fork again with an origin that was deleted and comes back with more", async () => {
  const t = await start();
  write(toPath(t, PARENT), turn(1));
  await new Promise((resolve) => setImmediate(resolve));
  write(toPath(t, FORK), [...turn(1, "-copy"), ...turn(2, "-copy")]);
  await t.send("POST", "/api/import", { all: true });
  await t.send("DELETE", `/api/sessions/claude-code:${PARENT}`);
  write(toPath(t, PARENT), [...turn(1), ...turn(2)]);
  await t.json("/api/scan");
  await importOnly(t, PARENT);
  expect((await sessions(t))[FORK]).toMatchObject({ messageCount: 0, copiedMessages: 6 });
});

it("settles at the next run what one left open that was stopped as it had stored all, though no log changed since", async () => {
  const home = await makeTempDir();
  const first = await start(home);
  write(toPath(first, PARENT), [...turn(1), ...turn(2)]);
  await new Promise((resolve) => setImmediate(resolve));
  write(toPath(first, FORK), [...turn(1, "-copy"), ...turn(2, "-copy"), ...turn(3)]);
  let closed: Promise<void> | undefined;
  first.kernel.hooks.hook("session:replaced", () => {
    closed ??= first.close();
  });
  await first.send("POST", "/api/import", { all: true });
  await closed;
  const t = await start(home);
  expect((await sessions(t))[FORK]).toMatchObject({ messageCount: 9, forkedFrom: null });
  expect((await t.send("POST", "/api/sync?wait=1")).body).toMatchObject({ imported: 0, unchanged: 2 });
  expect((await sessions(t))[FORK]).toMatchObject({
    messageCount: 3,
    copiedMessages: 6,
    forkedFrom: `claude-code:${PARENT}`,
  });
});

it("a kill between two writes of a run counts no reply twice", async () => {
  const home = await makeTempDir();
  const first = await start(home);
  write(toPath(first, PARENT), [...turn(1), ...turn(2)]);
  await new Promise((resolve) => setImmediate(resolve));
  write(toPath(first, FORK), [...turn(1, "-copy"), ...turn(2, "-copy"), ...turn(3)]);
  // What a kill right after the first write leaves: the fork is stored, and the parent is about to take its replies back.
  const killed = join(home, "killed");
  first.kernel.hooks.hook("session:replaced", () => {
    if (!existsSync(killed)) cpSync(join(home, "data"), killed, { recursive: true });
  });
  await first.send("POST", "/api/import", { all: true });
  const figures = async (t: TestKernel) =>
    Object.fromEntries(
      Object.values(await sessions(t)).map(({ id, usage, inheritedUsage }) => [id, { usage, inheritedUsage }]),
    );
  const expected = await figures(first);
  await first.close();
  for (const name of readdirSync(killed)) if (name.includes("lock")) rmSync(join(killed, name), { recursive: true });
  const t = await createTestKernel({ home, plugins: [archive(), insights(), claude()], config: { dataDir: killed } });
  expect(Object.keys(await sessions(t))).toEqual([FORK]);
  await t.send("POST", "/api/import", { all: true });
  expect(await figures(t)).toEqual(expected);
});
