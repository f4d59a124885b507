import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseDocument } from "sessarc/adapter";
import { describe, expect, it } from "vitest";
import { createFold } from "../../plugins/gemini-cli/fold.ts";
import { create, header, kinds, one, own, said, scan } from "./_gemini.ts";
import { home, useHome } from "./_home.ts";

useHome("gemini");

describe("gemini-cli: hostile input is counted, never thrown", () => {
  it("bad lines, wrong types, unknown records", async () => {
    const rows = [header("s"), said("u1", "a")].map((row) => JSON.stringify(row));
    const text = `\uFEFF${rows[0]}\r\n\r\n${rows[1]}\r\n{"broken\n42\n[1]\nnull\n{"what":1}\n{"id":7,"type":"user"}\n{"type":{"a":1},"id":"x"}\n{"$set":3}\n{"$set":{"messages":[3,{"id":"m","type":"martian"}]}}\n{"id":"g","type":"gemini","content":{"deep":[]},"thoughts":5,"toolCalls":[null,{"name":{}}],"tokens":{"input":"12","output":-3,"cached":"x"}}\n{"id":"h`;
    const { events, summary } = await one(text);
    expect(kinds(events)).toEqual(["tool_use"]);
    expect(summary.skipped).toEqual({ lines: 5, pending: 1, unknown: { what: 1, martian: 1 } });
    expect(summary.usage.unknown).toMatchObject({ input: 12, output: 0 });
  });

  it("prototype names and deep nesting", async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    const call = `{"id":"g","type":"gemini","content":"","model":"__proto__","tokens":{"output":1},"toolCalls":[{"name":"x","args":${deep},"result":[{"functionResponse":{"response":${deep}}}]}]}`;
    const { events, summary } = await one(`${JSON.stringify(header("s"))}\n{"__proto__":{"x":1}}\n${call}\n`);
    expect(kinds(events)).toEqual(["tool_use", "tool_result"]);
    expect(JSON.stringify(events)).toContain("nested too deep");
    expect(Object.keys(summary.usage)).toEqual(["unknown"]);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  it("a document cut anywhere gives its finished messages", async () => {
    const text = await readFile(
      join(own, ".gemini/tmp", "c".repeat(64), "chats/session-2026-01-02T03-04-01dc0de0.json"),
      "utf8",
    );
    const whole = parseDocument(text);
    expect(whole.whole).toBe(true);
    let before = 0;
    for (let end = 0; end < text.trimEnd().length; end += 7) {
      const fold = createFold();
      const { value, whole: complete } = parseDocument(text.slice(0, end));
      expect(complete).toBe(false);
      fold.row({ $set: value });
      const { size } = fold.result().messages;
      expect(size).toBeGreaterThanOrEqual(before);
      before = size;
    }
    expect(before).toBe(3);
    expect(parseDocument(`${text}{"half`)).toEqual({ value: whole.value, whole: false });
    expect(parseDocument("{]")).toEqual({ value: undefined, whole: false });
  });

  it("an empty file, a missing root", async () => {
    const { events, summary } = await one("");
    expect([events, summary.usage, summary.skipped]).toEqual([[], {}, { lines: 0, unknown: {} }]);
    expect(await scan(create(join(home, "nothing")))).toEqual([]);
  });
});
