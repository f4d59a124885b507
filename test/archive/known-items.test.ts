/** Twenty questions whose answer is known, over the fixtures: the session that is meant is first, or almost. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestKernel } from "../kernel.ts";
import { hasFixtures, importFixtures } from "./_fixtures.ts";

const LOGIN = ["pi:pi-test-session-uuid", "claude-code:agentsview:valid_session", "gemini-cli:sess-uuid-1"];
const INIT = ["claude-code:30530d66-37fb-4f3b-aa5f-d92b6a8afae2", "claude-code:1af7fc5e-8455-4414-9ccd-011d40f70b2a"];
const RETAGGER = "iflow:session-5de701fc-7454-4858-a249-95cac4fd3b51";
const COMMENT = "claude-code:4c289ca8-f8bb-4588-8400-88b78beb784d";
const TWO_TOOLS = "claude-code:44444444-4444-4444-8444-444444444444";
const README = "vibe:def456ghi-0000-0000-0000-000000000000";
const SUITE = "claude-code:agent-test-hash-123";

/** What a person types, and the sessions that are meant by it: one of them is enough. */
const QUESTIONS: Record<string, readonly string[]> = {
  bug: LOGIN,
  "login bug": LOGIN,
  auth: LOGIN,
  init: INIT,
  readme: [README],
  "read file": [README, "gemini-cli:sess-uuid-2"],
  tests: ["goose:20260805_1"],
  "test suite": [SUITE],
  run: [SUITE, "goose:20260805_1", "codex:01a1faa9-e22e-72a2-858f-a0db26c86175"],
  healthcheck: ["codex:0197-abc"],
  comment: [COMMENT],
  ClaudeAgentManager: [COMMENT],
  explore: ["claude-code:chronicle:fixture-session"],
  "repo layout": ["claude-code:chronicle:fixture-session:agent-abc123"],
  fork: ["codex:01a1faa6-431d-7c73-a7b5-36d733978ad0"],
  compact: ["codex:01a1faa8-107b-7562-a140-ca6dca06dac4"],
  docker: [RETAGGER],
  环境变量: [RETAGGER],
  "project setup": ["claude-code:b02ed4d8-1f00-45cc-949f-3ea63b2dbde2"],
  "named session": [TWO_TOOLS],
};

describe.skipIf(!hasFixtures)("known items (needs the fixtures folder: SESSARC_FIXTURES)", () => {
  let t: TestKernel;
  beforeAll(async () => {
    t = await importFixtures();
  }, 120_000);
  afterAll(() => t?.close());

  const ask = async (q: string) => {
    const path = `/api/search?sort=relevance&limit=50&q=${encodeURIComponent(q)}`;
    return (await t.json<{ results: { session: { id: string; firstPrompt: string | null } }[] }>(path)).results;
  };

  it("the session that is meant is first in nine of ten", async () => {
    const ranks: Record<string, number> = {};
    for (const [q, meant] of Object.entries(QUESTIONS))
      ranks[q] = (await ask(q)).findIndex(({ session }) => meant.includes(session.id)) + 1;
    const reciprocal = Object.values(ranks).map((rank) => (rank > 0 ? 1 / rank : 0));
    const mean = reciprocal.reduce((sum, one) => sum + one, 0) / reciprocal.length;
    expect(mean, JSON.stringify(ranks)).toBeGreaterThanOrEqual(0.9);
  });

  it("a word of the title is before the part of a folder's name in many calls", async () => {
    const found = (await ask("bug")).map(({ session }) => session);
    expect(found.slice(0, 3).map(({ firstPrompt }) => firstPrompt)).toEqual(Array(3).fill("Fix the login bug"));
    expect(found.findIndex(({ id }) => id === INIT[0])).toBeGreaterThan(2);
  });
});
