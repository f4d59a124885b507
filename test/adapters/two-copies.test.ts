/** Two copies of one session that went on apart: the one with more wins, and what only the other has is kept. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import kilo from "sessarc/plugins/opencode";
import { describe, expect, it } from "vitest";
import opencode from "../../plugins/opencode/index.ts";
import { drainTail, env, home, readAll, scan, shape, useHome } from "./_home.ts";
import { type Rows, tokens, writeTables } from "./_store.ts";

useHome("two-copies");

const T = 1_795_165_200_000;
const data = (name: string) => join(home, ".local/share/opencode", name);
const session = { id: "ses_a", project_id: "p", parent_id: null, directory: "/w", title: "T", revert: null };

/** A message: who, when in seconds, what; the tokens of a reply are its second. */
type Said = readonly [role: "user" | "assistant", second: number, text: string, id?: string];
const toId = ([role, second, , id]: Said) => id ?? `msg_${String(second).padStart(3, "0")}_${role}`;
const paid = (second: number) => ({ input: second, output: 1, reasoning: 0, cache: { read: 0, write: 0 } });

function version1(said: readonly Said[], updated = T): Record<string, Rows> {
  const at = (second: number) => ({ time_created: T + second * 1000, time_updated: T + second * 1000 });
  return {
    session: [{ ...session, time_created: T, time_updated: updated }],
    message: said.map((one) => ({
      id: toId(one),
      session_id: "ses_a",
      ...at(one[1]),
      data: JSON.stringify({
        role: one[0],
        time: { created: T + one[1] * 1000, completed: T + one[1] * 1000 + 1 },
        ...(one[0] === "assistant" && { modelID: "m", tokens: paid(one[1]) }),
      }),
    })),
    part: said.map((one) => ({
      id: `prt_${toId(one)}`,
      message_id: toId(one),
      session_id: "ses_a",
      ...at(one[1]),
      data: JSON.stringify({ type: "text", text: one[2] }),
    })),
  };
}

function version2(said: readonly Said[], more: { updated?: number; row?: boolean } = {}): Record<string, Rows> {
  const own = { ...session, fork_session_id: null, time_created: T, time_updated: more.updated ?? T };
  return {
    session_v2: more.row === false ? [{ ...own, id: "ses_other" }] : [own],
    session_message: said.map((one, seq) => {
      const [role, second, text] = one;
      const time = { created: T + second * 1000, completed: T + second * 1000 + 1 };
      return {
        id: toId(one),
        session_id: "ses_a",
        type: role,
        seq,
        time_created: T + second * 1000,
        time_updated: T + second * 1000,
        data: JSON.stringify(
          role === "user"
            ? { text, time }
            : { model: { id: "m" }, content: text === "" ? [] : [{ type: "text", text }], time, tokens: paid(second) },
        ),
      };
    }),
  };
}

const read = async () => {
  // Each database that holds it names it, at the same place.
  const all = (await readAll(opencode().adapter)).filter(({ ref }) => ref.key === "ses_a");
  const [one] = all;
  if (!one) throw new Error("not found");
  expect(all.map(({ ref }) => [ref.path, ref.version])).toEqual(all.map(() => [one.ref.path, one.ref.version]));
  return { ...one, texts: one.events.map(({ text }) => text), input: one.summary.usage.m?.input ?? 0 };
};

const FIRST: Said[] = [
  ["user", 1, "one"],
  ["assistant", 2, "first"],
];
const SECOND: Said[] = [
  ["user", 3, "two"],
  ["assistant", 4, "second"],
];
const THIRD: Said[] = [
  ["user", 5, "three"],
  ["assistant", 6, "third"],
];
const withIds = (said: readonly Said[], prefix: string): Said[] =>
  said.map(([role, second, text]) => [role, second, text, `${prefix}${second}`]);

