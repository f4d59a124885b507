import { appendFile, mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LineParser, readLines } from "sessarc/adapter";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readLog } from "../../core/adapter/read-log.ts";
import { tailLog } from "../../core/adapter/tail-log.ts";
import { drain, drainTail } from "../adapter/bench.ts";

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "sessarc-lines-"));
  path = join(dir, "log.jsonl");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** Rows `{ t }` become events; keeps where each row stood. */
function createParser(places: { offset: number; length: number }[] = []): LineParser {
  let count = 0;
  return {
    row(row, line) {
      places.push({ ...line });
      const text = typeof row === "object" && row !== null && "t" in row ? String(row.t) : "";
      count++;
      return { kind: "user", text };
    },
    finish: () => ({ usage: {}, title: String(count) }),
  };
}
const lines = async (opts?: Parameters<typeof readLines>[1]) => {
  const all: string[] = [];
  for await (const line of readLines(path, opts)) all.push(line);
  return all;
};
const read = async (parser = createParser()) => drain(readLog({ path }, parser));

describe("readLines", () => {
  it("splits at newlines only, and leaves out a BOM, CRs and blank lines", async () => {
    await writeFile(path, "\uFEFFone\r\n\r\n  \ntwo\u2028still two\u0085\nthree");
    expect(await lines()).toEqual(["one", "two\u2028still two\u0085", "three"]);
  });

  it("keeps characters that lie across two reads", async () => {
    const long = "é".repeat(700_000);
    await writeFile(path, `x${long}\n${long}🚀\nend`);
    expect(await lines()).toEqual([`x${long}`, `${long}🚀`, "end"]);
  });

  it("reads a range of bytes", async () => {
    await writeFile(path, "one\ntwo\nthree\n");
    expect(await lines({ start: 4 })).toEqual(["two", "three"]);
    expect(await lines({ start: 4, end: 7 })).toEqual(["two"]);
  });

  it("passes over lines that a parser skips by how they begin, unparsed and uncounted, in a tail too", async () => {
    const skip = ['{"type":"copy'];
    await writeFile(path, '{"type":"copy of all","x":\n{"t":"a"}\n{"type":"copy"}\n{"type":"cop"}\n');
    const places: { offset: number; length: number }[] = [];
    const { events, summary } = await read({ ...createParser(places), skip });
    expect(events.map((event) => event.text)).toEqual(["a", ""]);
    expect(places[0]?.offset).toBe(27);
    expect(summary.skipped).toEqual({ lines: 0, unknown: {} });
    const first = await drainTail(tailLog({ path }, undefined, () => ({ ...createParser(), skip })));
    await appendFile(path, '{"type":"copy"}\n{"t":"b"}\n');
    const next = await drainTail(tailLog({ path }, first?.cursor, () => ({ ...createParser(), skip })));
    expect(next?.events.map((event) => event.text)).toEqual(["b"]);
  });

  it("leaves out lines over the limit and goes on behind them", async () => {
    await writeFile(path, `a\n${"b".repeat(3_000_000)}\nc\n${"d".repeat(101)}\ne\n${"f".repeat(3_000_000)}`);
    expect(await lines({ maxLine: 100 })).toEqual(["a", "c", "e"]);
  });

  it("closes the file when the reader stops early", async () => {
    await writeFile(path, "one\ntwo\n");
    for await (const line of readLines(path)) {
      expect(line).toBe("one");
      break;
    }
    for await (const line of readLines(path)) expect(line).toMatch(/one|two/);
  });

  it("rejects with the file system's error for a missing file", async () => {
    await expect(lines()).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("readLog", () => {
  it("numbers events, counts bad lines, and reports where rows stand", async () => {
    await writeFile(path, '\uFEFF{"t":"a"}\nnot json\n42\n\n{"t":"é"}\r\n{"t":"c"}');
    const places: { offset: number; length: number }[] = [];
    const { events, summary } = await read(createParser(places));
    expect(events.map(({ seq, text }) => `${seq}${text}`)).toEqual(["0a", "1é", "2c"]);
    expect(summary.skipped).toEqual({ lines: 2, unknown: {} });
    expect(places.map((place) => place.offset)).toEqual([0, 26, 38]);
  });

  it("calls a half-written last line pending, not bad", async () => {
    await writeFile(path, '{"t":"a"}\n{"t":"b');
    expect((await read()).summary.skipped).toEqual({ lines: 0, pending: 1, unknown: {} });
  });

  it("yields a long log in several batches", async () => {
    await writeFile(path, `${JSON.stringify({ t: "x".repeat(1000) })}\n`.repeat(3000));
    const sizes: number[] = [];
    const batches = readLog({ path }, createParser());
    for (let step = await batches.next(); !step.done; step = await batches.next()) sizes.push(step.value.length);
    expect(sizes.length).toBeGreaterThan(2);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(3000);
  });
});

describe("tailLog", () => {
  const tail = (cursor?: Parameters<typeof tailLog>[1]) => {
    return drainTail(tailLog({ path }, cursor, () => createParser()));
  };

  it("reads only new bytes and goes on with the numbers", async () => {
    await writeFile(path, `${JSON.stringify({ t: "x".repeat(100_000) })}\n`);
    const first = await tail();
    await appendFile(path, '{"t":"b"}\n{"t":"c"}\n');
    const next = await tail(first.cursor);
    expect(next.events.map(({ seq, text }) => `${seq}${text}`)).toEqual(["1b", "2c"]);
    expect(next.summary.title).toBe("3");
    expect(next.bytesRead).toBeLessThan(10_000);
    expect((await tail(next.cursor)).events).toEqual([]);
  });

  it("reads a log again that was cut before the batch of its last reading was taken", async () => {
    await writeFile(path, '{"t":"a"}\n{"t":"b"}\n');
    const reading = tailLog({ path }, undefined, () => createParser());
    await reading.next();
    await writeFile(path, '{"t":"c"}\n');
    const { value } = await reading.next();
    const cursor = value !== undefined && "cursor" in value ? value.cursor : undefined;
    const next = await tail(cursor);
    expect([next.restarted, ...next.events.map(({ text }) => text)]).toEqual([true, "c"]);
  });

  it("D14: takes a row once, whether its newline is there or not", async () => {
    await writeFile(path, '{"t":"a"}\n{"t":"b"}');
    const first = await tail();
    expect(first.events).toHaveLength(2);
    await appendFile(path, '\n{"t":"c"');
    const next = await tail(first.cursor);
    expect(next.events).toEqual([]);
    expect(next.summary.skipped?.pending).toBe(1);
    await appendFile(path, "}\n");
    expect((await tail(next.cursor)).events.map((event) => event.text)).toEqual(["c"]);
  });

  it("keeps the count of bad lines", async () => {
    await writeFile(path, "junk\n");
    const first = await tail();
    await appendFile(path, "junk\n");
    expect((await tail(first.cursor)).summary.skipped?.lines).toBe(2);
  });

  it("starts again for a log that was cut, or rewritten with the same head", async () => {
    const head = `${JSON.stringify({ t: "h".repeat(8000) })}\n`;
    await writeFile(path, `${head}{"t":"a"}\n`);
    const first = await tail();
    await truncate(path, 10);
    expect((await tail(first.cursor)).restarted).toBe(true);
    await writeFile(path, `${head}{"t":"z"}\n{"t":"y"}\n`);
    const again = await tail(first.cursor);
    expect(again.restarted).toBe(true);
    expect(again.events.map((event) => event.seq)).toEqual([0, 1, 2]);
  });
});
