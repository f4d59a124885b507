/** Rows that share a line: what a kill, a full disk or a power loss leaves in the log of any assistant. */
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionRef } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import claudeCode from "sessarc/plugins/claude-code";
import codex from "sessarc/plugins/codex";
import qwen from "sessarc/plugins/qwen";
import { describe, expect, it } from "vitest";
import { readLog } from "../../core/adapter/read-log.ts";
import { tailLog } from "../../core/adapter/tail-log.ts";
import { splitRows } from "../../core/utils/joined-rows.ts";
import { drain, drainTail, env, home, scan, useHome } from "./_home.ts";

const ID = "5e550000-0000-4000-8000-000000000001";

const claudeRow = (n: number) => {
  const at = `2026-11-20T09:00:0${n}.000Z`;
  const head = { parentUuid: n === 0 ? null : `u${n - 1}`, isSidechain: false, cwd: "/w/app", sessionId: ID };
  if (n % 2 === 0)
    return {
      ...head,
      type: "user",
      message: { role: "user", content: `prompt ${n} “é”` },
      uuid: `u${n}`,
      timestamp: at,
    };
  const usage = { input_tokens: 10 * n, output_tokens: 20 * n };
  const content = [{ type: "text", text: `answer ${n} 🚀` }];
  const message = {
    id: `msg${n}`,
    role: "assistant",
    model: "claude-sonnet-4-5",
    content,
    stop_reason: "end_turn",
    usage,
  };
  return { ...head, type: "assistant", requestId: `req${n}`, message, uuid: `u${n}`, timestamp: at };
};

const codexRow = (n: number) => {
  const timestamp = `2026-11-20T09:00:0${n}.000Z`;
  if (n === 0) return { timestamp, type: "session_meta", payload: { id: ID, timestamp, cwd: "/w/app" } };
  const content = [{ type: n % 2 === 0 ? "output_text" : "input_text", text: `text ${n} “é”` }];
  const role = n % 2 === 0 ? "assistant" : "user";
  return { timestamp, type: "response_item", payload: { type: "message", role, content } };
};

const qwenRow = (n: number) => {
  const at = `2026-11-20T09:00:0${n}.000Z`;
  const head = { uuid: `u${n}`, parentUuid: n === 0 ? null : `u${n - 1}`, sessionId: ID, timestamp: at, cwd: "/w/app" };
  if (n % 2 === 0) return { ...head, type: "user", message: { role: "user", parts: [{ text: `prompt ${n} “é”` }] } };
  const usageMetadata = { promptTokenCount: 10 * n, candidatesTokenCount: 20 * n, totalTokenCount: 30 * n };
  return {
    ...head,
    type: "assistant",
    model: "qwen3",
    message: { role: "model", parts: [{ text: `answer ${n} 🚀` }] },
    usageMetadata,
  };
};

const ADAPTERS = [
  { name: "claude-code", plugin: claudeCode, row: claudeRow, path: `.claude/projects/-w-app/${ID}.jsonl` },
  {
    name: "codex",
    plugin: codex,
    row: codexRow,
    path: `.codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-${ID}.jsonl`,
  },
  { name: "qwen", plugin: qwen, row: qwenRow, path: `.qwen/projects/-w-app/chats/${ID}.jsonl` },
] as const;

