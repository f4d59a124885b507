/** Checks of live reading: whatever the moments at which it looks, a tail adds up to what a full read gives. */
import { appendFile, readFile, truncate, writeFile } from "node:fs/promises";
import type { SessionEvent, SessionRef } from "sessarc";
import type { Cursor } from "sessarc/adapter";
import { expect, type TestContext } from "vitest";
import { type Bench, drainTail, essence, plain, type Tail } from "./bench.ts";

/** Longer logs are cut at this many places. */
const CUTS = 120;

async function eachTail(
  bench: Bench,
  context: TestContext,
  work: (ref: SessionRef, tail: (cursor?: Cursor) => Promise<Tail>) => Promise<void>,
): Promise<void> {
  const { adapter, env } = bench;
  const logs = await bench.lineLogs();
  if (logs.length === 0) return context.skip("no line logs");
  for (const ref of logs) {
    await work(ref, (cursor) => drainTail(adapter.tail(ref, cursor, env)));
  }
}

/** Collects what a follower of the log would have. */
function createFollower(tail: (cursor?: Cursor) => Promise<Tail>) {
  let events: SessionEvent[] = [];
  let last: Tail | undefined;
  return {
    async look(): Promise<Tail> {
      last = await tail(last?.cursor);
      if (last.restarted) events = [];
      events.push(...last.events);
      return last;
    },
    get reading() {
      if (!last) throw new Error("nothing was read yet");
      return { events, summary: last.summary };
    },
  };
}

export async function tailEqualsRead(bench: Bench): Promise<void> {
  const { adapter, env } = bench;
  for (const ref of await bench.scan()) {
    const first = await drainTail(adapter.tail(ref, undefined, env));
    expect(essence(first)).toEqual(essence(await bench.read(ref)));
    const second = await drainTail(adapter.tail(ref, first.cursor, env));
    expect(second.events).toEqual([]);
    expect(second.restarted).toBe(false);
    expect(plain(second.summary.usage)).toEqual(plain(first.summary.usage));
  }
}

export async function tailAtEveryLine(bench: Bench, context: TestContext): Promise<void> {
  await eachTail(bench, context, async (ref, tail) => {
    const whole = essence(await bench.read(ref));
    const lines = (await readFile(ref.path)).toString("latin1").split(/(?<=\n)/);
    const step = Math.max(1, Math.floor(lines.length / CUTS));
    await truncate(ref.path, 0);
    const follower = createFollower(tail);
    for (let at = 0; at < lines.length; at += step) {
      await follower.look();
      await appendFile(ref.path, Buffer.from(lines.slice(at, at + step).join(""), "latin1"));
    }
    await follower.look();
    expect(essence(follower.reading)).toEqual(whole);
  });
}

export async function tailInsideLines(bench: Bench, context: TestContext): Promise<void> {
  await eachTail(bench, context, async (ref, tail) => {
    const whole = essence(await bench.read(ref));
    const bytes = await readFile(ref.path);
    const step = Math.max(1, Math.ceil(bytes.length / CUTS));
    await truncate(ref.path, 0);
    const follower = createFollower(tail);
    for (let at = 0; at < bytes.length; at += step) {
      await appendFile(ref.path, bytes.subarray(at, at + step));
      await follower.look();
    }
    expect(essence(follower.reading)).toEqual(whole);
  });
}

export async function tailSeesReplacement(bench: Bench, context: TestContext): Promise<void> {
  await eachTail(bench, context, async (ref, tail) => {
    const bytes = await readFile(ref.path);
    const first = await tail();
    if (first.cursor.offset === 0) return;
    await truncate(ref.path, 0);
    const cut = await tail(first.cursor);
    expect(cut.restarted).toBe(true);
    expect(cut.events).toEqual([]);
    await writeFile(ref.path, Buffer.concat([Buffer.from('{"replaced":true}\n'), bytes]));
    const replaced = await tail(first.cursor);
    expect(replaced.restarted).toBe(true);
    expect(replaced.events.map((event) => event.seq)).toEqual(replaced.events.map((_, index) => index));
  });
}

export async function tailReadsOnlyWhatIsNew(bench: Bench, context: TestContext): Promise<void> {
  await eachTail(bench, context, async (ref, tail) => {
    if (!bench.adapter.appends(ref)) return;
    await appendFile(ref.path, "\n");
    const { cursor } = await tail();
    await appendFile(ref.path, '{"type":"from-the-future"}\n');
    const next = await tail(cursor);
    expect(next.restarted).toBe(false);
    expect(next.bytesRead).toBeLessThanOrEqual(3 * 4096);
  });
}
