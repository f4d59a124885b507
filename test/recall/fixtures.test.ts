/** Questions about the logs of real assistants (`../shared/fixtures`): evidence among the first five, none where there is none. */
import { expect, it } from "vitest";
import recall from "../../plugins/recall/index.ts";
import security from "../../plugins/security/index.ts";
import { hasFixtures, importFixtures } from "../archive/_fixtures.ts";
import { REAL } from "./questions/real.ts";

it.skipIf(!hasFixtures)("answers questions about real logs", async () => {
  const t = await importFixtures([security(), recall()]);
  try {
    const missed: string[] = [];
    const right = { one: 0, several: 0, none: 0 };
    for (const { text, kind, sessions } of REAL) {
      const { evidence } = await t.kernel.inject("recall").answer({ question: text });
      const first = evidence.slice(0, 5);
      const found = new Set(
        first.flatMap(({ session }) => (sessions.some((id) => session.startsWith(id)) ? [session] : [])),
      );
      const isRight = kind === "none" ? evidence.length === 0 : found.size >= (kind === "one" ? 1 : 2);
      if (isRight) right[kind]++;
      else
        missed.push(`${kind}: ${text}\n  ${first.map((one) => `${one.session} ${one.fit} ${one.text}`).join("\n  ")}`);
    }
    const all = (kind: string) => REAL.filter((one) => one.kind === kind).length;
    const figures = `${JSON.stringify(right)}\n${missed.join("\n")}`;
    expect((right.one + right.several) / (all("one") + all("several")), figures).toBeGreaterThanOrEqual(0.9);
    expect(right.none / all("none"), figures).toBeGreaterThanOrEqual(0.9);
  } finally {
    await t.close();
  }
});