describe("an OpenCode session in the tables of both versions", () => {
  it("has the turns that version 1 went on with", async () => {
    await writeTables(data("opencode.db"), { ...version1([...FIRST, ...SECOND, ...THIRD]), ...version2(FIRST) });
    const { texts, input, summary } = await read();
    expect(texts).toEqual(["one", "first", "two", "second", "three", "third"]);
    expect([input, summary.replies?.length, summary.unlogged]).toEqual([12, 3, undefined]);
  });

  it("has the turns of both, in the order of their times, where each went on", async () => {
    await writeTables(data("opencode.db"), {
      ...version1([...FIRST, ...THIRD]),
      ...version2([...FIRST, ...SECOND, ["user", 7, "four"]]),
    });
    const { texts, input } = await read();
    expect(texts).toEqual(["one", "first", "two", "second", "three", "third", "four"]);
    expect(input).toBe(12);
  });

  it("knows a message by its content where the move made new ids, and by no id where the contents differ", async () => {
    await writeTables(data("opencode.db"), {
      ...version1(withIds([...FIRST, ...SECOND], "a")),
      ...version2(withIds(FIRST, "b")),
    });
    expect((await read()).texts).toEqual(["one", "first", "two", "second"]);
    await writeTables(data("opencode.db"), {
      ...version1([...FIRST, ["user", 3, "left", "same"]]),
      ...version2([...FIRST, ["user", 4, "right", "same"]]),
    });
    expect((await read()).texts).toEqual(["one", "first", "left", "right"]);
  });

  it("keeps what was said again in the same words", async () => {
    await writeTables(data("opencode.db"), {
      ...version1([...FIRST, ["user", 3, "go on"], ["assistant", 4, "left"]]),
      ...version2([...FIRST, ["user", 5, "go on"], ["assistant", 6, "right"], ["user", 7, "go on"]]),
    });
    expect((await read()).texts).toEqual(["one", "first", "go on", "left", "go on", "right", "go on"]);
  });

  it("takes the copy of a reply that has more: one was moved while it was written", async () => {
    await writeTables(data("opencode.db"), {
      ...version1(FIRST),
      ...version2([FIRST[0] as Said, ["assistant", 2, "fi"]]),
    });
    expect((await read()).texts).toEqual(["one", "first"]);
  });

  it("is whole where the move was left halfway: rows without messages, messages without content or without their row", async () => {
    await writeTables(data("opencode.db"), { ...version1([...FIRST, ...SECOND]), ...version2([]) });
    await rm(data("opencode.db"));
    const none = {
      ...version2(FIRST),
      session_message: [{ ...version2(FIRST).session_message?.[0], session_id: "x" }],
    };
    await writeTables(data("opencode.db"), { ...version1([...FIRST, ...SECOND]), ...none } as Record<string, Rows>);
    expect((await read()).texts).toEqual(["one", "first", "two", "second"]);
    await writeTables(data("opencode.db"), {
      ...version1([...FIRST, ...SECOND]),
      ...version2([...FIRST, ...SECOND].map(([role, second]) => [role, second, ""])),
    });
    expect((await read()).texts).toEqual(["one", "first", "two", "second"]);
    await writeTables(data("opencode.db"), { ...version1(FIRST), ...version2([...FIRST, ...SECOND], { row: false }) });
    expect((await read()).texts).toEqual(["one", "first", "two", "second"]);
  });

  it("is read again when either copy grows, and has the title of the one that changed last", async () => {
    const write = (said: readonly Said[], title: string) => {
      const { session: rows = [], ...others } = version1(said, T + 10);
      const tables = { session: rows.map((row) => ({ ...row, title })), ...others, ...version2(FIRST) };
      return writeTables(data("opencode.db"), tables);
    };
    const { adapter } = opencode();
    await write(FIRST, "T");
    const [ref] = (await scan(adapter)).filter(({ key }) => key === "ses_a");
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    await write([...FIRST, ...SECOND], "Lamp");
    const [now] = (await scan(adapter)).filter(({ key }) => key === "ses_a");
    expect(now?.version).not.toBe(ref.version);
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect([next.restarted, shape(next.events), next.summary.title]).toEqual([
      false,
      [
        ["user", "two"],
        ["assistant", "second"],
      ],
      "Lamp",
    ]);
  });
});

describe("an OpenCode session in a channel's copy of the database", () => {
  it("has the turns of both databases, once", async () => {
    await writeTables(data("opencode.db"), version1([...FIRST, ...SECOND]));
    await writeTables(data("opencode-dev.db"), version1([...FIRST, ...THIRD]));
    const { texts, input } = await read();
    expect(texts).toEqual(["one", "first", "two", "second", "three", "third"]);
    expect(input).toBe(12);
    expect((await read()).summary.usage).toEqual({ m: tokens(12, 3) });
  });

  it("has the turns of version 2 in one and of version 1 in the other", async () => {
    await writeTables(data("opencode.db"), { ...version1(FIRST), ...version2(FIRST) });
    await writeTables(data("opencode-next.db"), version2(withIds([...FIRST, ...SECOND], "n")));
    expect((await read()).texts).toEqual(["one", "first", "two", "second"]);
  });

  it("is read again when the other database grows, and without one that is gone or cannot be read", async () => {
    const { adapter } = opencode();
    await writeTables(data("opencode.db"), version1(FIRST));
    await writeTables(data("opencode-dev.db"), version1(FIRST));
    const [ref] = await scan(adapter);
    if (!ref) throw new Error("not found");
    const first = await drainTail(adapter.tail(ref, undefined, env));
    expect(first.events).toHaveLength(2);
    await writeTables(data("opencode-dev.db"), version1([...FIRST, ...SECOND]));
    const next = await drainTail(adapter.tail(ref, first.cursor, env));
    expect([next.restarted, next.events.length]).toEqual([false, 2]);
    await rm(data("opencode-dev.db"));
    expect((await read()).texts).toEqual(["one", "first"]);
  });

  it("holds for Kilo Code, too", async () => {
    const at = (name: string) => join(home, ".local/share/kilo", name);
    await writeTables(at("kilo.db"), version1(FIRST));
    await writeTables(at("kilo-dev.db"), version1([...FIRST, ...SECOND]));
    const [one] = await readAll(kilo({ variant: "kilo" }).adapter);
    expect(one?.events.map(({ text }) => text)).toEqual(["one", "first", "two", "second"]);
  });
});
