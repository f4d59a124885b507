/** Which message wrote a hunk, and what stands between hunks. */
import { describe, expect, it } from "vitest";
import { compare } from "../../ui/features/code/compare.ts";
import { type Item, toItems } from "../../ui/features/code/layout.ts";
import { findWriter, toWrite, type Write } from "../../ui/features/session/transcript/writes.ts";
import type { Message } from "../../ui/wire.ts";

const toHunks = (before: string, after: string) => compare(before, after, { context: 3, timeout: 1_000 }) ?? [];
const numbered = (n: number) => Array.from({ length: n }, (_, i) => `const line${i + 1} = ${i + 1};`);
const edit = (seq: number, before: string, after: string): Write => ({ seq, edits: [{ before, after }] });
const call = (seq: number, tool_input: Message["tool_input"]): Message => ({
  seq,
  kind: "tool_use",
  text: "",
  id: null,
  at: null,
  tool_name: "tool",
  tool_input,
});

it("looks for words that differ as long as there is time: hundreds of minified lines are no reason to wait", () => {
  const line = (n: number, mark: string) =>
    Array.from({ length: 190 }, (_, i) => `${i % 2 ? mark : "k"}${(i * 7919 + n) % 997};`).join("");
  const text = (mark: string) => Array.from({ length: 190 }, (_, n) => line(n, mark)).join("\n");
  const hour = 3_600_000;
  let hours = 0;
  // Each look at the clock finds it an hour later: a machine of any speed sees to as many lines.
  const hunks = compare(text("a"), text("b"), { context: 3, timeout: 100 * hour }, () => hours++ * hour) ?? [];
  const added = hunks.flatMap((hunk) => hunk.lines).filter(({ sign }) => sign === "+");
  expect(added.map(({ words }) => words.length > 0)).toEqual(added.map((_, n) => n < 99));
  expect(added).toHaveLength(190);
});

describe("the message that wrote a hunk", () => {
  const old = numbered(40);
  const text = old.join("\n");
  const changed = text
    .replace("const line5 = 5;", "const fifth = compute(5);")
    .replace("const line30 = 30;", "const thirtieth = compute(30);\nconst thirtyFirst = compute(31);");

  it("is the one whose edit put in what the hunk adds", () => {
    const writes = [
      edit(3, "const line5 = 5;", "const fifth = compute(5);"),
      edit(7, "const line30 = 30;", "const thirtieth = compute(30);\nconst thirtyFirst = compute(31);"),
    ];
    expect(toHunks(text, changed).map((hunk) => findWriter(hunk, writes))).toEqual([3, 7]);
  });

  it("is found where the edit is a part of a line", () => {
    expect(
      toHunks(text, text.replace("line5 = 5", "line5 = 500")).map((hunk) =>
        findWriter(hunk, [edit(3, "= 5;", "= 500;")]),
      ),
    ).toEqual([3]);
  });

  it("is found by what it took away, when nothing was added", () => {
    const without = old.filter((_, i) => i !== 9 && i !== 10).join("\n");
    const writes = [edit(4, "const line9 = 9;\nconst line10 = 10;\nconst line11 = 11;\n", "const line9 = 9;\n")];
    expect(toHunks(text, without).map((hunk) => findWriter(hunk, writes))).toEqual([4]);
  });

  it("is not named when two may have written it, when it says too little, or when an edit only quotes it", () => {
    const [first] = toHunks(text, changed);
    if (!first) throw new Error("no hunk");
    const same = edit(3, "const line5 = 5;", "const fifth = compute(5);");
    expect(findWriter(first, [same, { ...same, seq: 9 }])).toBeUndefined();
    expect(findWriter(first, [])).toBeUndefined();
    expect(
      findWriter(first, [edit(3, "const fifth = compute(5);\nx", "const fifth = compute(5);\ny")]),
    ).toBeUndefined();
    const [brace] = toHunks("a\nb\n", "a\n}\nb\n");
    if (!brace) throw new Error("no hunk");
    expect(findWriter(brace, [edit(3, "a\n", "a\n}\n")])).toBeUndefined();
  });

  it("is not named when two edits share one hunk", () => {
    const both = text
      .replace("const line5 = 5;", "const fifth = compute(5);")
      .replace("const line7 = 7;", "const seventh = compute(7);");
    const writes = [
      edit(3, "const line5 = 5;", "const fifth = compute(5);"),
      edit(4, "const line7 = 7;", "const seventh = compute(7);"),
    ];
    expect(toHunks(text, both).map((hunk) => findWriter(hunk, writes))).toEqual([undefined]);
  });

  it("reads patches of the file, as an argument and on the command line, and leaves other files' alone", () => {
    const patch = (path: string) =>
      `*** Begin Patch\n*** Update File: ${path}\n@@\n const line4 = 4;\n-const line5 = 5;\n+const fifth = compute(5);\n const line6 = 6;\n*** End Patch`;
    const [first] = toHunks(text, changed);
    if (!first) throw new Error("no hunk");
    const isFile = (path: string) => path === "src/a.ts";
    const ways: Message["tool_input"][] = [
      patch("src/a.ts"),
      { input: patch("src/a.ts") },
      { command: ["bash", "-lc", `apply_patch <<'EOF'\n${patch("src/a.ts")}\nEOF`] },
    ];
    for (const way of ways) {
      const write = toWrite(call(5, way), isFile);
      expect(write && findWriter(first, [write])).toBe(5);
    }
    expect(toWrite(call(5, { input: patch("src/b.ts") }), isFile)).toBeUndefined();
  });

  it("names the write that made a new file, unless another wrote the same", () => {
    const [hunk] = toHunks("", `${text}\n`);
    const write = toWrite(call(2, { file_path: "a.ts", content: `${text}\n` }), () => true);
    if (!hunk || !write) throw new Error("no hunk");
    expect(findWriter(hunk, [write])).toBe(2);
    expect(findWriter(hunk, [write, { ...write, seq: 8 }])).toBeUndefined();
  });
});

describe("what is in a diff", () => {
  const after = numbered(60).map((line, i) => (i === 9 || i === 39 ? `${line} // changed` : line));
  const hunks = toHunks(numbered(60).join("\n"), after.join("\n"));
  const layout = { split: false, bare: false, after, closed: new Set<number>(), opened: new Set<number>() };
  const outline = (items: Item[]) =>
    items
      .filter((item) => item.type === "gap" || item.type === "head")
      .map((item) => (item.type === "gap" ? item.count : "@@"));

  it("reports how many lines are folded before, between and behind the hunks", () => {
    expect(outline(toItems(hunks, layout))).toEqual([6, "@@", 23, "@@", 17]);
  });

  it("shows a folded stretch whole, numbered on both sides", () => {
    const items = toItems(hunks, { ...layout, opened: new Set([14]) });
    const lines = items.flatMap((item) =>
      item.type === "line" && item.line.b !== null && item.line.b >= 14 && item.line.b < 37 ? [item.line] : [],
    );
    expect(lines.map((line) => line.text)).toEqual(after.slice(13, 36));
    expect(lines.every((line) => line.a === line.b)).toBe(true);
    expect(outline(items)).toEqual([6, "@@", "@@", 17]);
  });

  it("leaves out the lines of a hunk that is folded away, and both when bare", () => {
    const items = toItems(hunks, { ...layout, closed: new Set([0]) });
    expect(items.filter((item) => item.type === "line")).toHaveLength(hunks[1]?.lines.length ?? 0);
    expect(outline(toItems(hunks, { ...layout, bare: true }))).toEqual([]);
  });
});
