import fc from "fast-check";
import type { Json, SessionEvent } from "sessarc";
import { describe, expect, it } from "vitest";
import { ChunkBuilder, decodeChunk } from "../../core/storage/chunk.ts";
import { compile, matchesIn, mayHoldAll, toMatch } from "../../plugins/archive/search/match.ts";
import { parseQuery } from "../../plugins/archive/search/query.ts";
import { searchedIn, toSearched } from "../../plugins/archive/search/searched.ts";
import { mayHold, toGrams, toSignature } from "../../plugins/archive/search/signature.ts";
import { rounds } from "../rounds.ts";
import { signed } from "./signed.ts";

const event = (seq: number, over: Partial<SessionEvent> = {}): SessionEvent => ({
  seq,
  kind: "user",
  text: "",
  ...over,
});

function toChunk(events: readonly SessionEvent[]): SessionEvent[] {
  const builder = new ChunkBuilder();
  for (const one of events) builder.add(one);
  return decodeChunk(builder.take().bytes);
}

/** The bytes of a chunk, as a search reads them. */
function toLatin1(events: readonly SessionEvent[]): string {
  const builder = new ChunkBuilder();
  for (const one of events) builder.add(one);
  return builder.take().bytes.toString("latin1");
}

function find(events: readonly SessionEvent[], q: string): number[] {
  const compiled = compile(parseQuery(q));
  const found = [...matchesIn(searchedIn(toLatin1(events), compiled.bytes), compiled)];
  return found.flatMap((match) => match?.event.seq ?? []);
}

const json: fc.Arbitrary<Json> = fc.jsonValue({ depthSize: "small" }) as fc.Arbitrary<Json>;
const anyEvent = fc.record({
  kind: fc.constantFrom<SessionEvent["kind"]>("user", "assistant", "thinking", "tool_use", "tool_result", "note"),
  text: fc.string({ unit: "grapheme", maxLength: 60 }),
  id: fc.option(fc.string(), { nil: undefined }),
  at: fc.option(
    fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((d) => d.toISOString()),
    { nil: undefined },
  ),
  model: fc.option(fc.constantFrom("m-1", "m-2", ""), { nil: undefined }),
  tool_name: fc.option(fc.constantFrom("Bash", "Read"), { nil: undefined }),
  tool_use_id: fc.option(fc.string(), { nil: undefined }),
  tool_input: fc.option(json, { nil: undefined }),
  is_error: fc.option(fc.boolean(), { nil: undefined }),
});

describe("chunks", () => {
  it("have null for a number that JSON cannot hold", () => {
    const input: Json = JSON.parse('{"to":1e999,"from":[-1e999,-0],"said":"hello"}');
    const chunk = toChunk([event(0, { tool_input: input }), event(1, { text: "the next message" })]);
    expect(chunk[0]?.tool_input).toEqual({ to: null, from: [null, 0], said: "hello" });
    expect(chunk[1]?.text).toBe("the next message");
  });

  it("give back what was put in, whatever it is", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { minLength: 1, maxLength: 12 }), (parts) => {
        const events = parts.map((part, seq) => ({ seq, ...part }));
        const chunk = toChunk(events);
        const plain = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll("-0", "0"));
        events.forEach((original, i) => {
          expect(plain(chunk[i])).toEqual(plain(original));
        });
      }),
      { numRuns: rounds(300) },
    );
  });

  it("are JSON that every reader takes: half a character is replaced, what only looks like one is not", () => {
    const builder = new ChunkBuilder();
    const input: Json = { "\ud83d": ["\udc00x", "\\ud83d"] };
    builder.add(event(0, { text: 'a\ud83d \\ud83d "\\\ud83d', kind: "tool_use", tool_input: input }));
    const { bytes } = builder.take();
    expect(bytes.toString()).toMatch(/^\[\{[^\n]*\}\]$/);
    expect(bytes.toString()).not.toMatch(/(?<!\\)(?:\\\\)*\\u[dD]/);
    expect(decodeChunk(bytes)[0]).toMatchObject({
      text: 'a\ufffd \\ud83d "\\\ufffd',
      tool_input: { "\ufffd": ["\ufffdx", "\\ud83d"] },
    });
  });

  it("keeps an own __proto__ key of a tool input as a plain key", () => {
    const input = JSON.parse('{"__proto__":{"x":"y"},"constructor":"z"}') as Json;
    const back = toChunk([event(0, { kind: "tool_use", tool_input: input })])[0]?.tool_input;
    expect(JSON.stringify(back)).toBe(JSON.stringify(input));
    expect(({} as { x?: string }).x).toBeUndefined();
  });
});

