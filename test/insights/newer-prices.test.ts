/** Models that are newer than the price table in the package, and prices that it has wrong. */
import { afterAll, expect, it } from "vitest";
import { classed } from "../../core/session/price-class.ts";
import { newerProviders } from "../../plugins/insights/prices/newer.ts";
import { toTable } from "../../plugins/insights/prices/table.ts";
import { openCatalogue } from "./rows.ts";

const M = 1_000_000;
const tokens = (part: object) => ({ input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0, ...part });
const { pricing, close } = await openCatalogue();
afterAll(close);
const costs = (model: string, at: string) => {
  const one = (part: object) => pricing.cost({ [pricing.keyAt(model, Date.parse(at))]: tokens(part) }).microdollars / M;
  return [one({ input: M }), one({ output: M }), one({ cacheRead: M })];
};

it.each([
  ["claude-sonnet-5-5", "2026-10-06T23:45:00Z", [2, 10, 0.2]],
  ["claude-sonnet-5-5", "2026-10-07T00:00:00Z", [2, 10, 0.1]],
  ["claude-haiku-5-5", "2026-10-20T10:00:00Z", [0.1, 0.5, 0.01]],
  [classed("claude-haiku-5-5", ">100000"), "2026-10-20T10:00:00Z", [0.5, 2.5, 0.05]],
  [classed("claude-haiku-5-5", ">200000"), "2026-10-20T10:00:00Z", [0.5, 2.5, 0.05]],
  ["claude-fable-5-2", "2026-11-20T10:00:00Z", [8, 40, 0.2]],
  ["gpt-6.1-sol", "2026-10-20T10:00:00Z", [2, 10, 0.1]],
  [classed("gpt-6.1-sol", ">272000"), "2026-10-20T10:00:00Z", [4, 15, 0.2]],
  ["gpt-6.1-terra", "2026-11-01T10:00:00Z", [1, 5, 0.05]],
  ["gpt-6.2-sol", "2026-11-22T10:00:00Z", [2, 10, 0.1]],
  ["gpt-6.2-astra", "2026-11-22T10:00:00Z", [8, 40, 0.4]],
  ["grok-4.7", "2026-11-22T10:00:00Z", [2, 6, 0.5]],
  [classed("grok-4.7", ">200000"), "2026-11-22T10:00:00Z", [4, 12, 1]],
  ["kimi-k3.1-pro", "2026-11-22T10:00:00Z", [2, 10, 0.2]],
  ["gemini-4-neon", "2026-11-22T10:00:00Z", [3, 15, 0.15]],
  ["step-5-preview", "2026-11-22T10:00:00Z", [1, 2.7, 0.1]],
  ["mimo-v2.6-pro", "2026-11-22T10:00:00Z", [0.435, 0.87, 0.0036]],
  ["copilot/claude-haiku-5.5", "2026-11-22T10:00:00Z", [0.1, 0.5, 0.01]],
  ["us.anthropic.claude-sonnet-5-5-v1:0", "2026-11-22T10:00:00Z", [2.2, 11, 0.11]],
  ["claude-sonnet-5-5-20260928", "2026-11-22T10:00:00Z", [2, 10, 0.1]],
  // Long prompts of Sonnet 4 cost twice while its window of a million tokens was a beta.
  ["claude-sonnet-4-20250514", "2025-10-01T10:00:00Z", [3, 15, 0.3]],
  [classed("claude-sonnet-4-20250514", ">200000"), "2025-10-01T10:00:00Z", [6, 22.5, 0.6]],
  [classed("claude-sonnet-4", ">200000"), "2025-10-01T10:00:00Z", [6, 22.5, 0.6]],
  [classed("us.anthropic.claude-sonnet-4-20250514-v1:0", ">200000"), "2025-10-01T10:00:00Z", [6, 22.5, 0.6]],
  [classed("vertex_ai/claude-sonnet-4@20250514", ">200000"), "2025-10-01T10:00:00Z", [6, 22.5, 0.6]],
  [classed("openrouter/anthropic/claude-sonnet-4", ">200000"), "2025-10-01T10:00:00Z", [6, 22.5, 0.6]],
  [classed("copilot/claude-sonnet-4", ">271999"), "2025-10-01T10:00:00Z", [6, 22.5, 0.6]],
])("%s at %s", (model, at, expected) => {
  expect(costs(model, at)).toEqual(expected);
});

it("models of which no source has a price are named as unpriced", () => {
  const names = [
    "claude-mythos-5-2",
    "grok-4.6-build",
    "codex-auto-review",
    "claude-sonnet-5-55",
    "gpt-6.22",
    "gpt-6.2-solar",
  ];
  const { unpriced } = pricing.cost(Object.fromEntries(names.map((name) => [name, tokens({ input: M })])));
  expect(unpriced).toEqual(names);
});

it("every row has its source and date, no model twice", () => {
  for (const { id, models } of newerProviders()) {
    expect(new Set(models.map((one) => one.id)).size, id).toBe(models.length);
    for (const { source, date } of models) {
      expect(source.length).toBeGreaterThan(10);
      expect(date >= "2026-09-23").toBe(true);
    }
  }
});

it("a table that has a model, or is newer than a correction, is right", async () => {
  const rows = (date: string) =>
    toTable({
      date,
      source: "data.json",
      providers: [
        {
          id: "anthropic",
          model_match: { contains: "claude" },
          models: [
            {
              id: "claude-sonnet-5-5",
              match: { equals: "claude-sonnet-5-5" },
              prices: { input_mtok: 7, output_mtok: 9 },
            },
            {
              id: "claude-sonnet-4-0",
              match: { equals: "claude-sonnet-4" },
              prices: { input_mtok: 5, output_mtok: 6 },
            },
          ],
        },
      ],
    });
  const { pricing: own } = await openCatalogue();
  own.setTable(await rows("2026-10-01"));
  expect(own.price("claude-sonnet-5-5")?.rates.input).toBe(7);
  expect(own.price("claude-sonnet-4")?.rates.input).toBe(3);
  expect(own.price("gpt-6.2-sol")?.rates.input).toBe(2);
  own.setTable(await rows("2026-12-01"));
  expect(own.price("claude-sonnet-4")?.rates.input).toBe(5);
});
