/** Facts: what sessions of every kind teach, and nothing where they teach nothing. */
import { beforeEach, describe, expect, it } from "vitest";
import type { Fact } from "../../plugins/recall/index.ts";
import { makeTempDir } from "../_setup.ts";
import { edit, fails, idOf, says, shell, startWith, type Turn, user } from "./sessions.ts";

let home: string;
beforeEach(async () => {
  home = await makeTempDir();
});

async function factsOf(turns: readonly Turn[]): Promise<Fact[]> {
  const { kernel } = await startWith(home, [{ n: 1, turns }]);
  return (await kernel.inject("recall").facts({ limit: 100 })).toSorted((a, b) => a.seq - b.seq);
}

const CASES: [string, Turn[], Partial<Fact>[]][] = [
  ["nothing of a session in which all went well", [user("run it"), shell("npm test"), says("All pass.")], []],
  [
    "a failed command, the edit between and the command that passed",
    [
      user("make the tests pass"),
      fails(
        "cd /w/app && npx vitest run test/a.test.ts 2>&1 | tail -20",
        "Exit code 1\n\u001b[31mAssertionError: expected 2 to be 3\u001b[0m",
      ),
      edit("/w/app/src/a.ts"),
      shell("npx vitest run"),
    ],
    [
      {
        ...{ kind: "failed", seq: 1, subject: "npx vitest run test/a.test.ts", family: "vitest run", other: 5 },
        text: "AssertionError: expected 2 to be 3",
      },
      { kind: "fixed", seq: 5, subject: "npx vitest run", family: "vitest run", other: 1, files: ["/w/app/src/a.ts"] },
    ],
  ],
  [
    "the command between that made it work",
    [
      user("build"),
      fails("npm run build", "Error: Cannot find module 'left-pad'"),
      shell("npm install left-pad"),
      shell("npm run build"),
    ],
    [
      { kind: "failed", family: "npm run build", text: "Error: Cannot find module 'left-pad'" },
      { kind: "fixed", text: "npm install left-pad", command: "npm run build", files: [] },
    ],
  ],
  [
    "the same failure in a row once, with how often",
    [user("x"), fails("make", "make: *** no rule"), fails("make", "make: *** no rule")],
    [{ kind: "failed", count: 2, other: null }],
  ],
  [
    "nothing of a search that found nothing",
    [user("x"), fails("grep -rn foo src | head", ""), fails("ls /nope", "No such file")],
    [],
  ],
  [
    "a correction, with the files that were edited before it",
    [user("add it"), edit("/w/app/src/a.ts"), says("Done."), user("No, use pnpm, not npm. The lock file is pnpm's.")],
    [
      {
        kind: "corrected",
        seq: 4,
        text: "No, use pnpm, not npm. The lock file is pnpm's.",
        files: ["/w/app/src/a.ts"],
      },
    ],
  ],
  [
    "a decision with its reason",
    [
      user("store it"),
      says("I compared both.\n\nI'll use SQLite instead of a JSON file because two processes write at once."),
    ],
    [{ kind: "decided", text: "I'll use SQLite instead of a JSON file because two processes write at once." }],
  ],
  [
    "what the user said when a call was refused",
    [
      user("clean"),
      fails(
        "rm -rf dist",
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nuse npm run clean",
      ),
    ],
    [{ kind: "corrected", text: "use npm run clean" }],
  ],
];

describe("facts of a session", () => {
  it.each(CASES)("%s", async (_, turns, expected) => {
    const found = await factsOf(turns);
    expect(found).toMatchObject(expected);
    expect(found).toHaveLength(expected.length);
  });
});

describe("corrections", () => {
  const corrects = [
    "no, use tabs",
    "Don't touch the lock file",
    "I said the blue one",
    "That's wrong, it must be sorted",
    "you forgot the header",
    "stop adding comments",
    "use const instead of let",
    "Revert that, please",
    "we never use default exports here",
  ];
  const doesNot = [
    "no problem, go on",
    "No worries!",
    "now add a test",
    "Great, next: the header",
    "Add a flag. Don't forget the docs.",
    "Why did it fail?",
    "don't worry about it",
    "No, that's fine",
    "what does `no` mean",
    "Add a step that says no to unknown users",
  ];
  it.each([...corrects.map((text) => [text, 1] as const), ...doesNot.map((text) => [text, 0] as const)])(
    "%s: %i",
    async (text, count) => {
      const found = await factsOf([user("do it"), says("Done."), user(text)]);
      expect(found.filter(({ kind }) => kind === "corrected")).toHaveLength(count);
    },
  );

  it("the first prompt corrects nothing", async () => {
    expect(await factsOf([user("Don't use npm here. Add the page."), says("Done.")])).toEqual([]);
  });
});

describe("the service", () => {
  it("finds facts by command, file, kind, project and time", async () => {
    const { kernel } = await startWith(home, [
      {
        n: 1,
        turns: [user("a"), fails("npm test", "Error: one"), edit("/w/app/src/a.ts"), shell("npm test")],
        at: "2026-11-01T10:00:00Z",
      },
      {
        n: 2,
        turns: [user("b"), fails("npm test -- --watch", "Error: two")],
        cwd: "/w/other",
        at: "2026-11-10T10:00:00Z",
      },
      { n: 3, turns: [user("c"), fails("cargo build", "error[E0308]: mismatched types")] },
    ]);
    const recall = kernel.inject("recall");
    const texts = async (query: Parameters<typeof recall.facts>[0]) =>
      (await recall.facts(query)).map(({ session, kind }) => `${session.slice(-1)} ${kind}`);
    expect(await texts({ subject: "cd /w/app && npm test", limit: 10 })).toEqual(["1 fixed", "1 failed", "2 failed"]);
    expect(await texts({ subject: "cargo build --release", kinds: ["failed"], limit: 10 })).toEqual(["3 failed"]);
    expect(await texts({ file: "src/a.ts", limit: 10 })).toEqual(["1 fixed"]);
    expect(await texts({ file: "lib/a.ts", limit: 10 })).toEqual([]);
    expect(await texts({ since: Date.parse("2026-11-05T00:00:00Z"), limit: 10 })).toEqual(["3 failed", "2 failed"]);
    const { projectId } = await kernel.inject("archive").get(idOf(2));
    expect(await texts({ projectId, limit: 10 })).toEqual(["2 failed"]);
    expect(await texts({ kinds: [], limit: 10 })).toEqual([]);
  });

  it("masks secrets", async () => {
    const key = `sk-ant-api03-${"aB3dE5gH7jK9mN1p".repeat(5)}xyz-AA`;
    const [fact] = await factsOf([
      user("a"),
      fails(`curl -H 'x-api-key: ${key}' https://x.test`, `Error: key ${key} was refused`),
    ]);
    expect(JSON.stringify(fact)).not.toContain(key.slice(20, 60));
    expect(fact?.text).toContain("was refused");
  });
});
