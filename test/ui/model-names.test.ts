import { describe, expect, it } from "vitest";
import { modelWords } from "../../ui/model-names.ts";

describe("a model's name in words", () => {
  it.each([
    ["claude-sonnet-4-5-20250929", "Claude Sonnet 4.5"],
    ["claude-opus-4-1", "Claude Opus 4.1"],
    ["claude-opus-4-20250514", "Claude Opus 4"],
    ["claude-3-5-haiku-20241022", "Claude 3.5 Haiku"],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "Claude Sonnet 4.5"],
    ["anthropic/claude-sonnet-4.5", "Claude Sonnet 4.5"],
    ["claude-sonnet-4-5[1m]", "Claude Sonnet 4.5"],
    ["gpt-5.1-codex-max", "GPT-5.1 Codex Max"],
    ["gpt-5-2025-08-07", "GPT-5"],
    ["gpt-4o-mini", "GPT-4o mini"],
    ["o3", "o3"],
    ["o4-mini", "o4-mini"],
    ["gemini-2.5-pro", "Gemini 2.5 Pro"],
    ["gemini-2.5-flash-lite", "Gemini 2.5 Flash Lite"],
    ["grok-code-fast-1", "Grok Code Fast 1"],
  ])("%s is %s", (id, words) => expect(modelWords(id)).toBe(words));

  it.each([
    "",
    "model-x",
    "<synthetic>",
    "my-team/finetune-7",
    "claude-zebra-4-5",
    "gpt-oss:20b",
    "__proto__",
    "constructor",
  ])("nobody knows %j: it stays the id", (id) => expect(modelWords(id)).toBe(id));
});
