/** Claude Code: prompts that a person typed while the assistant worked. */
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Adapter } from "sessarc/adapter";
import claudeCode from "sessarc/plugins/claude-code";
import { describe, expect, it, vi } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import { runCommand } from "../command.ts";
import { createTestKernel } from "../kernel.ts";
import { drainTail, env, home, readAll, scan, useHome } from "./_home.ts";

const ID = "5e550000-0000-4000-8000-000000000001";
const timestamp = "2026-11-20T09:00:00.000Z";
const operation = (name: string, content?: string) => ({
  type: "queue-operation",
  operation: name,
  timestamp,
  sessionId: ID,
  content,
});
const user = (content: string) => ({
  type: "user",
  uuid: `u-${content}`,
  sessionId: ID,
  timestamp,
  message: { role: "user", content },
});
const attachment = (prompt: string) => ({
  type: "attachment",
  uuid: `q-${prompt}`,
  sessionId: ID,
  timestamp,
  attachment: { type: "queued_command", prompt },
});

describe("the queue of Claude Code", () => {
  useHome("queue");
  const adapter = (): Adapter => {
    const { adapter: made } = claudeCode() as { adapter?: Adapter };
    if (!made) throw new Error("no adapter");
    return made;
  };
  const path = () => join(home, `.claude/projects/-w-app/${ID}.jsonl`);
  async function write(rows: readonly object[]): Promise<void> {
    await mkdir(dirname(path()), { recursive: true });
    await writeFile(path(), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  }
  const prompts = async (...rows: object[]) => {
    await write(rows);
    const [one] = await readAll(adapter());
    return (one?.events ?? []).filter(({ kind }) => kind === "user").map(({ text }) => text);
  };

  it("gives a prompt once, whatever else the log has of it", async () => {
    expect(await prompts(user("a"), operation("enqueue", "b"), operation("remove"))).toEqual(["a", "b"]);
    expect(await prompts(operation("enqueue", "b"), operation("remove", "b"), attachment("b"))).toEqual(["b"]);
    expect(await prompts(operation("enqueue", "b"), attachment("b"), operation("remove"))).toEqual(["b"]);
    expect(await prompts(operation("enqueue", "b"), operation("dequeue"), user("b"))).toEqual(["b"]);
    expect(await prompts(operation("enqueue", "b"), operation("remove"), user("b"), user("b"))).toEqual(["b", "b"]);
  });

  it("gives several in their order, and none that was taken back or that no person typed", async () => {
    expect(
      await prompts(operation("enqueue", "a"), operation("enqueue", "b"), operation("remove"), operation("remove")),
    ).toEqual(["a", "b"]);
    expect(await prompts(operation("enqueue", "a"), operation("popAll", "a"), operation("remove"))).toEqual([]);
    const note = "<task-notification>done</task-notification>";
    expect(await prompts(operation("enqueue", note), operation("remove"))).toEqual([]);
    for (const content of [undefined, "", " "])
      expect(await prompts(operation("enqueue", content), operation("remove"))).toEqual([]);
  });

  it("goes on where a tail stopped", async () => {
    const rows = [
      user("a"),
      operation("enqueue", "b"),
      operation("remove"),
      attachment("b"),
      operation("enqueue", "c"),
      operation("remove"),
    ];
    for (let cut = 1; cut < rows.length; cut++) {
      await write(rows.slice(0, cut));
      const ref = { tool: "claude-code", key: ID, path: path() };
      const begun = await drainTail(adapter().tail(ref, undefined, env));
      await write(rows);
      const added = await drainTail(adapter().tail(ref, begun.cursor, env));
      expect([...begun.events, ...added.events].map(({ text }) => text)).toEqual(["a", "b", "c"]);
    }
  });

  describe("of a session that was killed", () => {
    const killed = [
      user("a"),
      operation("enqueue", "b"),
      operation("enqueue", "<task-notification>done</task-notification>"),
      operation("enqueue", "c"),
    ];
    const old = new Date("2026-11-20T10:00:00.000Z");
    const texts = (events: readonly { kind: string; text: string }[]) =>
      events.filter(({ kind }) => kind === "user").map(({ text }) => text);

    it("gives what waited at the end of a log that rests, and not of one that is written", async () => {
      await write(killed);
      expect(texts((await readAll(adapter()))[0]?.events ?? [])).toEqual(["a"]);
      await utimes(path(), old, old);
      const [one] = await readAll(adapter());
      expect(texts(one?.events ?? [])).toEqual(["a", "b", "c"]);
      expect(one?.events.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
      await write([...killed, operation("popAll", "b\nc"), user("b")]);
      await utimes(path(), old, old);
      expect(texts((await readAll(adapter()))[0]?.events ?? [])).toEqual(["a", "b"]);
    });

    it("is read from its start when it goes on", async () => {
      await write(killed);
      await utimes(path(), old, old);
      const [ref] = await scan(adapter());
      if (!ref) throw new Error("no session");
      const begun = await drainTail(adapter().tail(ref, undefined, env));
      expect(texts(begun.events)).toEqual(["a", "b", "c"]);
      await write([...killed, user("d")]);
      const [again] = await scan(adapter());
      const added = await drainTail(adapter().tail(again ?? ref, JSON.parse(JSON.stringify(begun.cursor)), env));
      expect(added.restarted).toBe(true);
      expect(texts(added.events)).toEqual(["a", "d"]);
    });

    it("is in the archive once the log that the service followed has rested", async () => {
      await write(killed);
      const t = await createTestKernel({ home, plugins: defaultPlugins() });
      const archived = async () => {
        const { messages } = await t.json<{ messages: { kind: string; text: string }[] }>(
          `/api/sessions/claude-code:${ID}/messages`,
        );
        return texts(messages);
      };
      await t.send("POST", "/api/import", { all: true });
      expect(await archived()).toEqual(["a"]);
      expect(await t.json("/api/sessions/left-out")).toEqual({ sessions: [], total: 0 });
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 3_600_000 });
      try {
        await t.send("POST", "/api/sync?wait=1");
        expect(await archived()).toEqual(["a", "b", "c"]);
        await write([...killed, user("d")]);
        await t.send("POST", "/api/sync?wait=1");
        expect((await archived()).filter((text) => text !== "b" && text !== "c")).toEqual(["a", "d"]);
      } finally {
        vi.useRealTimers();
      }
    });

    it("is found by a search", async () => {
      await write([user("a"), operation("enqueue", "rename the quokka")]);
      await utimes(path(), old, old);
      await runCommand(["import"], home);
      const { stdout } = await runCommand(["search", "quokka"], home);
      expect(stdout).toContain("quokka");
    });
  });
});
