/** What a search result shows of a match. */
import { expect, it } from "vitest";
import { callLine, insideOf } from "../../ui/features/search/call-line.ts";
import { piecesOf, readable } from "../../ui/features/search/readable.ts";

const shown = (text: string, word: string, form: "json" | "markdown" | "plain") => {
  const start = text.indexOf(word);
  return piecesOf(text, [[start, start + word.length]], form)
    .map(({ text, hit }) => (hit ? `[${text}]` : text))
    .join("");
};

it("shows the values of arguments, with gaps and without keys", () => {
  const input = '{"file_path":"/w/a.js","old_string":"say \\"hi\\"\\nnow","count":3}';
  expect(shown(input, "a.js", "json")).toBe('/w/[a.js] · say "hi" now · 3');
  expect(shown(input, "path", "json")).toBe('file_[path]: /w/a.js · say "hi" now · 3');
  expect(shown("file_path /w/a.js old_string one new_string two", "a.js", "json")).toBe("/w/[a.js] · one · two");
  expect(readable('{"files":["a","b"]}', "json")).toBe("a, b");
});

it("shows messages without the signs of Markdown", () => {
  expect(shown("## Plan\nUse `heap` and **sort** [it](https://a.b/c)", "heap", "markdown")).toBe(
    "Plan\nUse [heap] and sort it",
  );
  expect(readable("| a | b |\n|---|---|\n| 1 | 2 |", "markdown")).not.toMatch(/\||---/);
});

it("leaves output as it is", () => {
  expect(shown("a ** b `c` | d", "b", "plain")).toBe("a ** [b] `c` | d");
});

it("leaves out the numbers a log writes before lines, and names of arguments that have a line to themselves", () => {
  expect(shown("     3→\n     4→export function tide() {\n     5→  x→y", "tide", "plain")).toBe(
    "\nexport function [tide]() {\nx→y",
  );
  expect(shown("turned 3→4 and\n12→export", "12", "plain")).toBe("turned 3→4 and\n[12]→export");
  expect(shown("prompt\nFind the tide\nsubagent_type\nExplore\n", "tide", "json")).toBe("Find the [tide] · Explore");
  expect(shown("description\nWrite a prompt for command\n", "Write", "json")).toBe("[Write] a prompt for command");
  // A name that was found stays.
  expect(shown("prompt\nFind it\n", "prompt", "json")).toMatch(/^\[prompt\]/);
});

it("shows what a call was called on once, and always the word that matched", () => {
  const line = (argument: string, snippet: string, word: string) => {
    const at = snippet.indexOf(word);
    return callLine({ argument, snippet, ranges: [[at, at + word.length]] });
  };
  const command = "git diff --stat taseba";
  expect(line(command, `command\n${command}\n`, "taseba")).toEqual({
    argument: { text: command, ranges: [[16, 22]] },
    snippet: false,
  });
  // The word is in another argument: the snippet shows both, or the argument is shown before it.
  expect(line(command, `command\n${command}\ndescription\nShow the totals\n`, "totals")).toEqual({ snippet: true });
  expect(line(command, "description\nShow the totals\n", "totals")).toEqual({
    argument: { text: command, ranges: [] },
    snippet: true,
  });
});

it("shows what an edit has before and after its change once", () => {
  const input = "path README.md old_string # Tide tables over HTTP new_string # Tide tables over HTTP and more";
  expect(shown(input, "README", "json")).toBe("path [README].md · # Tide tables over HTTP and more");
  // Short values say something each.
  expect(readable('{"from":"3","to":"30"}', "json")).toBe("3 · 30");
});

it("ends what a call was called on where the snippet goes on with it", () => {
  const argument = "npm run build && node scripts/measure.mjs --out";
  const snippet = "measure.mjs --out results/timings.json";
  const at = snippet.indexOf("timings");
  expect(callLine({ argument, snippet, ranges: [[at, at + 7]] })).toEqual({
    argument: { text: "npm run build && node scripts/", ranges: [] },
    snippet: true,
  });
});

it("shows paths inside the project from its folder on, with the marks where they were", () => {
  const snippet = "in /w/app/src/a.js and /w/app/b.js, /w/apple";
  const places = (word: string, from = 0): [number, number] => {
    const at = snippet.indexOf(word, from);
    return [at, at + word.length];
  };
  const match = { argument: "/w/app/src/a.js", snippet, ranges: [places("app"), places("a.js"), places("b.js")] };
  const { argument, snippet: short, ranges } = insideOf(match, "/w/app");
  expect([argument, short]).toEqual(["src/a.js", "in src/a.js and b.js, /w/apple"]);
  expect(ranges.map(([from, to]) => short.slice(from, to))).toEqual(["a.js", "b.js"]);
  expect(insideOf(match, null)).toBe(match);
});
