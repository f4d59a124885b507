/** The same model under the names that gateways, clouds and editors give it; and names that only look like one. */
import { afterAll, expect, it } from "vitest";
import { openCatalogue } from "./rows.ts";

const { pricing, close } = await openCatalogue();
afterAll(close);
const rates = (model: string) => pricing.price(model)?.rates;

const SAME: Record<string, string[]> = {
  "claude-sonnet-4-5": [
    "vertex_ai/claude-sonnet-4-5",
    "vertex_ai/claude-sonnet-4-5@20250929",
    "projects/acme/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5@20250929",
    "copilot/claude-sonnet-4.5",
    "github_copilot/claude-sonnet-4.5",
    "github-copilot/claude-sonnet-4.5",
    "openrouter/anthropic/claude-sonnet-4.5:thinking",
    "anthropic/claude-sonnet-4.5:thinking",
    "anthropic:claude-sonnet-4-5",
    "litellm_proxy/claude-sonnet-4-5",
    "litellm_proxy/anthropic/claude-sonnet-4-5-20250929",
    "vercel/anthropic/claude-sonnet-4.5",
    "@anthropic/claude-sonnet-4-5",
    "databricks/databricks-claude-sonnet-4-5",
    "sap/anthropic--claude-4.5-sonnet",
    "azure_ai/claude-sonnet-4-5",
    "opencode/claude-sonnet-4-5",
    "claude-sonnet-4-5[1m]",
    "anthropic/claude-sonnet-4-5[1m]",
    "claude-sonnet-4-5-latest",
    "claude-sonnet-4.5-1m",
    "Claude Sonnet 4.5 (Thinking)",
    "nano-gpt/claude-sonnet-4-5",
    "zenmux/anthropic/claude-sonnet-4.5",
    "opencode-zen/claude-sonnet-4-5",
    "vscode/copilot/claude-sonnet-4.5",
    "copilot-claude-sonnet-4.5",
    "antigravity-claude-sonnet-4-5-thinking",
  ],
  "us.anthropic.claude-haiku-4-5-20251001-v1:0": [
    "bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0",
    "bedrock/converse/us.anthropic.claude-haiku-4-5-20251001-v1:0",
    "amazon-bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0",
    "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0",
    "bedrock/arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0",
  ],
  "anthropic.claude-sonnet-4-5-20250929-v1:0": [
    "bedrock/us-east-1/anthropic.claude-sonnet-4-5-20250929-v1:0",
    "arn:aws:bedrock:us-west-2::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0",
  ],
  "gpt-5.4": [
    "github_copilot/gpt-5.4",
    "copilot/gpt-5.4",
    "azure/gpt-5.4",
    "azure/eu/gpt-5.4",
    "azure/gpt-5-4",
    "azure/global-standard/gpt-5.4",
    "openai:gpt-5.4",
    "openai-codex/gpt-5.4",
    "vercel_ai_gateway/openai/gpt-5.4",
    "capi:gpt-5.4",
    "gpt-5.4 (high)",
  ],
  "gemini-2.5-pro": [
    "models/gemini-2.5-pro",
    "gemini/gemini-2.5-pro",
    "vertex_ai/gemini-2.5-pro",
    "publishers/google/models/gemini-2.5-pro",
  ],
  "gemini-3-pro-preview": [
    "gemini-3-pro",
    "gemini-3-pro-high",
    "Gemini 3 Pro (High)",
    "antigravity-gemini-3-pro-low",
    "google/gemini-3-pro",
  ],
  "gemini-3.6-flash": ["gemini-3.6-flash-high", "antigravity/gemini-3.6-flash-low", "Gemini 3.6 Flash (Medium)"],
  "fireworks/kimi-k2p5": ["accounts/fireworks/models/kimi-k2p5", "fireworks_ai/accounts/fireworks/models/kimi-k2p5"],
  "glm-5.3": [
    "z-ai/glm-5.3",
    "zai-org/GLM-5.3",
    "zai/glm-5.3",
    "zai-coding-plan/glm-5.3",
    "@cf/zai-org/glm-5.3",
    "z.ai/glm-5.3",
  ],
  "glm-5.2": ["zai-org/GLM-5.2", "z-ai/glm-5.2", "zai.glm-5.2", "glm-5p2", "hf:zai-org/GLM-5.2", "zai-org/GLM-5.2-FP8"],
  "kimi-k3": ["kimi/k3[1m]", "kimi-coding/k3", "moonshotai/Kimi-K3", "kimi-k3[1m]"],
  "kimi-k3.1-pro": ["kimi/k3.1-pro[1m]", "moonshot/kimi-k3.1-pro"],
  "grok-4.6": ["xai/grok-4.6", "spacexai/grok-4.6", "copilot/grok-4.6"],
};

it.each(Object.entries(SAME))("%s is the same model at every gateway", (name, spellings) => {
  const own = rates(name);
  expect(own).toBeDefined();
  for (const spelling of spellings) {
    expect([spelling, rates(spelling)]).toEqual([spelling, own]);
    // Shown as logged.
    expect(pricing.price(spelling)?.model).toBe(spelling);
  }
});

it("no name is priced by a part of it", () => {
  const names = [
    "copilot/claude-sonnet-4.50",
    "vertex_ai/claude-opus-4-50",
    "acme/claude-sonnet-4-5",
    "copilot/auto",
    "azure/my-gpt-5.4-prod",
    "azure/prod-claude-sonnet-4-5",
    "bedrock/my-profile",
    "arn:aws:bedrock:us-east-1:1:application-inference-profile/claude-sonnet-4-5x",
    "arn:aws:s3:::bucket/claude-sonnet-4-5",
    "openai/gpt-5.4-mine",
    "kimi/k3-mine",
    "gemini-3-prone",
    "gemini-3-pro-(huge)",
    "gpt-5.4-(mine)",
    "copilot-gpt-5.44",
    "acme.glm-5.2",
    "gpt-5.4-1m",
    "z-ai/glm-5.33",
    "gpt-5-40",
    "@cf/",
    "copilot/",
    "/",
    ":",
    `${"copilot/".repeat(30)}gpt-5.4`,
  ];
  expect(names.filter((name) => pricing.price(name))).toEqual([]);
});
