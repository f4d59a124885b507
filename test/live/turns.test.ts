/** GET /live/turns: whose turn it is in a session. */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import live, { type TurnFrame } from "../../plugins/live/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel } from "../kernel.ts";
import { prompt, reply } from "./_sse.ts";

const KEY = "aaaaaaaa-0000-4000-8000-000000000001";
const ID = `claude-code:${KEY}`;
let log: string;
let kernel: Awaited<ReturnType<typeof createTestKernel>>;
let frames: AsyncGenerator<TurnFrame>;

async function* readFrames(path: string): AsyncGenerator<TurnFrame> {
  const response = await kernel.fetch(path);
  if (!response.body) throw new Error("No stream");
  let text = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let at = text.indexOf("\n\n"); at >= 0; at = text.indexOf("\n\n")) {
      if (text.startsWith("data: ")) yield JSON.parse(text.slice(6, at)) as TurnFrame;
      text = text.slice(at + 2);
    }
  }
}
const next = async () => (await frames.next()).value;
const call = (n: number) =>
  reply(n).replace('"type":"text","text"', `"type":"tool_use","id":"t${n}","name":"Bash","input":{},"x"`);

beforeEach(async () => {
  const home = await makeTempDir();
  log = join(home, ".claude/projects/-w-app", `${KEY}.jsonl`);
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, prompt(0) + reply(1));
  // The sample's messages are an hour old: what is quiet is quiet at once.
  kernel = await createTestKernel({ home, plugins: [archive(), claude(), live({ turns: { restMs: 0 } })] });
  await kernel.fetch("/api/import", { method: "POST", body: JSON.stringify({ all: true }) });
  frames = readFrames(`/api/live/turns?session=${ID}`);
});
afterEach(async () => {
  await frames.return(undefined);
});

it("reports an answer that nothing follows, the work after it, and the next answer once", async () => {
  expect(await next()).toEqual({ sessionId: ID, turn: "waiting", seq: 1 });
  appendFileSync(log, prompt(2));
  expect(await next()).toEqual({ sessionId: ID, turn: "working", seq: 2 });
  appendFileSync(log, reply(3) + call(4));
  // Said before a call is no end of a turn.
  expect(await next()).toMatchObject({ sessionId: ID, turn: "working", seq: 4 });
  appendFileSync(log, reply(5));
  expect(await next()).toEqual({ sessionId: ID, turn: "working", seq: 5 });
  expect(await next()).toEqual({ sessionId: ID, turn: "waiting", seq: 5 });
});

it("names the call that runs with what it is called on, the newest of several, until its result comes", async () => {
  const input = (command: string) => `"input":{"command":${JSON.stringify(command)}}`;
  expect(await next()).toMatchObject({ turn: "waiting" });
  appendFileSync(log, call(2).replace('"input":{}', input("npm test\n  -- --run")));
  const { call: running, ...frame } = (await next()) as TurnFrame;
  expect(frame).toEqual({ sessionId: ID, turn: "working", seq: 2 });
  expect(running).toMatchObject({ tool: "Bash", argument: "npm test -- --run" });
  expect(Date.parse(running?.at ?? "")).toBeGreaterThan(0);
  appendFileSync(log, call(3).replace('"input":{}', input("ls")));
  expect(await next()).toMatchObject({ seq: 3, call: { argument: "ls" } });
  const result = (n: number) =>
    prompt(n + 10).replace(
      /"content":.*?([,}])/,
      `"content":[{"type":"tool_result","tool_use_id":"t${n}","content":"x"}]$1`,
    );
  appendFileSync(log, result(3));
  expect(await next()).toMatchObject({ seq: 4, call: { argument: "npm test -- --run" } });
  appendFileSync(log, result(2));
  expect(await next()).toEqual({ sessionId: ID, turn: "working", seq: 5 });
});

it("reports that a session ended: its log is gone, or it is unknown", async () => {
  expect(await next()).toMatchObject({ turn: "waiting" });
  rmSync(log);
  expect(await next()).toEqual({ sessionId: ID, turn: "ended", seq: 1 });
  const unknown = readFrames(`/api/live/turns?session=claude-code:none&session=${ID}`);
  expect((await unknown.next()).value).toEqual({ sessionId: "claude-code:none", turn: "ended", seq: null });
  await unknown.return(undefined);
});

it("one whose tool is not loaded any more has ended, and the others are reported; a client that leaves leaves nothing", async () => {
  await frames.return(undefined);
  const { home } = kernel;
  const stamp = new Date().toISOString();
  const other = join(home, ".codex/sessions/2026/11/02", `rollout-2026-11-02T10-00-00-${KEY}.jsonl`);
  mkdirSync(dirname(other), { recursive: true });
  writeFileSync(
    other,
    `${JSON.stringify({ timestamp: stamp, type: "session_meta", payload: { id: KEY, timestamp: stamp } })}\n`,
  );
  await kernel.close();
  kernel = await createTestKernel({ home, plugins: [archive(), claude(), codex()] });
  await kernel.fetch("/api/import", { method: "POST", body: JSON.stringify({ all: true }) });
  await kernel.close();
  kernel = await createTestKernel({ home, plugins: [archive(), claude(), live({ turns: { restMs: 0 } })] });
  frames = readFrames(`/api/live/turns?session=codex:${KEY}&session=${ID}`);
  expect(await next()).toEqual({ sessionId: `codex:${KEY}`, turn: "ended", seq: null });
  expect(await next()).toEqual({ sessionId: ID, turn: "waiting", seq: 1 });
  await frames.return(undefined);
  await expect.poll(() => kernel.kernel.inject("live").status()).toEqual([]);
});
