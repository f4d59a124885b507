/** OpenClaw's database: sessions that started one another, compressed entries. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import pi from "../../plugins/pi/index.ts";
import { home, readAll, shape, useHome } from "./_home.ts";
import { testRing } from "./_rings.ts";
import { type Rows, tokens, writeTables } from "./_store.ts";

useHome("openclaw");

const at = (n: number) => new Date(Date.UTC(2026, 6, 20, 9, 0, n)).toISOString();
const usage = { input: 50, output: 10, cacheRead: 30, cacheWrite: 20 };
const reply = (id: string, n: number, text: string) => ({
  type: "message",
  id,
  parentId: null,
  timestamp: at(n),
  message: { role: "assistant", model: "m", content: [{ type: "text", text }], usage },
});
const header = (id: string, n: number) => ({ type: "session", version: 4, id, timestamp: at(n), cwd: "/w" });
const ENTRIES = [header("s1", 0), reply("a1", 1, "one")];

/** A zstandard frame of one raw block. */
function frame(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(9);
  head.writeUInt32LE(0xfd2fb528, 0);
  head[4] = 0xa0; // one segment, its size in four bytes
  head.writeUInt32LE(bytes.length, 5);
  const block = bytes.length * 8 + 1;
  return Buffer.concat([head, Buffer.from([block & 255, (block >> 8) & 255, block >> 16]), bytes]);
}
const rows = (entries: readonly object[], session_id: string, packed = false): Rows =>
  entries.map((one, seq) => ({
    session_id,
    seq,
    event_json: packed ? null : JSON.stringify(one),
    created_at: seq,
    event_zstd: packed ? frame(JSON.stringify(one)) : null,
  }));
const node = (session_key: string, current_session_id: string, spawned_by: string | null, from: string | null) => ({
  session_key,
  current_session_id,
  spawned_by,
  fork_source_session_id: from,
});

describe("OpenClaw's database", () => {
  const db = () => join(home, ".openclaw/agents/main/agent/openclaw-agent.sqlite");
  const read = async (key: string) =>
    (await readAll(pi({ variant: "openclaw" }).adapter)).find(({ ref }) => ref.key === key);

  it("reads compressed entries", async () => {
    await writeTables(db(), { transcript_events: rows(ENTRIES, "s1", true) });
    const one = await read("s1");
    expect(shape(one?.events ?? [])).toEqual([["assistant", "one"]]);
    expect(one?.summary).toMatchObject({ cwd: "/w", usage: { m: tokens(50, 10, 30, 20) }, skipped: { lines: 0 } });
  });

  it("links sub-agents and forks; what a fork copied is inherited", async () => {
    const fork = [header("s2", 9), reply("a1", 1, "one"), reply("a2", 10, "two")];
    await writeTables(db(), {
      transcript_events: [...rows(ENTRIES, "s1"), ...rows(fork, "s2"), ...rows([header("s3", 2)], "s3")],
      session_nodes: [node("main", "s1", null, null), node("fork", "s2", null, "s1"), node("sub", "s3", "main", null)],
    });
    expect((await read("s2"))?.summary).toMatchObject({
      forkedFrom: "s1",
      usage: { m: tokens(50, 10, 30, 20) },
      inheritedUsage: { m: tokens(50, 10, 30, 20) },
    });
    const sub = await read("s3");
    expect([sub?.ref.parent, sub?.summary.parent, sub?.summary.forkedFrom]).toEqual(["s1", "s1", undefined]);
  });

  testRing({
    fixture: "openclaw/generated-openclaw-2026.9.6",
    plugin: (dir) => pi({ dir, variant: "openclaw" }),
  });
});