describe.each(ADAPTERS)("rows on one line: $name", ({ plugin, row, path }) => {
  useHome("joined");
  const adapter = (): Adapter => {
    const { adapter: made } = plugin() as { adapter?: Adapter };
    if (!made) throw new Error("no adapter");
    return made;
  };
  const text = (...ns: number[]) => ns.map((n) => JSON.stringify(row(n)));
  async function write(log: string | Buffer): Promise<SessionRef> {
    const file = join(home, path);
    await mkdir(join(file, ".."), { recursive: true });
    await writeFile(file, log);
    const [ref] = await scan(adapter());
    if (!ref) throw new Error("not found");
    return ref;
  }
  const read = async (log: string | Buffer) => {
    const { events, summary } = await drain(adapter().read(await write(log), env));
    return { said: events.map((event) => event.text), usage: summary.usage, skipped: summary.skipped };
  };
  const good = (ns: readonly number[]) => read(`${text(...ns).join("\n")}\n`);

  it("counts the row after a row that was cut at any byte", async () => {
    const whole = await good([0, 2, 3, 4]);
    const [first, cut, ...others] = text(0, 1, 2, 3);
    const bytes = Buffer.from(cut ?? "");
    const expected = await good([0, 2, 3]);
    expect(expected.said.length).toBeLessThan(whole.said.length);
    for (let at = 1; at < bytes.length; at++) {
      const log = Buffer.concat([
        Buffer.from(`${first}\n`),
        bytes.subarray(0, at),
        Buffer.from(`${others.join("\n")}\n`),
      ]);
      const { said, usage, skipped } = await read(log);
      expect({ at, said, usage }).toEqual({ at, said: expected.said, usage: expected.usage });
      expect(skipped?.lines).toBe(1);
    }
  });

  it("counts rows after zero bytes, with and without a cut row before them, and rows that share a line whole", async () => {
    const [a, b, c, d] = text(0, 1, 2, 3);
    const zeros = "\0".repeat(5_000);
    const all = await good([0, 1, 2, 3]);
    expect((await read(`${a}\n${zeros}${b}\n${c}\n${d}\n`)).said).toEqual(all.said);
    expect((await read(`${zeros}${a}\n${b}\n${c}\n${zeros}\n${d}\n`)).said).toEqual(all.said);
    expect(await read(`${a}${b}${c}${d}`)).toEqual(all);
    expect(await read(`${a}${b}\n${c} ${d}\r\n`)).toEqual(all);
    const cut = b?.slice(0, 60);
    expect((await read(`${a}${cut}${zeros}${c}${d}\n`)).said).toEqual((await good([0, 2, 3])).said);
    expect((await read(`${a}${cut}${cut}${c}\n${d}\n`)).said).toEqual((await good([0, 2, 3])).said);
  });

  it("gives the list of what can be imported the same title, folder and start", async () => {
    const [a, b, c, d] = text(0, 1, 2, 3);
    const peek = async (log: string) => adapter().peek?.(await write(log), env);
    const whole = await peek(`${a}\n${b}\n${c}\n${d}\n`);
    expect(whole).toMatchObject({ cwd: "/w/app", title: expect.stringContaining("é") });
    for (const log of [
      `${a?.slice(0, 40)}${a}\n${b}\n${c}\n${d}\n`,
      `${"\0".repeat(3_000)}${a}\n${b}\n${c}\n`,
      `${a}${b}${c}${d}\n`,
      `${a}\n${b?.slice(0, 60)}${b}${c}`,
    ])
      expect({ log, peek: await peek(log) }).toEqual({ log, peek: whole });
  });

  it("makes no row of a part of a cut one", async () => {
    const [first, cut = "", last] = text(0, 1, 2);
    const expected = await good([0, 2]);
    for (let at = 1; at < cut.length; at++) {
      const { said, usage } = await read(`${first}\n${cut.slice(0, at)}\n${last}\n`);
      expect({ at, said, usage }).toEqual({ at, said: expected.said, usage: expected.usage });
    }
  });

  it("reads the same when it follows the log, wherever it stood", async () => {
    const [a, b = "", c, d] = text(0, 1, 2, 3);
    const log = Buffer.from(`${a}\n${b.slice(0, 70)}\0\0${c}${b}${d}\n${d?.slice(0, 30)}`);
    const expected = await read(log);
    for (let at = 1; at < log.length; at += 3) {
      const ref = await write(log.subarray(0, at));
      const begun = await drainTail(adapter().tail(ref, undefined, env));
      await appendFile(ref.path, log.subarray(at));
      const added = await drainTail(adapter().tail(ref, begun.cursor, env));
      const said = [...begun.events, ...added.events].map((event) => event.text);
      expect({ at, said, usage: added.summary.usage }).toEqual({ at, said: expected.said, usage: expected.usage });
      expect(added.summary.skipped).toEqual(expected.skipped);
      expect((await readFile(ref.path)).equals(log)).toBe(true);
    }
  });

  it("gives stateless figures that are those of the full read", async () => {
    const [a, b = "", c, d] = text(0, 1, 2, 3);
    for (const log of [`${a}\n${b}${d}\n`, `${a}\n${b.slice(0, -40)}${d}\n`, `${a}\n${b.slice(0, 40)}\0\0${d}\n${c}`]) {
      const full = await read(log);
      const [ref] = await scan(adapter());
      const quick = ref && (await adapter().usage?.(ref, env));
      if (quick) expect(quick.usage).toEqual(full.usage);
    }
  });
});

