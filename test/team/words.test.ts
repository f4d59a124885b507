/** The server's words of a session: a text is in no session whose words do not match its patterns. */
import { describe, expect, it } from "vitest";
import { findPatterns, toWords } from "../../plugins/team/database/words.ts";

const TEXTS = [
  "The tide of src/app.ts came in; const MAX_TIDES = 12",
  "Привет, мир: ПРИЛИВ и отлив",
  "日本語の潮汐表を読む、中文的潮汐表",
  "Straße, Ärger und der İstanbul-Fall ſt",
  "مرحبا بالعالم 👩‍👩‍👧 emoji 🌊🌊",
  "lone \ud83c half, and a \u212aelvin",
];
const matches = (words: string, pattern: string) => words.includes(pattern.slice(1, -1).replace(/\\([\\%_])/g, "$1"));

describe("words of a text", () => {
  it.each(TEXTS)("find each part of %s, in whatever case", (text) => {
    const words = toWords(text).join(" ");
    for (let from = 0; from < text.length; from++)
      for (let to = from + 1; to <= text.length; to++) {
        const part = text.slice(from, to);
        for (const asked of [part, part.toLowerCase().length === part.length ? part.toLowerCase() : part])
          for (const pattern of findPatterns([asked]) ?? []) expect(matches(words, pattern), asked).toBe(true);
      }
  });

  it("rule out a session without one of them", () => {
    const words = toWords(TEXTS[0] ?? "").join(" ");
    expect(findPatterns(["zyzzogeton"])?.every((pattern) => matches(words, pattern))).toBe(false);
    expect(findPatterns(["潮汐"])?.every((pattern) => matches(words, pattern))).toBe(false);
  });

  it("cannot say anything of a question without three letters in a row", () => {
    expect(findPatterns(["ab", "!"])).toBeUndefined();
    expect(findPatterns([])).toBeUndefined();
  });
});
