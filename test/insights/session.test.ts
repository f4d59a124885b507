/** Figures of one session: cost by model, files touched, how full its context was. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { beforeEach, describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import causality from "../../plugins/causality/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import type { PromptCosts, SessionContext, SessionFigures } from "../../plugins/insights/index.ts";
import insights from "../../plugins/insights/index.ts";

const KEY = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01";
const ID = encodeURIComponent(`claude-code:${KEY}`);
let t: TestKernel;
let path: string;

const reply = (
  n: number,
  read: number,
  model = "claude-haiku-4-5",
  content: unknown = [{ type: "text", text: "…" }],
) => ({
  type: "assistant",
  uuid: `u${n}`,
  sessionId: KEY,
  timestamp: new Date(Date.UTC(2026, 10, 1, 10, 0, n)).toISOString(),
  cwd: "/w/app",
  requestId: `r${n}`,
  message: {
    id: `m${n}`,
    role: "assistant",
    model,
    content,
    usage: {
      input_tokens: 3,
      output_tokens: 50,
      cache_creation_input_tokens: 7,
      cache_read_input_tokens: read,
    },
  },
});
const call = (name: string, file: string) => [
  { type: "tool_use", id: `${name}-${file}`, name, input: { file_path: file, old_string: "a", new_string: "b" } },
];
async function imported(rows: readonly object[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await t.send("POST", "/api/import", { all: true });
}
const context = () => t.json<SessionContext>(`/api/sessions/${ID}/context`);

beforeEach(async () => {
  t = await createTestKernel({ plugins: [archive(), insights(), causality(), claude()] });
  path = join(t.home, `.claude/projects/-w-app/${KEY}.jsonl`);
});

describe("GET /sessions/:id/context", () => {
  it("answers what each reply was sent, once, in order, with the model's window", async () => {
    await imported([reply(1, 1_000), reply(2, 90_000), reply(2, 90_000), reply(3, 20_000)]);
    const answer = await context();
    expect(answer.replies.map((one) => one.tokens)).toEqual([1_010, 90_010, 20_010]);
    expect(answer.replies[1]?.at).toBe("2026-11-01T10:00:02.000Z");
    expect(answer).toMatchObject({ missing: null, count: 3, window: 200_000 });
  });

  it("names no window that is unknown or smaller than what was sent", async () => {
    await imported([reply(1, 1_000, "house-model-1")]);
    expect((await context()).window).toBeNull();
    await imported([reply(1, 250_000)]);
    expect((await context()).window).toBeNull();
    await imported([reply(1, 250_000, "claude-sonnet-4-5[1m]")]);
    expect((await context()).window).toBe(1_000_000);
  });

  it("keeps the peaks of a long session, in a thousand points", async () => {
    await imported(Array.from({ length: 2_500 }, (_, i) => reply(i, i === 1_234 ? 150_000 : 1_000)));
    const { replies, count } = await context();
    expect([replies.length, count]).toEqual([1_000, 2_500]);
    expect(Math.max(...replies.map((one) => one.tokens))).toBe(150_010);
  });

  it("says why there is nothing", async () => {
    await imported([
      { ...reply(1, 5), message: { role: "assistant", content: [{ type: "text", text: "no tokens" }] } },
    ]);
    expect(await context()).toEqual({ missing: "replies", replies: [], count: 0, window: null });
    await rm(path);
    expect((await context()).missing).toBe("log");
    expect((await t.fetch("/api/sessions/claude-code:none/context")).status).toBe(404);
  });
});

describe("GET /sessions/:id/figures", () => {
  it("answers cost by model, dearest first, and files by touches", async () => {
    await imported([
      reply(1, 10, "claude-haiku-4-5", call("Read", "/w/app/a.ts")),
      reply(2, 10, "claude-opus-4-5", call("Edit", "/w/app/b.ts")),
      reply(3, 10, "house-model-1", call("Edit", "/w/app/b.ts")),
    ]);
    const { models, files } = await t.json<SessionFigures>(`/api/sessions/${ID}/figures`);
    expect(models.map((one) => one.model)).toEqual(["claude-opus-4-5", "claude-haiku-4-5", "house-model-1"]);
    expect(models[0]?.cost.microdollars).toBeGreaterThan(models[1]?.cost.microdollars ?? 0);
    expect(models[2]?.cost).toMatchObject({ microdollars: 0, unpriced: ["house-model-1"] });
    expect(files).toEqual([
      { path: "/w/app/b.ts", reads: 0, edits: 2 },
      { path: "/w/app/a.ts", reads: 1, edits: 0 },
    ]);
  });

  it("counts no edit that failed, also when its failure is read later, and agrees with causality", async () => {
    const result = (n: number, id: string, failed: boolean) => ({
      type: "user",
      uuid: `u${n}`,
      sessionId: KEY,
      timestamp: new Date().toISOString(),
      cwd: "/w/app",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "…", is_error: failed }] },
    });
    const now = (n: number, name: string, file: string) => ({
      ...reply(n, 10, "claude-haiku-4-5", call(name, file)),
      timestamp: new Date().toISOString(),
    });
    const rows = [
      ...[now(1, "Read", "/w/app/a.ts"), result(2, "Read-/w/app/a.ts", false)],
      ...[now(3, "Edit", "/w/app/a.ts"), result(4, "Edit-/w/app/a.ts", true)],
      ...[now(5, "Write", "/w/app/kept.ts"), result(6, "Write-/w/app/kept.ts", false)],
      now(7, "Edit", "/w/app/blocked.ts"),
    ];
    await imported(rows);
    const touched = async () => (await t.json<SessionFigures>(`/api/sessions/${ID}/figures`)).files;
    expect((await touched()).find(({ path }) => path === "/w/app/blocked.ts")).toMatchObject({ edits: 1 });
    await imported([...rows, result(8, "Edit-/w/app/blocked.ts", true)]);
    expect(await touched()).toEqual([
      { path: "/w/app/kept.ts", reads: 0, edits: 1 },
      { path: "/w/app/a.ts", reads: 1, edits: 0 },
    ]);
    const { changes } = await t.json<{ changes: { path: string }[] }>(`/api/sessions/${ID}/causality`);
    expect(changes.map(({ path }) => path)).toEqual(["/w/app/kept.ts"]);
  });
});

describe("GET /sessions/:id/prompts", () => {
  const prompt = (n: number, text: string) => ({
    type: "user",
    uuid: `p${n}`,
    sessionId: KEY,
    timestamp: new Date(Date.UTC(2026, 10, 1, 10, 0, n)).toISOString(),
    cwd: "/w/app",
    message: { role: "user", content: text },
  });
  const prompts = () => t.json<PromptCosts>(`/api/sessions/${ID}/prompts`);

  it("gives each reply to the prompt before it, and sums up to the session's total exactly", async () => {
    await imported([
      reply(0, 11),
      prompt(1, "one"),
      reply(2, 1_001),
      reply(2, 1_001),
      reply(3, 7, "claude-opus-4-5"),
      prompt(4, "two"),
      prompt(5, "three"),
      reply(6, 333, "model-x"),
      reply(7, 13),
    ]);
    const { missing, prompts: list, rest, total } = await prompts();
    expect(missing).toBeNull();
    expect(list.map((one) => one.tokens.output)).toEqual([100, 0, 100]);
    expect(rest.tokens).toEqual({ input: 3, output: 50, cacheWrite5m: 7, cacheWrite1h: 0, cacheRead: 11 });
    expect(list.map((one) => one.cost.unpriced)).toEqual([[], [], ["model-x"]]);
    const { session } = await t.json<{ session: { cost: { microdollars: number }; usage: object } }>(
      `/api/sessions/${ID}`,
    );
    const all = [...list, rest];
    expect(all.reduce((sum, one) => sum + one.cost.microdollars, 0)).toBe(session.cost.microdollars);
    expect(total.cost.microdollars).toBe(session.cost.microdollars);
    for (const field of Object.keys(total.tokens) as (keyof typeof total.tokens)[])
      expect([field, all.reduce((sum, one) => sum + one.tokens[field], 0)]).toEqual([field, total.tokens[field]]);
  });

  it("says why there is nothing: the log is gone, or says more than counts here", async () => {
    await imported([prompt(1, "one"), reply(2, 10)]);
    await writeFile(
      path,
      [prompt(1, "one"), reply(2, 10), reply(3, 10)].map((row) => `${JSON.stringify(row)}\n`).join(""),
    );
    const changed = await prompts();
    expect([changed.missing, changed.prompts, changed.rest]).toEqual(["differs", [], changed.total]);
    await rm(path);
    await t.send("POST", "/api/import", { all: true });
    expect((await prompts()).missing).toBe("log");
    expect((await t.fetch("/api/sessions/nope/prompts")).status).toBe(404);
  });
});