describe("rows on one line", () => {
  useHome("joined");
  const parser = () => ({
    row: (row: unknown) => ({ kind: "user" as const, text: JSON.stringify(row) }),
    finish: () => ({ usage: {} }),
  });

  it("keeps a half-written row after a whole one for later", async () => {
    const path = join(home, "log.jsonl");
    await writeFile(path, '{"t":"a"}{"t":"b');
    const first = await drainTail(tailLog({ path }, undefined, parser));
    expect(first.events.map((event) => event.text)).toEqual(['{"t":"a"}']);
    expect(first.cursor.offset).toBe(9);
    expect(first.summary.skipped).toEqual({ lines: 0, unknown: {}, pending: 1 });
    await appendFile(path, 'c"}\n');
    const next = await drainTail(tailLog({ path }, first.cursor, parser));
    expect(next.events.map((event) => event.text)).toEqual(['{"t":"bc"}']);
    expect(next.summary.skipped).toEqual({ lines: 0, unknown: {} });
  });

  it("does a bounded amount of work for hostile lines", () => {
    const size = 1 << 20;
    for (const line of ['{"', "{", "[", '{"a":', '{"a":[', '{"a":{"b":"', "\0", '{"\\', '{}{"', '"{', "{}}"].map(
      (one) => one.repeat(size / one.length),
    ))
      expect(splitRows(Buffer.from(line)).rows.length).toBeLessThan(size);
  });

  it("leaves lines of other JSON out, as one bad line each", async () => {
    const path = join(home, "log.jsonl");
    await writeFile(path, '[{"t":"a"}]\n"text {\\"t\\":1}"\n42\n{"t":"b"} and more\nno {"t":"c"}\n{"t":"d"}\n');
    const { events, summary } = await drain(readLog({ path }, parser()));
    expect(events.map((event) => event.text)).toEqual(['{"t":"d"}']);
    expect(summary.skipped?.lines).toBe(5);
  });
});

describe("rows on one line: Codex's index of names", () => {
  useHome("joined-names");
  it("gives the names of all rows", async () => {
    const { adapter } = codex() as { adapter?: Adapter };
    if (!adapter) throw new Error("no adapter");
    const ids = [1, 2, 3, 4].map((n) => `5e550000-0000-4000-8000-00000000000${n}`);
    const folder = join(home, ".codex/sessions/2026/11/20");
    await mkdir(folder, { recursive: true });
    for (const id of ids) {
      const meta = { timestamp: "2026-11-20T09:00:00.000Z", type: "session_meta", payload: { id, cwd: "/w/app" } };
      await writeFile(join(folder, `rollout-2026-11-20T09-00-00-${id}.jsonl`), `${JSON.stringify(meta)}\n`);
    }
    const [a = "", b = "", c = "", d = ""] = ids.map((id, n) => JSON.stringify({ id, thread_name: `name ${n}` }));
    await writeFile(
      join(home, ".codex/session_index.jsonl"),
      `${a.slice(0, 50)}${a}\n${"\0".repeat(2_000)}${b}\n${c}${d}`,
    );
    expect((await scan(adapter)).map(({ title }) => title).sort()).toEqual(["name 0", "name 1", "name 2", "name 3"]);
  });
});
