import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createTestKernel } from "sessarc/test";
import { describe, expect, it, vi } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import type { Cost } from "../../plugins/insights/index.ts";
import insights from "../../plugins/insights/index.ts";
import { modelName } from "../../plugins/insights/prices/names.ts";
import { readPrices, writePrices } from "../../plugins/insights/prices/price-cache.ts";
import { createPricing } from "../../plugins/insights/prices/pricing.ts";

const M = 1_000_000;
const tokens = (part: object) => ({ input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0, ...part });
const dollars = (model: string, part: object) => createPricing().cost({ [model]: tokens(part) }).microdollars / M;

/** A model with another price at night; the same tokens at an hour of each. */
const NIGHTLY = "deepseek-chat";

it("a price counts of the time of use, whenever that is asked or imported", async () => {
  const prices = createPricing();
  const periods = prices.price(NIGHTLY)?.periods ?? [];
  expect(periods.length).toBeGreaterThan(1);
  const cost = (at: string) =>
    prices.cost({ [prices.keyAt(NIGHTLY, Date.parse(at))]: tokens({ input: M, output: M }) });
  const day = cost("2026-03-02T10:00:00Z").microdollars;
  const night = cost("2026-03-02T20:00:00Z").microdollars;
  expect(day).not.toBe(night);
  expect(cost("2026-03-02T16:15:00Z").microdollars).toBe(day);
  expect(cost("2026-03-02T16:30:00Z").microdollars).toBe(night);
  expect(cost("2026-03-03T00:15:00Z").microdollars).toBe(night);
  // A price that began on a day: what was used before it costs what it did.
  const o3 = (at: string) =>
    prices.cost({ [prices.keyAt("o3", Date.parse(at))]: tokens({ input: M }) }).microdollars / M;
  expect([o3("2025-06-09T23:45:00Z"), o3("2025-06-10T00:00:00Z")]).toEqual([10, 2]);

  const t = await createTestKernel({ plugins: [archive(), insights(), claude()] });
  const path = join(t.home, ".claude/projects/-w-app/0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01.jsonl");
  const reply = (id: string, timestamp: string) => ({
    type: "assistant",
    uuid: id,
    timestamp,
    requestId: id,
    message: {
      id,
      role: "assistant",
      model: NIGHTLY,
      content: [{ type: "text", text: "x" }],
      usage: { input_tokens: M, output_tokens: M },
    },
  });
  await mkdir(dirname(path), { recursive: true });
  const rows = [reply("a", "2026-03-02T10:00:00Z"), reply("b", "2026-03-02T20:00:00Z")];
  await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await t.send("POST", "/api/import", { all: true });
  const { sessions } = await t.json<{ sessions: { id: string; projectId: string; cost: Cost }[] }>("/api/sessions");
  expect(sessions[0]?.cost.microdollars).toBe(day + night);
  const id = sessions[0]?.id ?? "";
  const costs = async (path: string) => await t.json<Costs>(`/api${path}`);
  expect((await costs(`/sessions/${id}/figures`)).models[0]?.cost?.microdollars).toBe(day + night);
  for (const by of ["day", "session", "model"])
    expect((await costs(`/usage?tz=UTC&by=${by}`)).rows?.map((row) => row.cost.microdollars)).toEqual([day + night]);
  expect((await costs("/usage?tz=UTC")).totals.models?.[0]?.microdollars).toBe(day + night);
  // Both halves of the day lie on two days of another zone.
  const east = (await costs("/usage?tz=Asia/Tokyo&by=day")).rows?.map((row) => row.cost.microdollars);
  expect(east).toEqual([day, night]);
  expect((await costs("/insights?tz=UTC")).totals.cost.microdollars).toBe(day + night);
  expect((await costs(`/projects/${sessions[0]?.projectId}?tz=UTC`)).totals.cost.microdollars).toBe(day + night);
});

it("the price of now is that of the moment it is asked, not of the first time", () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-03-02T10:00:00Z") });
  try {
    const prices = createPricing();
    const now = () => [prices.price(NIGHTLY)?.rates.input, prices.cost({ [NIGHTLY]: tokens({ input: M }) })];
    const day = now();
    vi.setSystemTime(Date.parse("2026-03-02T20:00:00Z"));
    expect(now()).not.toEqual(day);
    expect(now()).toEqual([
      createPricing().price(NIGHTLY)?.rates.input,
      createPricing().cost({ [NIGHTLY]: tokens({ input: M }) }),
    ]);
    vi.setSystemTime(Date.parse("2026-03-03T10:00:00Z"));
    expect(now()).toEqual(day);
  } finally {
    vi.useRealTimers();
  }
});

