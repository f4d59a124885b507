/** Questions in a user's words over generated archives: evidence among the first five, none where there is none. The figures are in the README. */
import { expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { LONG } from "../rounds.ts";
import { heldOut, tuned } from "./questions/generate.ts";
import { measure, toText } from "./questions/measure.ts";
import { startWith } from "./sessions.ts";

const COUNT = LONG ? 100 : 30;

it.each([
  ["with which the ranking was tuned", tuned, 1],
  ["that it had not seen", heldOut, 2],
] as const)(`answers questions %s`, async (_, make, seed) => {
  const { sessions, questions } = make(seed, COUNT);
  const { kernel } = await startWith(await makeTempDir(), sessions);
  const ask = (question: string) => kernel.inject("recall").answer({ question });
  const measured = await measure(questions, ask);
  expect(measured.found, toText(measured)).toBeGreaterThanOrEqual(LONG ? 0.9 : 0.85);
  expect(measured.none, toText(measured)).toBeGreaterThanOrEqual(0.9);
  expect(measured.p95).toBeLessThanOrEqual(600);
  // The same question on the same archive.
  const text = questions[0]?.text ?? "";
  expect(await ask(text)).toEqual(await ask(text));
});