describe("signatures", () => {
  it("never rule out a chunk that holds the word, in any case and script", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 200 });
    fc.assert(
      fc.property(
        text,
        fc.nat(190),
        fc.integer({ min: 3, max: 12 }),
        fc.constantFrom("lower", "upper", "plain"),
        (body, at, length, fold) => {
          const cut = body.slice(at, at + length);
          const word = fold === "lower" ? cut.toLowerCase() : fold === "upper" ? cut.toUpperCase() : cut;
          fc.pre(word.length >= 3 && new RegExp(word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "iu").test(body));
          const signature = signed(body);
          expect(mayHold(signature, 0, signature.length, toGrams([word]))).toBe(true);
        },
      ),
      { numRuns: rounds(1000) },
    );
  });

  it.each([
    ["ΟΔΥΣΣΕΥΣ", "οδυσσευς"],
    ["straẞe", "STRAßE"],
    ["İstanbul", "STANBUL"],
    ["файл", "ФАЙЛ"],
    ["ＡＢＣ", "ａｂｃ"],
    ["\u{10400}\u{10401}xy", "\u{10428}\u{10429}XY"],
  ])("D11: finds %s by %s", (text, word) => {
    const signature = signed(text);
    expect(mayHold(signature, 0, signature.length, toGrams([word]))).toBe(true);
    expect(find([event(0, { text })], word)).toEqual([0]);
  });

  it("rules out most chunks for a word they do not hold", () => {
    const text = Array.from({ length: 6_000 }, (_, i) => `word${i % 700} `).join("");
    const signature = signed(text);
    expect(mayHold(signature, 0, signature.length, toGrams(["quixotrillium"]))).toBe(false);
  });

  it("tell short words and other scripts apart: of 60 full chunks few pass that do not hold them", () => {
    let seed = 7;
    const next = (n: number) => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((seed / 2 ** 32) * n);
    };
    const pick = (from: string, length: number) => Array.from({ length }, () => from[next(from.length)]).join("");
    const syllables = "ba be bi co da de fi go he jo ka li mo ne po qua re sa ti vo xe za tra con".split(" ");
    const ideographs =
      "修复错误测试文件函数返回值需要检查配置更新缓存索引搜索会话消息存储导入導出分析成本模型設定を確認";
    const word = () => {
      const kind = next(60);
      if (kind === 0) return pick(ideographs, 12);
      if (kind < 4) return pick("0123456789abcdef", 8);
      return Array.from({ length: 2 + next(3) }, () => syllables[next(syllables.length)]).join("");
    };
    const chunks = Array.from({ length: 60 }, (_, i) => {
      const words: string[] = [];
      for (let size = 0; size < 65_536; size += words.at(-1)?.length ?? 0) words.push(word());
      return [...words, ...(i === 30 ? ["検索針", "qzj"] : [])].join(" ");
    });
    const signatures = chunks.map((text) => signed(text));
    const passing = (needle: string) =>
      signatures.filter((signature) => mayHold(signature, 0, signature.length, toGrams([needle]))).length;
    expect(passing("qzj")).toBe(1);
    expect(passing("検索針")).toBeLessThanOrEqual(3);
    expect(passing("quixotrillium")).toBe(0);
    expect(Math.max(...signatures.map((signature) => signature.length))).toBeLessThan(16_384);
  });
});

