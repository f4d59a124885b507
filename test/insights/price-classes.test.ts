/** Replies are priced by the length of their prompt, their speed and their service tier, where the log has them. */
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type * as Table from "@pydantic/genai-prices";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { beforeEach, expect, it } from "vitest";
import { PROMPT_STEPS } from "../../core/session/price-class.ts";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import type { Cost, PromptCosts, SessionFigures, UsageReport } from "../../plugins/insights/index.ts";
import insights from "../../plugins/insights/index.ts";
import { newerProviders } from "../../plugins/insights/prices/newer.ts";

const KEY = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01";
let t: TestKernel;

beforeEach(async () => {
  t = await createTestKernel({ plugins: [archive(), insights(), claude(), codex(), gemini()] });
});

async function write(path: string, rows: readonly object[]): Promise<void> {
  const file = join(t.home, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

interface Reply {
  id: string;
  model: string;
  input: number;
  read?: number;
  output?: number;
  hour?: number;
  more?: object;
}
const reply = ({ id, model, input, read = 0, output = 1_000, hour = 10, more = {} }: Reply) => ({
  type: "assistant",
  uuid: `u-${id}`,
  sessionId: KEY,
  timestamp: `2026-11-02T${hour}:00:00.000Z`,
  cwd: "/w/app",
  requestId: id,
  message: {
    id,
    role: "assistant",
    model,
    content: [{ type: "text", text: id }],
    usage: { input_tokens: input, output_tokens: output, cache_read_input_tokens: read, ...more },
  },
});
const prompt = (hour: number) => ({
  type: "user",
  uuid: `p-${hour}`,
  sessionId: KEY,
  timestamp: `2026-11-02T${hour}:00:00.000Z`,
  cwd: "/w/app",
  message: { role: "user", content: "go on" },
});
const log = `.claude/projects/-w-app/${KEY}.jsonl`;

interface Listed {
  id: string;
  models: string[];
  usage: object;
  cost: Cost;
}

/** The one session's cost, after every other answer was compared with it. */
async function costEverywhere(): Promise<Listed> {
  await t.send("POST", "/api/import", { all: true });
  const { sessions } = await t.json<{ sessions: Listed[] }>("/api/sessions");
  const session = sessions[0];
  if (!session || sessions.length !== 1) throw new Error(`${sessions.length} sessions`);
  const { cost, usage } = session;
  for (const by of ["day", "week", "month", "session", "model", "tool"] as const) {
    const stored = await t.json<UsageReport>(`/api/usage?by=${by}&tz=UTC`);
    expect([by, stored.totals.cost, stored.totals.usage]).toEqual([by, cost, usage]);
    expect([by, stored.rows.reduce((sum, row) => sum + row.cost.microdollars, 0)]).toEqual([by, cost.microdollars]);
    const stateless = await t.kernel.inject("insights").stateless({ by, tz: "UTC" });
    expect([by, stateless.totals.cost, stateless.totals.usage]).toEqual([by, cost, usage]);
  }
  const cut = await t.json<UsageReport>("/api/usage?by=day&tz=Asia/Tokyo");
  expect(cut.rows.reduce((sum, row) => sum + row.cost.microdollars, 0)).toBe(cost.microdollars);
  const id = encodeURIComponent(session.id);
  const { models } = await t.json<SessionFigures>(`/api/sessions/${id}/figures`);
  expect(models.reduce((sum, one) => sum + one.cost.microdollars, 0)).toBe(cost.microdollars);
  expect(models.map(({ model }) => model).sort()).toEqual(Object.keys(usage).sort());
  const prompts = await t.json<PromptCosts>(`/api/sessions/${id}/prompts`);
  expect(prompts.total.cost).toEqual(cost);
  if (prompts.missing === null) {
    const parts = [...prompts.prompts, prompts.rest].map((one) => one.cost.microdollars);
    expect(parts.reduce((sum, one) => sum + one, 0)).toBe(cost.microdollars);
  }
  return session;
}

it("knows every step of the price table", () => {
  const { findProvider }: typeof Table = createRequire(import.meta.url)("@pydantic/genai-prices");
  const steps = new Set<number>();
  const providers = [
    "anthropic",
    "openai",
    "google",
    "x-ai",
    "aws",
    "openrouter",
    "minimax",
    "deepseek",
    "zai",
    "mistral",
  ];
  for (const { models } of [
    ...providers.flatMap((providerId) => findProvider({ providerId }) ?? []),
    ...newerProviders(),
  ])
    for (const { prices } of models)
      for (const one of Array.isArray(prices) ? prices.map(({ prices }) => prices) : [prices])
        for (const price of Object.values(one))
          if (typeof price === "object") for (const { start } of price.tiers) steps.add(start);
  expect([...steps].sort((a, b) => a - b)).toEqual([...PROMPT_STEPS]);
});

it("a prompt above 200,000 tokens costs what the table asks for long ones, for this reply alone", async () => {
  const model = "claude-sonnet-4-5";
  await write(log, [
    prompt(9),
    reply({ id: "a", model, input: 100, read: 199_900 }),
    prompt(11),
    reply({ id: "b", model, input: 101, read: 199_900, hour: 12 }),
  ]);
  const { cost, models, usage } = await costEverywhere();
  const short = 100 * 3 + 199_900 * 0.3 + 1_000 * 15;
  const long = 101 * 6 + 199_900 * 0.6 + 1_000 * 22.5;
  expect(cost).toEqual({ microdollars: Math.round(short + long), pricedAt: cost.pricedAt, unpriced: [] });
  expect(models).toEqual([model]);
  expect(usage).toEqual({
    [model]: { input: 201, output: 2_000, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 399_800 },
  });
  const found = await t.json<{ sessions: unknown[] }>(`/api/sessions?model=${model}`);
  expect(found.sessions).toHaveLength(1);
});

it("only long prompts: the session is found by its model, and has one", async () => {
  const model = "claude-sonnet-4-5";
  await write(log, [reply({ id: "a", model, input: 200_001 })]);
  const { cost, models } = await costEverywhere();
  expect(cost.microdollars).toBe(200_001 * 6 + 1_000 * 22.5);
  expect(models).toEqual([model]);
  const found = await t.json<{ sessions: unknown[] }>(`/api/sessions?model=${model}`);
  expect(found.sessions).toHaveLength(1);
});

it("the class is that of the record that counts, and stays exact where a log grows", async () => {
  const model = "claude-sonnet-4-5";
  const first = [reply({ id: "a", model, input: 10, output: 1 }), reply({ id: "a", model, input: 250_000, output: 9 })];
  await write(log, first);
  expect((await costEverywhere()).cost.microdollars).toBe(Math.round(250_000 * 6 + 9 * 22.5));
  await write(log, [...first, reply({ id: "b", model, input: 10, output: 1, hour: 11 })]);
  expect((await costEverywhere()).cost.microdollars).toBe(Math.round(250_000 * 6 + 9 * 22.5 + 10 * 3 + 15));
});

it("fast mode costs its own price; a tier without one is counted at the standard price and is named", async () => {
  const model = "claude-opus-4-8";
  const plain = { speed: "standard", service_tier: "standard" };
  await write(log, [
    reply({ id: "a", model, input: 1_000, more: plain }),
    reply({ id: "b", model, input: 1_000, more: { ...plain, speed: "fast" }, hour: 11 }),
    reply({ id: "c", model, input: 1_000, more: { service_tier: "batch" }, hour: 12 }),
  ]);
  const { cost, models } = await costEverywhere();
  expect(models).toEqual([model]);
  expect(cost).toEqual({
    microdollars: 1_000 * (5 + 25) * 2 + 1_000 * (10 + 50),
    pricedAt: cost.pricedAt,
    unpriced: [],
    atStandard: [`${model} (batch)`],
  });
});

it("a copy of a reply in a fork counts once with its class", async () => {
  const model = "claude-sonnet-4-5";
  const rows = [reply({ id: "a", model, input: 200_001 })];
  await write(log, rows);
  const other = KEY.replace("01", "02");
  await write(log.replace(KEY, other), [...rows.map((row) => ({ ...row, sessionId: other }))]);
  await t.send("POST", "/api/import", { all: true });
  const { totals } = await t.json<UsageReport>("/api/usage?by=session&tz=UTC");
  expect(totals.cost.microdollars).toBe(200_001 * 6 + 1_000 * 22.5);
  const { sessions } = await t.json<{ sessions: { usage: object; inheritedUsage: object | null }[] }>("/api/sessions");
  const sums = sessions.map(({ usage, inheritedUsage }) => [Object.keys(usage), Object.keys(inheritedUsage ?? {})]);
  expect(sums).toContainEqual([[model], []]);
  expect(sums).toContainEqual([[], [model]]);
});

it("Gemini: long prompts cost more", async () => {
  const said = (id: string, input: number) => ({
    id,
    type: "gemini",
    timestamp: "2026-11-02T10:00:00.000Z",
    content: id,
    model: "gemini-2.5-pro",
    tokens: { input, output: 10, cached: 0, thoughts: 0, tool: 0, total: input + 10 },
  });
  const file = join(t.home, ".gemini/tmp/app/chats/session-2026-11-02T10-00-0b6f1c52.json");
  await mkdir(dirname(file), { recursive: true });
  const sessionId = KEY;
  const startTime = "2026-11-02T10:00:00.000Z";
  const messages = [said("a", 200_000), said("b", 200_001)];
  await writeFile(file, JSON.stringify({ sessionId, projectHash: "app", startTime, lastUpdated: startTime, messages }));
  const { cost } = await costEverywhere();
  expect(cost.microdollars).toBe(Math.round(200_000 * 1.25 + 10 * 10 + 200_001 * 2.5 + 10 * 15));
});

it("Codex: long prompts and the turn's service tier", async () => {
  const at = (minute: number) => `2026-11-02T10:0${minute}:00.000Z`;
  const counted = (minute: number, input: number, total: number) => ({
    timestamp: at(minute),
    type: "event_msg",
    payload: {
      type: "token_count",
      info: {
        total_token_usage: { input_tokens: total, cached_input_tokens: 0, output_tokens: 10 * minute },
        last_token_usage: { input_tokens: input, cached_input_tokens: 0, output_tokens: 10 },
      },
    },
  });
  const turn = (minute: number, more: object) => ({
    timestamp: at(minute),
    type: "turn_context",
    payload: { cwd: "/w/app", model: "gpt-5.4", ...more },
  });
  await write(`.codex/sessions/2026/11/02/rollout-2026-11-02T10-00-00-${KEY}.jsonl`, [
    { timestamp: at(0), type: "session_meta", payload: { id: KEY, cwd: "/w/app", timestamp: at(0) } },
    turn(1, {}),
    counted(1, 271_999, 271_999),
    counted(2, 272_000, 543_999),
    turn(3, { service_tier: "priority" }),
    counted(3, 1_000, 544_999),
  ]);
  const { cost } = await costEverywhere();
  expect(cost.microdollars).toBe(Math.round(271_999 * 2.5 + 150 + 272_000 * 5 + 225 + 1_000 * 2.5 + 150));
  expect(cost.atStandard).toEqual(["gpt-5.4 (priority)"]);
});
