/** What grows with the archive, and what does not: answers in long sessions, chunks that a question reads. */
import { expect, it } from "vitest";
import type { AskStats } from "../../plugins/recall/index.ts";
import { makeTempDir } from "../_setup.ts";
import { LONG } from "../rounds.ts";
import { heldOut, tuned } from "./questions/generate.ts";
import { measure, toText } from "./questions/measure.ts";
import { says, startWith, user } from "./sessions.ts";

const AROUND = LONG ? 160 : 60;

it.each([
  ["with which the ranking was tuned", tuned, 3],
  ["that it had not seen", heldOut, 4],
] as const)("answers questions %s in long sessions", async (_, make, seed) => {
  const { sessions, questions } = make(seed, LONG ? 100 : 25, AROUND);
  const { kernel } = await startWith(await makeTempDir(), sessions);
  const measured = await measure(questions, (question) => kernel.inject("recall").answer({ question }));
  expect(measured.found, toText(measured)).toBeGreaterThanOrEqual(0.85);
  expect(measured.none, toText(measured)).toBeGreaterThanOrEqual(0.9);
});

it.each(LONG ? [300, 1_200] : [40, 400])("reads 20 chunks at most for a question of %i sessions", async (count) => {
  const things = "parser token column branch merge cache route table widget handler".split(" ");
  const some = Array.from({ length: count }, (__, i) => {
    const [one, other] = [things[i % 10], things[(i * 7 + 3) % 10]];
    return { n: i + 1, turns: [user(`look at the ${one} number${i}`), says(`The ${one} of the ${other} is done.`)] };
  });
  const planted = {
    n: count + 1,
    turns: [user("the lighthouse blinks"), says("The lighthouse blinks because its token is stale.")],
  };
  const { kernel } = await startWith(await makeTempDir(), [...some, planted]);
  const recall = kernel.inject("recall");
  const stats: AskStats[] = [];
  const note = (one: AskStats) => stats.push(one);
  for (const thing of things) await recall.answer({ question: `why is the ${thing} done` }, note);
  const { evidence } = await recall.answer({ question: "why does the lighthouse blink" }, note);
  expect(evidence[0]?.session).toMatch(new RegExp(`${(count + 1).toString(16)}$`));
  expect(stats.length).toBe(things.length + 1);
  for (const { read, chunks } of stats) {
    expect(chunks).toBe(count + 1);
    expect(read).toBeLessThanOrEqual(20);
  }
});