interface Costs {
  models: { cost?: Cost }[];
  rows?: { cost: Cost }[];
  totals: { cost: Cost; models?: { microdollars: number }[] };
}

describe("pricing", () => {
  it("prices each kind of token apart: writes for five minutes, writes for an hour, reads", () => {
    const model = "claude-haiku-4-5-20251001";
    expect(dollars(model, { input: M })).toBe(1);
    expect(dollars(model, { output: M })).toBe(5);
    expect(dollars(model, { cacheWrite5m: M })).toBe(1.25);
    expect(dollars(model, { cacheWrite1h: M })).toBe(2);
    expect(dollars(model, { cacheRead: M })).toBe(0.1);
  });

  it("D16: a model is billed as itself, never as one whose name it contains or continues", () => {
    const { price } = createPricing();
    const entry = (model: string) => price(model)?.entry;
    expect(entry("claude-opus-4-5")).toBe("anthropic/claude-opus-4-5");
    expect(entry("claude-opus-4-5-20251101")).toBe("anthropic/claude-opus-4-5");
    expect(entry("claude-sonnet-4-20250514")).toBe("anthropic/claude-sonnet-4-0");
    expect(entry("gpt-5-mini")).toBe("openai/gpt-5-mini");
    expect(entry("gpt-5-nano-2025-08-07")).toBe("openai/gpt-5-nano");
    expect(entry("gemini-2.5-pro-preview-06-05")).toBe("google/gemini-2.5-pro");
    for (const model of [
      "claude-opus-4-50",
      "claude-opus-4-5-turbo",
      "my-claude-opus-4-5",
      "gpt-5-tiny",
      "gpt-51",
      "gemini-2.5-pro-max",
      "not-gpt-5",
      "claude-sonnet-4-5-of-ours",
    ]) {
      expect([model, entry(model)]).toEqual([model, undefined]);
    }
  });

  it("one model has one name, however it is spelled; another model keeps its own", () => {
    const spellings = {
      "claude-sonnet-4-5": [
        "claude-sonnet-4-5",
        "claude-sonnet-4-5-20250929",
        "claude-sonnet-4.5",
        "claude-4.5-sonnet",
        "claude-4.5-sonnet-thinking",
        "Claude Sonnet 4.5",
        "anthropic/claude-sonnet-4.5",
        "openrouter/anthropic/claude-sonnet-4.5",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "claude-sonnet-4-5@20250929",
        "claude-sonnet-4-5[1m]",
      ],
      "claude-opus-4": ["claude-opus-4-0", "claude-4-opus", "claude-opus-4-20250514"],
      "claude-3-5-sonnet": ["claude-3.5-sonnet", "claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"],
      "gpt-5": ["gpt-5", "openai/gpt-5", "gpt-5-2025-08-07", "gpt-5-high"],
      "gpt-5.2-codex": ["gpt-5.2-codex", "gpt-5.2-codex-xhigh"],
      "gpt-5-mini": ["gpt-5-mini"],
      "gemini-2.5-pro": ["gemini-2.5-pro", "models/gemini-2.5-pro", "google/gemini-2.5-pro"],
      "gemini-2.5-pro-preview-06-05": ["gemini-2.5-pro-preview-06-05"],
      "claude-opus-4-50": ["claude-opus-4-50"],
      "llama-low": ["llama-low"],
      "<synthetic>": ["<synthetic>"],
      "/": ["/"],
    };
    for (const [name, all] of Object.entries(spellings))
      expect(all.map((one) => [one, modelName(one)])).toEqual(all.map((one) => [one, name]));
    // And so it has the price of that model, where no provider says otherwise.
    const { price } = createPricing();
    for (const one of ["claude-4.5-sonnet", "models/gemini-2.5-pro", "gpt-5-high"])
      expect(price(one)?.rates).toEqual(price(modelName(one))?.rates);
    expect(price("claude-4.5-sonnet")?.entry).toBe("anthropic/claude-sonnet-4-5");
  });

  it("a name that no model has is checked no longer than another", () => {
    const { price } = createPricing();
    // As a log may say: digits that could be dates and revisions in more ways than can be tried.
    for (const times of [90, 100_000]) expect(price(`claude-sonnet-4-5-${"20".repeat(times)}x`)).toBeUndefined();
    expect(price(`claude-sonnet-4-5${"-latest".repeat(100_000)}`)).toBeUndefined();
  });

  it("takes the provider where the id names it", () => {
    const { price } = createPricing();
    expect(price("anthropic/claude-sonnet-4.5")?.entry).toBe("anthropic/claude-sonnet-4-5");
    expect(price("us.anthropic.claude-sonnet-4-5-20250929-v1:0")?.entry).toMatch(/^aws\/.*claude-sonnet-4-5-20250929/);
    expect(price("nobody/gpt-5")).toBeUndefined();
  });

  it("a model without a price is named and never counted as free", () => {
    const { cost } = createPricing();
    const usage = { "model-x": tokens({ input: M }), "claude-haiku-4-5": tokens({ input: M }), "model-y": tokens({}) };
    expect(cost(usage)).toEqual({
      microdollars: M,
      pricedAt: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      unpriced: ["model-x"],
    });
  });

  it("the user's own prices go over the table", () => {
    const { cost, price } = createPricing({
      "model-x": { input: 2, output: 4, cacheRead: 0 },
      "gpt-5": { input: 0, output: 0 },
    });
    expect(cost({ "model-x": tokens({ input: 1, output: 1, cacheRead: 9, cacheWrite1h: 1 }) }).microdollars).toBe(8);
    expect(price("gpt-5")).toMatchObject({ origin: "override", rates: { input: 0, output: 0 } });
  });

  it("prices of before spare the table, and only what is new is learned", () => {
    const rates = { input: 7, output: 7, cacheWrite5m: 7, cacheWrite1h: 7, cacheRead: 7 };
    const given = new Map([
      ["gpt-5", { model: "gpt-5", rates, origin: "table" as const, entry: "openai/gpt-5" }],
      ["model-x", null],
    ]);
    const { price, learned } = createPricing({}, given);
    expect(price("gpt-5")?.rates.input).toBe(7);
    expect(price("model-x")).toBeUndefined();
    expect(learned()).toBeUndefined();
    price("claude-haiku-4-5");
    expect([...(learned()?.keys() ?? [])]).toEqual(["gpt-5", "model-x", "claude-haiku-4-5"]);
  });

  it("prices are kept for the day, and for this version's table", async () => {
    const { kernel } = await createTestKernel({ plugins: [archive(), insights()] });
    const { files } = kernel.storage;
    const pricing = createPricing();
    pricing.price("claude-haiku-4-5");
    pricing.price("constructor");
    const day = Date.parse("2026-11-20T10:00:00Z");
    await writePrices(files, pricing.learned() ?? new Map(), pricing.table.id, day);
    expect([...(await readPrices(files, pricing.table.id, day))]).toEqual([
      ["claude-haiku-4-5", pricing.price("claude-haiku-4-5")],
      ["constructor", null],
    ]);
    expect((await readPrices(files, pricing.table.id, day + 86_400_000)).size).toBe(0);
  });

  it("an invalid price is reported with its name", () => {
    expect(() => createPricing({ "model-x": { input: 2 } })).toThrow(/prices\.model-x.*output/);
    expect(() => createPricing({ "model-x": { input: -1, output: 1 } })).toThrow(/input/);
    expect(() => createPricing({ "model-x": 3 })).toThrow(/prices\.model-x/);
    // Times the tokens it would be more than a number holds.
    expect(() => createPricing({ "model-x": { input: 1, output: 1e308 } })).toThrow(/output.*1,000,000/);
    expect(() => createPricing({ "model-x": { input: 1_000_000, output: 1 } })).not.toThrow();
  });

  it("a cost is the same whichever model was added up first, also where it is half of what is reported", () => {
    const { cost } = createPricing({
      a: { input: 0.075, output: 0 },
      b: { input: 0.3, output: 0 },
      c: { input: 0.125, output: 0 },
    });
    const [a, b, c] = [tokens({ input: 3 }), tokens({ input: 18 }), tokens({ input: 23 })];
    expect(cost({ a, b, c }).microdollars).toBe(9);
    expect(cost({ c, b, a }).microdollars).toBe(9);
  });

  it("names of models that are names of objects' own members are no prices", () => {
    const { price } = createPricing();
    expect(price("constructor")).toBeUndefined();
    expect(price("toString")).toBeUndefined();
  });
});
