/** Colours of code: whole lines, long files in batches, and nothing that goes on where it ended. */
import { expect, it } from "vitest";
import { highlightLines } from "../../ui/features/code/highlight.ts";

/** The colours of each line, as they differ from those of plain text. */
const colours = async (code: string, name: string) =>
  (await highlightLines(code, name))?.map((line) => [...new Set(line.map(({ style }) => style["--shiki-light"]))]);
const textOf = (lines: Awaited<ReturnType<typeof highlightLines>>) =>
  lines?.map((line) => line.map(({ text }) => text).join("")).join("\n");

it.each(["a.js", "a.ts", "a.rs", "a.go", "a.java", "a.kt"])(
  "%s: a comment on the first line ends with it",
  async (name) => {
    const [first, second] = (await colours("// one\nint x = 2;", name)) ?? [];
    expect(first).toHaveLength(1);
    expect(second).not.toContain(first?.[0]);
  },
);

it.each(["Dockerfile", "Makefile", "a.toml", "a.ini"])("%s has colours", async (name) => {
  expect(await highlightLines("# one\nx = 2", name)).toHaveLength(2);
});

it("colours a long file in batches, a comment over their ends included", async () => {
  const filler = Array.from({ length: 900 }, (_, i) => `   line ${i} of a long comment`);
  const code = ["/*", ...filler, "*/", "const a = 1;"].join("\n");
  const lines = await highlightLines(code, "long.ts");
  expect(textOf(lines)).toBe(code);
  const all = (await colours(code, "long.ts")) ?? [];
  const comment = all[1]?.[0];
  expect(new Set(all.slice(0, -1).flat())).toEqual(new Set([comment]));
  expect(all.at(-1)).not.toContain(comment);
});

it("leaves what it does not know, and code whose reader has left", async () => {
  expect(await highlightLines("x", "file.unknown")).toBeUndefined();
  expect(await highlightLines("x", "a.ts", AbortSignal.abort())).toBeUndefined();
});
