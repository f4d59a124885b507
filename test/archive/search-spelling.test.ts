/** One text in several spellings, and flags in a question. */
import fc from "fast-check";
import type { SessionEvent } from "sessarc";
import { describe, expect, it } from "vitest";
import { ChunkBuilder } from "../../core/storage/chunk.ts";
import { compile, matchesIn, mayHoldAll, toMatch } from "../../plugins/archive/search/match.ts";
import { parseQuery } from "../../plugins/archive/search/query.ts";
import { searchedIn } from "../../plugins/archive/search/searched.ts";
import { makeTempDir } from "../_setup.ts";
import { writeFiles } from "../cli/_every.ts";
import { runCommand } from "../command.ts";
import { rounds } from "../rounds.ts";
import { signed } from "./signed.ts";

const event = (text: string, over: Partial<SessionEvent> = {}): SessionEvent => ({
  seq: 0,
  kind: "user",
  text,
  ...over,
});

function decoded(texts: readonly SessionEvent[]) {
  const builder = new ChunkBuilder();
  for (const [seq, one] of texts.entries()) builder.add({ ...one, seq });
  return builder.take();
}

/** Whether the question finds the text: with its signature, which must not rule it out. */
function finds(text: string, q: string, over: Partial<SessionEvent> = {}): boolean {
  const { bytes } = decoded([event(text, over)]);
  const query = compile(parseQuery(q));
  const found = [...matchesIn(searchedIn(bytes.toString("latin1"), query.bytes), query)].some(
    (match) => match !== null,
  );
  const signature = signed(over.tool_input ?? text);
  const mayHold = mayHoldAll(signature, 0, signature.length, query);
  if (found) expect(mayHold, `${q} in ${text}`).toBe(true);
  return found;
}

const FORMS = ["NFC", "NFD"] as const;

describe("spellings of a text", () => {
  it.each([
    ["accents", "das Café schließt", "Café"],
    ["a umlaut inside", "die Überprüfung läuft", "überprüfung"],
    ["two marks on one letter", "người Việt Nam ấy", "Việt"],
    ["Hangul", "파일 한글 이름.txt", "한글"],
    ["kana with a voiced mark", "データベースがあります", "データベース"],
    ["Cyrillic", "новый файл Ёлка", "новый"],
    ["Greek", "το αρχείο άλλαξε", "άλλαξε"],
    ["one letter", "Å", "å"],
  ])("finds %s, composed or not", (_, text, word) => {
    for (const form of FORMS)
      for (const asked of FORMS)
        expect(finds(text.normalize(form), word.normalize(asked)), `${form} ${asked}`).toBe(true);
  });

  it("finds a word of both spellings, and of a spelling in between", () => {
    expect(finds("Überprüfung", "U\u0308berprüfung")).toBe(true);
    expect(finds("U\u0308berprüfung", "Überpru\u0308fung")).toBe(true);
    expect(finds("Vi\u1ec7t \u00ea\u0323", "\u1ec7")).toBe(true);
  });

  it("tells letters apart: e is not in é, however that is written", () => {
    for (const form of FORMS) {
      expect(finds("caf\u00e9".normalize(form), "cafe")).toBe(false);
      expect(finds("한글".normalize(form), "하")).toBe(false);
      expect(finds("が".normalize(form), "か")).toBe(false);
      expect(finds("caf\u00e9".normalize(form), "caf")).toBe(true);
    }
  });

  it("still finds a consonant with a vowel sign, an ideograph of its own code, signs", () => {
    expect(finds("हिन्दी", "हिन्द")).toBe(true);
    expect(finds("\uf900", "\uf900")).toBe(true);
    expect(finds("a.b*c [x]", "b*c [x]".split(" ")[0] ?? "")).toBe(true);
  });

  it("compares paths so, too", () => {
    const over = { kind: "tool_use" as const, tool_name: "Read", tool_input: { file_path: "/w/U\u0308bersicht.md" } };
    expect(finds("", "path:Übersicht", over)).toBe(true);
    expect(finds("", "path:u\u0308bersicht", over)).toBe(true);
  });

  it("marks what it found", () => {
    const said = { event: event("say cafe\u0301 now"), input: "" };
    const { snippet, ranges } = toMatch(said, compile(parseQuery("café")));
    expect(ranges.map(([start, end]) => snippet.slice(start, end))).toEqual(["cafe\u0301"]);
  });

  it("is one for every text: any part of it, in any spelling", () => {
    const letters = fc.stringMatching(/^[a-zéàüñçøİıåĖậệ가각한글がぱйё_0-9]{1,12}$/u);
    const mixed = (text: string, bits: number) =>
      [...text].map((char, i) => char.normalize((bits >> (i % 30)) & 1 ? "NFD" : "NFC")).join("");
    fc.assert(
      fc.property(letters, letters, letters, fc.nat(), fc.nat(), (before, word, after, one, two) => {
        expect(finds(mixed(`${before} ${word} ${after}`, one), mixed(word, two))).toBe(true);
        expect(finds(mixed(before + word, one), mixed(word, two))).toBe(true);
      }),
      { numRuns: rounds(400) },
    );
  });
});

describe("flags in a question", () => {
  it.each([
    ["git push --force", "git push --force-with-lease now", true],
    ["git push --force", "git push now", false],
    ["--no-verify", "never use --no-verify", true],
    ["--no-verify", "verify", false],
    ["git commit -m", "git commit -m fix", true],
    ["ls -1", "ls -1 x", true],
    ["push -force", "git push --force", false],
    ["push -force", "git push", true],
    ["push -kind:assistant", "git push", true],
    ["push -kind:user", "git push", false],
    ['push -"by force"', "push it by force", false],
    ['"-rf"', "rm -rf /", true],
    ["a - b", "a - b", true],
    ["--kind:user", "the flag --kind:user", true],
    ["---", "a --- b", true],
  ])("%s", (q, text, is) => {
    expect(finds(text, q)).toBe(is);
  });

  it("are words on the command line, also those of one hyphen and after `--`; --without leaves out", async () => {
    const home = await makeTempDir();
    const row = (i: number, content: string) =>
      JSON.stringify({
        cwd: "/w/app",
        sessionId: "5e550000-0000-4000-8000-000000000001",
        type: "user",
        uuid: `u${i}`,
        timestamp: `2026-11-20T09:00:0${i}.000Z`,
        message: { role: "user", content },
      });
    const texts = ["rm -rf node_modules", "never use --no-verify here", "tar -xzf a.tgz", "git push", "git stash -u"];
    await writeFiles(home, {
      ".claude/projects/-w-app/5e550000-0000-4000-8000-000000000001.jsonl": `${texts.map((text, i) => row(i, text)).join("\n")}\n`,
    });
    await runCommand(["import"], home);
    const found = async (...args: string[]) => {
      const { stdout } = await runCommand(["search", ...args], home);
      return [...stdout.matchAll(/^ *\S+#(\d+) /gm)].map(([, seq]) => texts[Number(seq)]);
    };
    expect(await found("rm -rf")).toEqual([texts[0]]);
    expect(await found("--", "-rf")).toEqual([texts[0]]);
    expect(await found("--", "--no-verify")).toEqual([texts[1]]);
    expect(await found("use --no-verify")).toEqual([texts[1]]);
    expect(await found("tar", "--", "-xzf")).toEqual([texts[2]]);
    expect(await found("git")).toEqual([texts[3], texts[4]]);
    expect(await found("git", "--without", "stash")).toEqual([texts[3]]);
    expect(await found("git -tool:codex")).toEqual([texts[3], texts[4]]);
    expect(await found("git -kind:user")).toEqual([]);
  });
});