describe("a chunk that is searched", () => {
  const events = [
    event(0, { text: "the needle\nü" }),
    event(1, { text: "hay" }),
    event(2, { kind: "tool_use", tool_input: { command: "sort hay, [needle]" } }),
    event(3, { text: "hay, then a Needle and a needle" }),
  ];
  const parsed = (q: string) => searchedIn(toLatin1(events), compile(parseQuery(q)).bytes).map(({ event }) => event);

  it.each([
    ["needle", [0, 2, 3]],
    ["then", [3]],
    ["needle hay", [2, 3]],
    ["ü needle", [0, 2, 3]],
    ["neither", []],
    ["ü", [0, 1, 2, 3]],
    ["kind:user", [0, 1, 2, 3]],
  ])("has only those messages parsed that may hold the word: %s", (q, seqs) => {
    const all = toChunk(events);
    expect(parsed(q)).toEqual(seqs.map((seq) => all[seq]));
  });
});

describe("what rules a chunk out for a filter", () => {
  const input = { file_path: "/Web/ALİ/app.ts" };
  const events = [event(0, { kind: "tool_use", tool_name: "Read", tool_input: input, model: 'İ-"quoted" Model' })];
  /** By its signature, then by its bytes, as a search does. */
  const isRuledOut = (q: string) => {
    const builder = new ChunkBuilder();
    for (const one of events) builder.add(one);
    const { bytes, units, bounds } = builder.take();
    const compiled = compile(parseQuery(q));
    const signature = toSignature(bytes, units, bounds);
    return (
      !mayHoldAll(signature, 0, signature.length, compiled) ||
      searchedIn(bytes.toString("latin1"), compiled.bytes).length === 0
    );
  };

  it.each(["path:/web/al", "path:ali", "path:ALİ", "path:zzzz path:app.ts", "model:i", "model:model", 'model:d"'])(
    "never one that passes it: %s",
    (q) => {
      expect([find(events, q), isRuledOut(q)]).toEqual([[0], false]);
    },
  );

  it.each(["path:zzzz", "path:zzzz path:yyyy", "model:zzzz"])("one that lacks its letters: %s", (q) => {
    expect([find(events, q), isRuledOut(q)]).toEqual([[], true]);
  });
});

