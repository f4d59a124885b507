import { appendFile, readFile, utimes, writeFile } from "node:fs/promises";
import type { SessionRef } from "sessarc";
import type { Cursor } from "sessarc/adapter";
import { describe, expect, it } from "vitest";
import { ask, composer, say, T0, TRANSCRIPT, writeGlobal, writeTranscript } from "../fixtures/cursor/build.ts";
import { create, dot, globalDb, useCursor, user } from "./_cursor.ts";
import { drain, drainTail, env, scan, shape } from "./_home.ts";

useCursor();

describe("Cursor: change", () => {
  it("gives a conversation another version when its row or a bubble changed, and only then", async () => {
    const adapter = create();
    const versions = async (first: object[], extra: object = {}) => {
      await writeGlobal(user, [...composer("a", first, extra), ...composer("z", [ask("same")])]);
      return Object.fromEntries((await scan(adapter)).map((ref) => [ref.key, ref.version]));
    };
    const base = await versions([ask("q"), say("answer")]);
    for (const [first, extra] of [
      [[ask("q"), say("answer and more")], {}],
      [[ask("q")], {}],
      [[ask("q"), say("answer"), say("next")], {}],
      [[ask("q"), say("answer")], { name: "Other" }],
      [[ask("q"), say("answer")], { lastUpdatedAt: T0 + 9001 }],
    ] as [object[], object][]) {
      const now = await versions(first, extra);
      const fresh = Object.fromEntries((await scan(create())).map((ref) => [ref.key, ref.version]));
      expect(now.a).not.toBe(base.a);
      expect(now.z).toBe(base.z);
      // What was taken over from the former index equals what is found from nothing.
      expect(now).toEqual(fresh);
    }
    expect(await versions([ask("q"), say("answer")])).toEqual(base);
  });

  it("P7: does not open a database that did not change", async () => {
    await writeGlobal(user, composer("c1", [ask("a")]));
    const when = new Date(T0);
    await utimes(globalDb(), when, when);
    const adapter = create();
    const refs = await scan(adapter);
    const bytes = await readFile(globalDb());
    await writeFile(globalDb(), bytes.fill(0, 0, 16));
    await utimes(globalDb(), when, when);
    expect(await scan(adapter)).toEqual(refs);
    await expect(scan(create())).rejects.toMatchObject({ code: "SOURCE_DAMAGED" });
  });

  it("reads many conversations of one database in one go", async () => {
    await writeGlobal(user, [...composer("c1", [ask("one")]), ...composer("c2", [ask("two")])]);
    const adapter = create();
    const refs = (await scan(adapter)).filter(({ path }) => path === globalDb());
    const seen: unknown[] = [];
    const gone = { ...(refs[0] as SessionRef), key: "gone" };
    for await (const [ref, reader] of adapter.readMany([...refs, gone], env)) {
      const result = await drain(reader).catch((error: { code?: string }) => error.code);
      seen.push([ref.key, typeof result === "string" ? result : result?.events[0]?.text]);
    }
    expect(seen).toEqual([
      ["c1", "one"],
      ["c2", "two"],
      ["gone", "SOURCE_MISSING"],
    ]);
  });

  it("tails a composer: what is new, nothing twice, everything again when the past changed", async () => {
    const put = (bubbles: object[], extra: object = {}) => writeGlobal(user, composer("c1", bubbles, extra));
    await put([ask("go")]);
    const adapter = create();
    const [ref] = await scan(adapter);
    const tail = async (at?: Cursor) => {
      const answer = await drainTail(adapter.tail(ref as SessionRef, at, env));
      if (!answer) throw new Error("no tail");
      return { ...answer, cursor: JSON.parse(JSON.stringify(answer.cursor)) as Cursor };
    };
    const first = await tail();
    expect(first).toMatchObject({
      restarted: false,
      events: (await drain(adapter.read(ref as SessionRef, env))).events,
    });
    expect(await tail(first.cursor)).toMatchObject({ events: [], restarted: false, bytesRead: 0 });

    await put([ask("go"), say("Wor")], { status: "generating" });
    const second = await tail(first.cursor);
    expect(second).toMatchObject({ events: [], restarted: false });
    await put([ask("go"), say("Working.")], { status: "completed" });
    const third = await tail(second.cursor);
    expect(third.restarted).toBe(false);
    expect(third.events.map((event) => [event.seq, event.text])).toEqual([[1, "Working."]]);

    await put([ask("gone"), say("Working.")], { status: "completed" });
    const fourth = await tail(third.cursor);
    expect(fourth.restarted).toBe(true);
    expect(shape(fourth.events)).toEqual([
      ["user", "gone"],
      ["assistant", "Working."],
    ]);
  });

  it("tails a transcript by its bytes", async () => {
    const path = await writeTranscript(dot, "p", "t1.jsonl", TRANSCRIPT.slice(0, 2));
    const adapter = create();
    const [ref] = await scan(adapter);
    const first = await drainTail(adapter.tail(ref as SessionRef, undefined, env));
    await appendFile(path, `${JSON.stringify(TRANSCRIPT[3])}\n`);
    const second = await drainTail(adapter.tail(ref as SessionRef, first?.cursor, env));
    expect(second?.restarted).toBe(false);
    expect(second?.events.map((event) => [event.seq, event.text])).toEqual([[3, "Fixed."]]);
  });
});
