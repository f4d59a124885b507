/** GET /git/find and GET /git/line: from a name, a `file:line` or a pasted line to the prompt that wrote it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createTestKernel } from "sessarc/test";
import { expect, it } from "vitest";
import type { FoundPlace, LineWhy } from "../../plugins/blame/index.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import { describeGit, makeRepo, T0, tempFolder } from "../git/_repo.ts";

const KEY = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0a";
const ID = `claude-code:${KEY}`;
const SUM = "export const sum = (a: number, b: number) => a + b;";
const TOTAL = "export const total = (list: number[]) => list.reduce(sum, 0);";

/** Two prompts: `sum` is written and committed, then `total`, which is not. */
async function world({ reply = "Add the sum, please", said }: { reply?: string; said?: string | undefined } = {}) {
  const home = tempFolder();
  const repo = makeRepo(join(home, "app"));
  repo.write("src/math.ts", "// by hand\n");
  repo.commit("Begin", T0);
  const row = (seconds: number, type: string, content: unknown) => ({
    ...{ type, uuid: `${type}${seconds}`, sessionId: KEY, cwd: repo.root, requestId: `r${seconds}` },
    timestamp: new Date((T0 + seconds) * 1000).toISOString(),
    message: {
      ...{ id: `m${seconds}`, role: type, model: "claude-opus-4-5-20251101", content },
      usage: { input_tokens: 100, output_tokens: 50 },
    },
  });
  const file = join(repo.root, "src/math.ts");
  const call = (seconds: number, name: string, input: object) => [
    row(seconds, "assistant", [{ type: "tool_use", id: `t${seconds}`, name, input }]),
    row(seconds + 1, "user", [{ type: "tool_result", tool_use_id: `t${seconds}`, content: "done" }]),
  ];
  const log = join(home, ".claude/projects/-w", `${KEY}.jsonl`);
  mkdirSync(dirname(log), { recursive: true });
  const rows = [
    ...(said === undefined
      ? []
      : [row(-9, "user", "Look at it"), row(-8, "assistant", [{ type: "text", text: said }])]),
    row(1, "user", reply),
    ...call(2, "Read", { file_path: file }),
    ...call(5, "Edit", { file_path: file, old_string: "// by hand", new_string: `// by hand\n${SUM}` }),
    row(30, "user", "And the total"),
    ...call(32, "Edit", { file_path: file, old_string: SUM, new_string: `${SUM}\n${TOTAL}` }),
  ];
  writeFileSync(log, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
  repo.write("src/math.ts", `// by hand\n${SUM}\n`);
  repo.commit("Sum", T0 + 20);
  const t = await createTestKernel({ home, plugins: defaultPlugins() });
  await t.send("POST", "/api/import", { all: true });
  const find = async (q: string) =>
    (await t.json<{ places: FoundPlace[] }>(`/api/git/find?${new URLSearchParams({ q })}`)).places;
  const why = (query: Record<string, string>) => t.json<LineWhy>(`/api/git/line?${new URLSearchParams(query)}`);
  return { t, repo, file, find, why };
}

describeGit("a prompt that says little alone", () => {
  it.each([
    ["Yes.", "Two processes write.\n\nShall I lock the file?", { seq: 1, text: "Shall I lock the file?" }],
    ["Yes.", "Done.\n\n---\n", { seq: 1, text: "Done." }],
    ["Yes.", undefined, null],
    ["Yes, please lock the file, and release it when the process ends", "Shall I lock the file?", null],
  ])("%s after %j", async (reply, said, answers) => {
    const { why } = await world({ reply, said });
    const writer = (await why({ project: "app", path: "src/math.ts", line: "2" })).writer;
    expect(writer?.prompt).toMatchObject({ text: reply, answers });
  });
});

describeGit("finding a line", () => {
  it("leads from a name, file:line in any spelling, and a pasted line to the place in the project", async () => {
    const { find, file } = await world();
    const [named] = await find("math");
    expect(named).toMatchObject({ path: "src/math.ts", inside: true, line: null, text: null, sessions: 1 });
    expect(named?.project.name).toBe("app");
    for (const q of [
      "src/math.ts:2",
      "math.ts:2:14",
      `${file}:2`,
      `    at sum (${file}:2:14)`,
      "src/math.ts(2,14): error TS2322",
      "src\\math.ts:2",
      "12:30 see src/math.ts#L2",
    ])
      expect([q, await find(q)]).toEqual([q, [expect.objectContaining({ path: "src/math.ts", line: 2 })]]);
    for (const q of [SUM, `  + ${SUM}`, `  2\t${SUM}`, `if (x) {\n${SUM}\n}`]) {
      const [found] = await find(q);
      expect([q, found]).toEqual([
        q,
        expect.objectContaining({ path: "src/math.ts", text: expect.stringContaining("sum") }),
      ]);
      expect(found?.last).toMatchObject({ sessionId: ID, seq: 3, name: "Edit" });
    }
    for (const q of [
      "other.ts:2",
      "const unknown = written(this);",
      "http://localhost:3000",
      "}",
      "%",
      "and the total",
    ])
      expect([q, await find(q)]).toEqual([q, []]);
  });

  it("names the prompt, the reads, the commit and the cost of a committed line", async () => {
    const { why, find } = await world();
    const [place] = await find("math.ts:2");
    const found = await why({ project: place?.project.id ?? "", path: "src/math.ts", line: "2" });
    expect(found).toMatchObject({ number: 2, text: SUM, commit: { subject: "Sum" }, evidence: "line" });
    expect(found.writer).toMatchObject({ sessionId: ID, seq: 3, prompt: { seq: 0, text: "Add the sum, please" } });
    expect(found.writer?.reads.map(({ tool_name }) => tool_name)).toEqual(["Read"]);
    expect(found.writer?.cost?.microdollars).toBeGreaterThan(0);
    const byHand = await why({ project: place?.project.id ?? "", path: "src/math.ts", line: "1" });
    expect([byHand.writer, byHand.commit?.subject]).toEqual([null, "Begin"]);
  });

  it("answers for a line as a call shows it: written, not committed yet, and found in the file before", async () => {
    const { why, file, t } = await world();
    const shown = (seq: number, text: string, before = "0") =>
      why({ session: ID, seq: String(seq), path: file, text, before });
    const written = await shown(3, SUM);
    expect(written).toMatchObject({ path: "src/math.ts", number: 2, commit: { subject: "Sum" } });
    expect(written.writer).toMatchObject({ seq: 3, prompt: { text: "Add the sum, please" } });
    const open = await shown(6, TOTAL);
    expect(open).toMatchObject({ number: null, commit: null, writer: { seq: 6, prompt: { text: "And the total" } } });
    const before = await shown(6, SUM, "1");
    expect(before).toMatchObject({ commit: { subject: "Sum" }, writer: { seq: 3 } });
    const byHand = await shown(3, "// by hand", "1");
    expect(byHand).toMatchObject({ writer: null, commit: { subject: "Begin" }, number: 1 });
    const ask = (query: Record<string, string>) => t.fetch(`/api/git/line?${new URLSearchParams(query)}`);
    expect((await ask({ path: "a" })).status).toBe(400);
    expect((await ask({ session: ID, seq: "99", path: "a", text: "b" })).status).toBe(400);
    expect((await ask({ session: "claude-code:none", seq: "1", path: "a", text: "b" })).status).toBe(404);
  });

  it("names the session that changed the file last, not the one that ended last", async () => {
    const home = tempFolder();
    const repo = makeRepo(join(home, "app"));
    repo.write("a.ts", "// by hand\n");
    repo.commit("Begin", T0);
    const file = join(repo.root, "src/shared.ts");
    const session = (n: number, prompt: string, edits: readonly [number, string][], end: number) => {
      const key = `0b6f1c52-3a41-4d6e-9a51-00000000000${n}`;
      const row = (seconds: number, type: string, content: unknown) => ({
        ...{ type, uuid: `${n}${type}${seconds}`, sessionId: key, cwd: repo.root },
        timestamp: new Date((T0 + seconds) * 1000).toISOString(),
        message: { id: `m${n}${seconds}`, role: type, content },
      });
      const rows = [
        row(1, "user", prompt),
        ...edits.flatMap(([seconds, text]) => [
          row(seconds, "assistant", [
            { type: "tool_use", id: `t${seconds}`, name: "Write", input: { file_path: file, content: text } },
          ]),
          row(seconds + 1, "user", [{ type: "tool_result", tool_use_id: `t${seconds}`, content: "done" }]),
        ]),
        row(end, "assistant", [{ type: "text", text: "Done." }]),
      ];
      const log = join(home, ".claude/projects/-w", `${key}.jsonl`);
      mkdirSync(dirname(log), { recursive: true });
      writeFileSync(log, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
      return `claude-code:${key}`;
    };
    session(1, "Talk on for hours", [[10, SUM]], 9_000);
    const latest = session(
      2,
      "Change it once more",
      [
        [20, SUM],
        [600, `${SUM}\n${TOTAL}`],
      ],
      700,
    );
    session(3, "An early end", [[30, SUM]], 40);
    const t = await createTestKernel({ home, plugins: defaultPlugins() });
    await t.send("POST", "/api/import", { all: true });
    const [place] = (await t.json<{ places: FoundPlace[] }>("/api/git/find?q=shared.ts")).places;
    expect(place).toMatchObject({ sessions: 3, last: { sessionId: latest, title: "Change it once more", seq: 3 } });
    expect(place?.last.at).toBe(new Date((T0 + 600) * 1000).toISOString());
    // A line likewise: of the calls that wrote it.
    const line = await t.json<{ places: FoundPlace[] }>(`/api/git/find?${new URLSearchParams({ q: TOTAL })}`);
    expect(line.places[0]?.last).toMatchObject({ sessionId: latest, seq: 3 });
  });
});