describe("matching", () => {
  it("equals a plain scan for any words", () => {
    const alphabet = fc.string({
      unit: fc.constantFrom("a", "b", "A", " ", "%", "_", "é", "É", "ж", "Ж", "."),
      maxLength: 24,
    });
    fc.assert(
      fc.property(
        fc.array(alphabet, { minLength: 1, maxLength: 8 }),
        fc.array(fc.string({ unit: fc.constantFrom("a", "B", "%", "_", "é", "Ж", "."), minLength: 1, maxLength: 3 }), {
          minLength: 1,
          maxLength: 2,
        }),
        (texts, words) => {
          const events = texts.map((text, seq) => event(seq, { text }));
          const plain = events
            .filter((one) => words.every((word) => one.text.toLowerCase().includes(word.toLowerCase())))
            .map((one) => one.seq);
          expect(find(events, words.map((word) => `"${word}"`).join(" "))).toEqual(plain);
        },
      ),
      { numRuns: rounds(500) },
    );
  });

  it("D11: % and _ are plain characters", () => {
    const events = [
      event(0, { text: "100% sure" }),
      event(1, { text: "1000 sure" }),
      event(2, { text: "snake_case" }),
      event(3, { text: "snakeXcase" }),
    ];
    expect(find(events, "100%")).toEqual([0]);
    expect(find(events, "snake_case")).toEqual([2]);
  });

  it("D11: finds text that JSON escapes, in tool inputs too", () => {
    const events = [event(0, { kind: "tool_use", tool_input: { command: 'echo "hi" \\ there\nnext' } })];
    expect(find(events, '"echo"')).toEqual([0]);
    expect(find(events, "\\")).toEqual([0]);
    expect(find(events, "hi")).toEqual([0]);
    expect(find(events, "command")).toEqual([0]);
  });

  it("never joins the end of one message and the start of the next", () => {
    const events = [
      event(0, { text: "foo" }),
      event(1, { text: "bar", kind: "tool_use", tool_input: "baz" }),
      event(2, { text: "qux" }),
    ];
    expect(find(events, "foobar")).toEqual([]);
    expect(find(events, "barbaz")).toEqual([]);
    expect(find(events, "oba")).toEqual([]);
    expect(find(events, "ba")).toEqual([1]);
    const halves = [event(0, { text: "a 😀" }), event(1, { text: "ab" }), event(2, { text: "😀ab" })];
    expect(find(halves, "😀a")).toEqual([2]);
  });

  it("asks for all words in one message, and for none that are negated", () => {
    const events = [event(0, { text: "red green" }), event(1, { text: "red" }), event(2, { text: "green blue red" })];
    expect(find(events, "red green")).toEqual([0, 2]);
    expect(find(events, "red green -blue")).toEqual([0]);
    expect(find(events, '"green blue"')).toEqual([2]);
  });

  it.each(["", "-"])("lets others in between hundreds of words of one message (%s)", (sign) => {
    const words = Array.from({ length: 600 }, (_, n) => `w${n}x`);
    const text = sign === "" ? words.join(" ") : "none of them";
    const chunk = toSearched(toChunk([{ seq: 0, kind: "user", text }]));
    const found = [...matchesIn(chunk, compile(parseQuery(words.map((word) => sign + word).join(" "))))];
    expect(found.filter((match) => match !== null)).toEqual(chunk);
    expect(found.length).toBeGreaterThan(60);
  });

  it("filters by kind, model, path, time and failure", () => {
    const events = [
      event(0, { text: "x", at: "2026-01-01T00:00:00.000Z" }),
      event(1, {
        kind: "tool_use",
        tool_name: "Edit",
        tool_input: { file_path: "/src/App.ts" },
        text: "",
        model: "claude-opus",
      }),
      event(2, { kind: "tool_result", text: "x boom", is_error: true, at: "2026-02-01T00:00:00.000Z" }),
    ];
    expect(find(events, "is:error")).toEqual([2]);
    expect(find(events, "kind:tool_use")).toEqual([1]);
    expect(find(events, "-kind:user x")).toEqual([2]);
    expect(find(events, "model:opus")).toEqual([1]);
    expect(find(events, "path:app.ts")).toEqual([1]);
    expect(find(events, "x after:2026-01-15T00:00:00Z")).toEqual([2]);
    expect(find(events, "x before:2026-01-15T00:00:00Z")).toEqual([0]);
  });

  it("marks what it found, and never half a character", () => {
    const text = `${"😀".repeat(80)} needle ${"😀".repeat(120)}`;
    const match = toMatch({ event: event(0, { text }), input: "" }, compile(parseQuery("NEEDLE")));
    const [range] = match.ranges;
    expect(match.snippet.slice(range?.[0], range?.[1])).toBe("needle");
    expect(match.snippet.isWellFormed()).toBe(true);
  });
});

describe("the query language", () => {
  it("reads words, phrases and filters", () => {
    const query = parseQuery('fix "two words" tool:codex -project:old kind:user http://x.y -"not this" is:error');
    expect(query.terms).toEqual([
      { text: "fix", negated: false },
      { text: "two words", negated: false },
      { text: "http://x.y", negated: false },
      { text: "not this", negated: true },
    ]);
    expect(query).toMatchObject({ tool: [["codex"]], notProject: ["old"], kind: [["user"]], error: true });
  });

  it.each(["kind:robot", "after:soon", "is:odd"])("says what is wrong with %s", (q) => {
    expect(() => parseQuery(q)).toThrowError(expect.objectContaining({ code: "INVALID_INPUT" }));
  });
});
