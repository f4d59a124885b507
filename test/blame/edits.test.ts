/** GET /sessions/:id/edits: what became of each edit of a session. */
import { join } from "node:path";
import { expect, it } from "vitest";
import type { SessionEdits } from "../../plugins/blame/index.ts";
import { describeGit, makeRepo, T0, tempFolder } from "../git/_repo.ts";
import { archived, KEYS } from "./_session.ts";

const line = (name: string) => `export const ${name}Threshold = measure(${name}, "${name}");`;
const text = (...names: string[]) => names.map((name) => `${line(name)}\n`).join("");

async function readEdits({ t }: Awaited<ReturnType<typeof archived>>, n = 0): Promise<SessionEdits> {
  return t.json<SessionEdits>(`/api/sessions/claude-code:${KEYS[n]}/edits`);
}

describeGit("an edit of a session", () => {
  it("is kept, partly kept, rewritten, reverted, on a branch, or in no commit", async () => {
    const repo = makeRepo();
    const at = (name: string) => join(repo.root, name);
    const edit = (name: string, added: string) => ({
      file_path: at(name),
      old_string: "// end\n",
      new_string: `${added}// end\n`,
    });
    const files = ["kept.ts", "partly.ts", "rewritten.ts", "assistant.ts", "reverted.ts", "branch.ts", "never.ts"];
    const commit = (names: readonly string[], body: (name: string) => string, subject: string, seconds: number) => {
      for (const name of names) repo.write(name, `// begin\n${body(name)}// end\n`);
      return repo.commit(subject, seconds);
    };
    commit(files, () => "", "Begin", T0);
    const first = commit(files.slice(0, 4), (name) => text(`${name[0]}First`, `${name[0]}Second`), "First", T0 + 100);
    commit(["partly.ts"], () => text("pFirst", "byHand"), "By hand", T0 + 200);
    commit(["rewritten.ts"], () => text("handOne", "handTwo"), "By hand again", T0 + 210);
    commit(["assistant.ts"], () => text("aThird"), "Second session", T0 + 320);
    const reverted = commit(["reverted.ts"], () => text("backOne"), "Bad idea", T0 + 400);
    repo.git("revert", "--no-edit", reverted);
    repo.git("checkout", "-q", "-b", "side");
    const side = commit(["branch.ts"], () => text("sideOne"), "On the side", T0 + 500);
    repo.git("checkout", "-q", "main");
    const calls = await archived(repo, [
      [
        [10, "Edit", edit("kept.ts", text("kFirst", "kSecond"))],
        [11, "Edit", edit("partly.ts", text("pFirst", "pSecond"))],
        [12, "Edit", edit("rewritten.ts", text("rFirst", "rSecond"))],
        [13, "Edit", edit("assistant.ts", text("aFirst", "aSecond"))],
        [14, "Edit", edit("kept.ts", text("failed")), true],
        [350, "Edit", edit("reverted.ts", text("backOne"))],
        [450, "Edit", edit("branch.ts", text("sideOne"))],
        [600, "Edit", edit("never.ts", text("lostOne", "lostTwo"))],
        // The whole file again, as it was.
        [610, "Write", { file_path: at("never.ts"), content: text("lostOne", "lostTwo") }],
        [620, "Write", { file_path: at("new.ts"), content: text("newOne") }],
        [630, "Read", { file_path: at("kept.ts") }],
      ],
      [[310, "Edit", edit("assistant.ts", text("aThird"))]],
    ]);
    const answer = await readEdits(calls);
    expect(answer.hasRepository).toBe(true);
    const rows = answer.edits.map(({ seq, state, lines, commits }) => [seq, state, lines, commits.map((c) => c.hash)]);
    expect(rows).toEqual([
      [1, "kept", { kept: 2 }, [first]],
      [3, "partly", { kept: 1, "rewritten-by-person": 1 }, [first]],
      [5, "rewritten", { "rewritten-by-person": 2 }, [first]],
      [7, "rewritten", { "rewritten-by-assistant": 2 }, [first]],
      [11, "reverted", { reverted: 1 }, [reverted]],
      [13, "unmerged", { unmerged: 1 }, [side]],
      [15, "uncommitted", { uncommitted: 2 }, []],
      [19, "uncommitted", { uncommitted: 1 }, []],
    ]);
    expect(answer.edits[0]?.commits).toEqual([
      { hash: first, at: new Date((T0 + 100) * 1000).toISOString(), subject: "First", lines: 2 },
    ]);
    // A commit that comes later is in the next answer.
    commit(["never.ts"], () => text("lostOne", "lostTwo"), "Late", T0 + 700);
    expect((await readEdits(calls)).edits.find(({ seq }) => seq === 15)?.state).toBe("kept");
    expect((await calls.t.fetch("/api/sessions/claude-code:none/edits")).status).toBe(404);
  });

  it("is of unknown fate without a repository", async () => {
    const root = tempFolder();
    const file = join(root, "a.ts");
    const calls = await archived({ ...makeRepo(), root }, [[[10, "Write", { file_path: file, content: line("one") }]]]);
    const { hasRepository, edits } = await readEdits(calls);
    expect([hasRepository, edits]).toEqual([false, []]);
  });
});

describeGit("a common line that a discarded session and a kept session both wrote", () => {
  const common = '  if (!value) return undefined;\n  return "";\n';
  const own = (name: string) => `export function ${name}Reader(value: string) {\n${common}}\n`;

  it("is never named as the discarded session's while the kept one wrote its commit", async () => {
    const repo = makeRepo();
    const file = join(repo.root, "a.ts");
    repo.write("a.ts", "// begin\n");
    repo.commit("Begin", T0);
    repo.write("a.ts", `// begin\n${own("kept")}`);
    repo.commit("Kept", T0 + 100);
    const write = (name: string) => ({
      file_path: file,
      old_string: "// begin\n",
      new_string: `// begin\n${own(name)}`,
    });
    // The discarded session wrote later, or earlier; either way only the other one's function is in the commit.
    for (const [keptAt, lostAt] of [
      [20, 60],
      [60, 20],
    ] as const) {
      const { blame } = await archived(repo, [[[keptAt, "Edit", write("kept")]], [[lostAt, "Edit", write("lost")]]]);
      const { lines, writers } = await blame("a.ts");
      const named = lines?.map(({ writer }) => writers[writer ?? -1]?.sessionId.at(-1));
      expect(named, `kept at ${keptAt}`).toEqual([undefined, "a", "a", "a", "a"]);
    }
  });

  it("has no writer while a person wrote the commit and the discarded session only shares that line", async () => {
    const repo = makeRepo();
    const file = join(repo.root, "a.ts");
    repo.write("a.ts", "// begin\n");
    repo.commit("Begin", T0);
    repo.write("a.ts", "// begin\n  if (!value) return undefined;\n");
    repo.commit("By hand", T0 + 100);
    const { blame } = await archived(repo, [
      [
        [
          20,
          "Edit",
          { file_path: file, old_string: "// begin\n", new_string: `// begin\n${own("lost")}${own("gone")}` },
        ],
      ],
    ]);
    const { lines } = await blame("a.ts");
    expect(lines?.map(({ writer }) => writer)).toEqual([null, null]);
  });
});
