/** Checks of what logs look like in life: cut, mixed, huge, from a newer version. Nothing of it may throw. */
import { appendFile, open, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, type TestContext } from "vitest";
import { type Bench, essence } from "./bench.ts";

const MB = 1024 * 1024;

type Essence = ReturnType<typeof essence>;
type Work = (path: string, before: Essence, after: () => Promise<Essence>) => Promise<void>;

/** `after` reads the log again: the very one, whatever a new scan would make of it. */
async function eachLog(bench: Bench, context: TestContext, work: Work): Promise<void> {
  const logs = await bench.lineLogs();
  if (logs.length === 0) return context.skip("no line logs");
  for (const ref of logs) {
    const read = async () => essence(await bench.read(ref));
    await work(ref.path, await read(), read);
  }
}

export async function halfLastLine(bench: Bench, context: TestContext): Promise<void> {
  await eachLog(bench, context, async (path, before, after) => {
    await endWithNewline(path);
    await appendFile(path, '{"type":"user","message":{"role":"user","content":"half a li');
    expect(await after()).toEqual(before);
  });
}

export async function junkLines(bench: Bench, context: TestContext): Promise<void> {
  await eachLog(bench, context, async (path, before, after) => {
    const lines = (await readFile(path, "utf8")).split("\n");
    lines.splice(Math.min(2, lines.length - 1), 0, "not json at all", "null", "42", '"text"', "[1,2]", '{"a":');
    await writeFile(path, lines.join("\n"));
    expect(await after()).toEqual(before);
  });
}

/** Rows of an unknown type may become notes; nothing else changes. */
export async function unknownRows(bench: Bench, context: TestContext): Promise<void> {
  const rows = [
    { type: "from-the-future", payload: { type: "warp" }, data: {} },
    { type: { nested: true }, message: 7, payload: [] },
    { type: "user", message: null },
    { type: "assistant", message: { content: { text: 1 }, usage: "many" } },
    { type: "event_msg", payload: { type: "token_count", info: { total_token_usage: "?" } } },
    { kind: 99, v: null },
  ];
  await eachLog(bench, context, async (path, before, after) => {
    await endWithNewline(path);
    for (const row of rows) await appendFile(path, `${JSON.stringify(row)}\n`);
    const { events, usage } = await after();
    expect(events.filter((event) => event.kind !== "note" || before.events[event.seq])).toEqual(before.events);
    expect(usage).toEqual(before.usage);
  });
}

export async function byteOrderMarks(bench: Bench, context: TestContext): Promise<void> {
  await eachLog(bench, context, async (path, before, after) => {
    const text = await readFile(path, "utf8");
    await writeFile(path, `\uFEFF${text.replace(/^\uFEFF/, "").replace(/\r?\n/g, "\r\n\r\n")}`);
    expect(await after()).toEqual(before);
  });
}

export async function emptyFiles(bench: Bench, context: TestContext): Promise<void> {
  await eachLog(bench, context, async (path, _before, after) => {
    await truncate(path, 0);
    expect((await after()).events).toEqual([]);
  });
}

export async function cutAnywhere(bench: Bench, context: TestContext): Promise<void> {
  await eachLog(bench, context, async (path, _before, after) => {
    const bytes = await readFile(path);
    for (let part = 19; part >= 1; part--) {
      await writeFile(path, bytes.subarray(0, Math.floor((bytes.length * part) / 20)));
      await after();
    }
  });
}

export async function hugeLine(bench: Bench, context: TestContext): Promise<void> {
  await eachLog(bench, context, async (path, before, after) => {
    await endWithNewline(path);
    await appendFile(path, `{"type":"progress","kind":99,"filler":"${"x".repeat(12 * MB)}"}\n`);
    expect(await after()).toEqual(before);
  });
}

/** Reads a log of `size` MB, made of a fixture's own lines, without ever holding much of it. */
export async function memoryStaysFlat(bench: Bench, context: TestContext, size: number): Promise<void> {
  const { adapter, env } = bench;
  const [log] = (await bench.lineLogs()).sort((a, b) => (b.size ?? 0) - (a.size ?? 0));
  if (!log || !adapter.appends(log)) return context.skip("no line logs that only grow");
  const text = `${(await readFile(log.path, "utf8")).trimEnd()}\n`;
  const block = Buffer.from(text.repeat(Math.ceil(MB / text.length)));
  await writeFile(log.path, block);
  let eventsPerBlock = 0;
  for await (const batch of adapter.read(log, env)) eventsPerBlock += batch.length;
  const file = await open(log.path, "w");
  for (let written = 0; written < size * MB; written += block.length) await file.write(block);
  await file.close();
  // What is kept after a collection, in steps: it is the same however much else this process has done, and however busy it is.
  const step = (size * MB) / STEPS;
  const start = keptBytes();
  const kept: number[] = [];
  let count = 0;
  let seen = 0;
  for await (const batch of adapter.read(log, env)) {
    count += batch.length;
    seen += (batch.length * block.length) / eventsPerBlock;
    if (seen >= step * (kept.length + 1)) kept.push((keptBytes() - start) / MB);
  }
  expect(eventsPerBlock).toBeGreaterThan(0);
  expect(count).toBeGreaterThan(0);
  expect((await stat(log.path)).size).toBeGreaterThanOrEqual(size * MB);
  // An adapter may keep something of each event, as that it was counted; neither the text nor the log.
  const [first, second] = [kept.slice(0, STEPS / 2), kept.slice(STEPS / 2)].map((half) => Math.max(0, ...half));
  expect(kept.length).toBeGreaterThanOrEqual(STEPS - 1);
  expect(first).toBeLessThan(size * 0.5);
  expect((second ?? 0) - (first ?? 0)).toBeLessThan(size * 0.25);
}

const STEPS = 6;

function keptBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function endWithNewline(path: string): Promise<void> {
  const text = await readFile(path, "utf8");
  const end = text.lastIndexOf("\n") + 1;
  if (end === text.length) return;
  try {
    JSON.parse(text.slice(end));
    await appendFile(path, "\n");
  } catch {
    await truncate(path, Buffer.byteLength(text.slice(0, end))); // it was cut already
  }
}
