/** How many of the planted mistakes are proposed, and how many of the proposals are about one. */
import { createTestKernel } from "sessarc/test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import type { RuleOverview } from "../../plugins/rules/index.ts";
import { type Fixture, makeFixtures, writeFixtures } from "./_fixtures.ts";
import { heldOut, type Pool, tuned } from "./_said.ts";

const NOW = "2026-10-20T00:00:00Z";

async function measure(seed: number, pool: Pool) {
  const t = await createTestKernel({ plugins: defaultPlugins() });
  const fixtures = makeFixtures(seed, pool);
  await writeFixtures(t.home, fixtures);
  await t.send("POST", "/api/import", { all: true });
  const { proposals } = await t.json<RuleOverview>("/api/rules/proposals");
  const byName = new Map(fixtures.map((fixture) => [fixture.name, fixture]));
  const right = new Set<string>();
  const wrong: string[] = [];
  for (const { project, line } of proposals) {
    const fixture = byName.get(project.name);
    if (fixture?.planted && isAbout(line, fixture.planted) && !right.has(fixture.name)) right.add(fixture.name);
    else wrong.push(`${project.name} (${fixture?.what}): ${line}`);
  }
  const planted = fixtures.filter((fixture) => fixture.planted);
  const missed = planted.filter(({ name }) => !right.has(name)).map(describeFixture);
  return { right: right.size, planted: planted.length, none: fixtures.length - planted.length, wrong, missed };
}

const isAbout = (line: string, groups: NonNullable<Fixture["planted"]>) =>
  groups.every((words) => words.some((word) => line.toLowerCase().includes(word.toLowerCase())));

const describeFixture = ({ name, planted }: Fixture) => `${name}: ${planted?.map((words) => words[0]).join(" ")}`;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date(NOW) });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("rules", () => {
  it.each([
    [1, "tuned", tuned],
    [2, "tuned", tuned],
    [3, "held out", heldOut],
  ] as const)(
    "of seed %i (%s), at least 0.9 of the proposals are about a planted mistake",
    async (seed, kind, pool) => {
      const { right, planted, none, wrong, missed } = await measure(seed, pool);
      const precision = right / (right + wrong.length);
      console.info(`seed ${seed} (${kind}): precision ${precision.toFixed(3)}, recall ${(right / planted).toFixed(3)}`);
      expect([planted, none]).toEqual([30, 30]);
      expect(precision, wrong.join("\n")).toBeGreaterThanOrEqual(0.9);
      // So that nothing is precise by proposing nothing.
      expect(right / planted, missed.join("\n")).toBeGreaterThanOrEqual(0.6);
    },
  );
});
