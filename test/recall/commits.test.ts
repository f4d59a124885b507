/** The commit that took what a turn wrote: named in each line of evidence, in the answer's text, and by nothing where none is known. */
import { expect, it } from "vitest";
import type { Answer } from "../../plugins/recall/index.ts";
import { makeTempDir } from "../_setup.ts";
import { describeGit, makeRepo } from "../git/_repo.ts";
import { edit, fails, idOf, says, shell, startWith, user } from "./sessions.ts";

const DAY = Date.parse("2026-11-20T10:00:00Z") / 1_000;

describeGit("a line of evidence", () => {
  it("names the commit of its turn, whether its code is kept or rewritten since", async () => {
    const repo = makeRepo();
    const start = "// begin\n// end\n";
    for (const name of ["queue.ts", "lighthouse.ts", "walrus.ts"]) repo.write(`src/${name}`, start);
    repo.commit("Begin", DAY - 1_000);
    const change = (name: string, lines: string) => edit(`${repo.root}/src/${name}`, "// end", `${lines}\n// end`);
    const kept = "export const queueLimit = measureQueue(40);";
    const rewritten = "export const lighthouseBlinks = everySecond(9);";
    repo.write("src/queue.ts", `// begin\n${kept}\n// end\n`);
    const first = repo.commit("Limit the queue", DAY + 600);
    repo.write("src/lighthouse.ts", `// begin\n${rewritten}\n// end\n`);
    const second = repo.commit("Blink", DAY + 1_600);
    repo.write("src/lighthouse.ts", `// begin\nexport const lighthouse = "dark";\n// end\n`);
    repo.commit("Darken", DAY + 2_600);
    const at = (seconds: number) => new Date((DAY + seconds) * 1_000).toISOString();
    const { kernel } = await startWith(await makeTempDir(), [
      {
        ...{ n: 1, cwd: repo.root, at: at(0) },
        turns: [
          user("limit the queue"),
          change("queue.ts", kept),
          fails("npx vitest run queue", "Error: queue overflowed its limit"),
          shell("npm ci"),
          shell("npx vitest run queue"),
          says("We decided to limit the queue at forty because the broker drops the rest."),
        ],
      },
      {
        ...{ n: 2, cwd: repo.root, at: at(1_000) },
        turns: [
          user("let the lighthouse blink"),
          change("lighthouse.ts", rewritten),
          says("The lighthouse blinks each second."),
          user("what does the walrus do?"),
          says("The walrus sleeps."),
          user("give the walrus a hat"),
          change("walrus.ts", "export const walrusHat = bowler(12);"),
          says("The walrus wears a bowler hat now."),
        ],
      },
    ]);
    const ask = async (query: Record<string, string>) =>
      (await (await kernel.fetch(`/api/recall?${new URLSearchParams(query)}`)).json()) as Answer;
    const first5 = async (query: Record<string, string>) =>
      (await ask(query)).evidence.map(({ session, commit, code }) => [session, commit, code]);
    // A question waits for git a little; it is answered with the commit when it is asked again.
    await expect
      .poll(() => first5({ q: "why is the queue limited at forty" }))
      .toContainEqual([idOf(1), first, "kept"]);
    await expect
      .poll(() => first5({ q: "how did the lighthouse blink" }))
      .toContainEqual([idOf(2), second, "rewritten"]);
    await expect.poll(() => first5({ command: "npx vitest run queue" })).toContainEqual([idOf(1), first, "kept"]);
    const { text } = await ask({ q: "why is the queue limited at forty" });
    expect(text).toContain(`(commit ${first.slice(0, 10)}; code: kept)`);
    // One turn wrote nothing, one is not committed.
    const walrus = await ask({ q: "walrus bowler hat sleeps" });
    expect(walrus.evidence.length).toBeGreaterThan(0);
    expect(walrus.evidence.map(({ commit }) => commit).filter((one) => one !== undefined)).toEqual([]);
    const turns = [0, 4, 6].map((seq) => ({ session: idOf(2), seq }));
    const taken = await kernel.inject("blame").takenBy([...turns, { session: "claude-code:none", seq: 0 }]);
    expect(taken).toEqual([{ hash: second, at: at(1_600) }, undefined, undefined, undefined]);
  });

  it("names none without a repository", async () => {
    const home = await makeTempDir();
    const { kernel } = await startWith(home, [
      { n: 1, cwd: home, turns: [user("paint the lighthouse"), edit(`${home}/a.ts`), says("The lighthouse is red.")] },
    ]);
    const { evidence } = await kernel.inject("recall").answer({ question: "painted lighthouse red" });
    expect(evidence.length).toBeGreaterThan(0);
    expect(evidence.every((one) => !("commit" in one))).toBe(true);
    expect(await kernel.inject("blame").takenBy([{ session: idOf(1), seq: 0 }])).toEqual([undefined]);
  });
});
