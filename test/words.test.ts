/**
 * Words that a reader has to translate, and the shape of the READMEs. A list with reasons, not a style check: a phrase is added when
 * it was misread. Checks whole files: comments, messages, names of tests and guides alike.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

interface Idiom {
  pattern: RegExp;
  /** What to write, and why. */
  instead: string;
}

/** Patterns hold enough neighbours that an identifier or an ordinary sentence does not match. */
const IDIOMS: Idiom[] = [
  { pattern: /(?<!const|let) anew\b(?! =|\?|\.\w|\))/, instead: "rebuilt, recreated, retried: say what is repeated" },
  {
    pattern: /\b(?:is|are|was|were|be|been|it|nothing) told\b(?! apart)|\btold (?:once|of|in|from|by)\b/,
    instead: "reported, emitted, returned: say how the reader learns of it",
  },
  {
    pattern: /\btells (?:what|whether|whose|how|which|where|nothing|no|of|it|a|the|that)\b/,
    instead: "reports, returns, shows: only people tell",
  },
  {
    pattern:
      /\bst(?:ands?|ood) (?:in(?! for)|at|on|there|here|behind|before|under|over|below|beside|otherwise|elsewhere|twice)\b/,
    instead: "is in, is listed in, is stored in: files and rows do not stand",
  },
  {
    pattern: /\b(?:what|that|which) is no(?:ne\b|(?! (?:longer|more|one|better|worse|different)\b) [a-z])/,
    instead: "invalid, missing, or 'not a …': name what is wrong",
  },
  { pattern: /\bputs? (?:it |them )?aside\b/, instead: "moved to …: name the folder or the file" },
  { pattern: /\btak(?:en?|es|ing) away\b/, instead: "removed, deleted, subtracted" },
  {
    pattern: /\b(?:is|are|was|were|lets?|it|them) (?:let )?go of\b|\b(?:is|are|be) let go\b/,
    instead: "released; allowed",
  },
  { pattern: /(?<!Session )\bhand(?:s|ed)? over\b/, instead: "passes, returns" },
  {
    pattern: /\blook(?:s|ed) at\b|\b(?:next|each|every|first|last|one) look\b/,
    instead: "reads, checks; a check, a pass",
  },
  { pattern: /\bmend(?:s|ed|ing)\b|\bmend (?:it|the|a|an|what|them)\b/, instead: "repairs, fixes" },
  { pattern: /\b(?:says?|said|saying) so\b(?! far)/, instead: "reports it, is documented: say where" },
  { pattern: /\bof ours\b/, instead: "built-in, sessarc's: name whose" },
  { pattern: /\bwhat came since\b|\bcame since\b/, instead: "new since" },
  { pattern: /\bcounts (?:at|elsewhere)\b/, instead: "is attributed to" },
  { pattern: /\bin step with\b|\b(?:kept|keeps?|is|stays?) in step\b/, instead: "in sync" },
  { pattern: /\bone after the other\b/, instead: "sequentially, one at a time" },
  { pattern: /\bportions?\b(?!\+|\)| =)/, instead: "a batch, a chunk: one word for one thing" },
  {
    pattern: /\bby (?:itself|themselves)\b/,
    instead: "automatically, independently, alone: the phrase means all three",
  },
  {
    pattern: /(?<![\w"'/.-])(?:[Ss]omebody|[Nn]obody|[Ww]hoever)\b(?![/@"]|', |\/)/,
    instead: "the caller, the user, another process: name who",
  },
  { pattern: /\bmore rarely\b|\bsooner\b(?! or later)/, instead: "less often; earlier" },
];

const tracked = existsSync(join(root, ".git"))
  ? execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0").filter(Boolean)
  : [];
const prose = tracked.filter(
  (path) =>
    /\.(?:ts|mts|mjs|vue|md)$/.test(path) &&
    // Recorded data, generated pages, and this list.
    !/^test\/fixtures\/|^docs\/reference\/|^test\/words\.test\.ts$/.test(path),
);

/** `file:line: "phrase" -> instead` of each idiom in a file. */
function idiomsIn(path: string): string[] {
  const lines = readFileSync(join(root, path), "utf8").split("\n");
  return toPhrases(lines).map(({ line, phrase, instead }) => `${path}:${line}: "${phrase}" -> ${instead}`);
}

/** A sentence may go on in the next line, after that line's comment mark. */
function toPhrases(lines: readonly string[]): { line: number; phrase: string; instead: string }[] {
  return lines.flatMap((line, at) => {
    const own = line.trimEnd();
    const next = (lines[at + 1] ?? "").replace(/^\s*(?:\*(?!\/)|\/\/|#+)?\s*/, "");
    return IDIOMS.flatMap(({ pattern, instead }) =>
      [...`${own} ${next}`.matchAll(new RegExp(pattern, `${pattern.flags}g`))]
        .filter((match) => match.index <= own.length)
        .map((match) => ({ line: at + 1, phrase: match[0], instead })),
    );
  });
}

describe("plain words", () => {
  it("no file has a phrase of the list", () => {
    const found = prose.flatMap(idiomsIn);
    expect(found).toEqual([]);
  });

  it("finds each phrase, in one line and across two lines of a comment", () => {
    const examples = ["what is none", "it is told", "made anew", "by itself", "looked at", "stands in"];
    const missed = examples.filter((phrase) => toPhrases([` * a ${phrase} b`]).length === 0);
    expect(missed).toEqual([]);
    expect(toPhrases(["// The row stands", "// in the file."])).toEqual([
      { line: 1, phrase: "stands in", instead: expect.any(String) },
    ]);
    expect(toPhrases(["const anew = stands.filter(nothing)"])).toEqual([]);
  });
});

/** Sections of a folder's README, in this order. */
const SECTIONS = ["Use it", "How it works", "Files", "Decisions"];
/** The product's page, the list of public names, and the package that a starter gets. */
const OTHER_SHAPE = ["README.md", "plugins/README.md", "playground/create-sessarc-plugin/README.md"];

describe.skipIf(tracked.length === 0)("READMEs", () => {
  const readmes = tracked.filter((path) => /(?:^|\/)README\.md$/.test(path) && !path.startsWith("test/fixtures/"));
  const toText = (path: string) => readFileSync(join(root, path), "utf8");

  it.each(readmes)("%s has at most 120 lines", (path) => {
    expect(toText(path).trimEnd().split("\n").length).toBeLessThanOrEqual(120);
  });

  it.each(readmes)("%s begins with a title and what it is", (path) => {
    expect(toText(path)).toMatch(/^# [^\n]+\n\n[^#|\n][^\n]+/);
  });

  it.each(readmes.filter((path) => !OTHER_SHAPE.includes(path) && toText(path).split("\n").length > 60))(
    "%s says how to use it, how it works, which files, which decisions",
    (path) => {
      const headings = [...toText(path).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
      expect(headings.filter((heading) => heading !== undefined && SECTIONS.includes(heading))).toEqual(SECTIONS);
    },
  );
});
