/** What each assistant writes while it works: a session to begin with, and steps that add to it or edit it. */
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Plugin } from "sessarc";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import copilot from "../../plugins/copilot/index.ts";
import cursor from "../../plugins/cursor/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import opencode from "../../plugins/opencode/index.ts";
import { ask, call, composer, type Entry, say, writeGlobal } from "../fixtures/cursor/build.ts";
import { makeDatabase, reply as openReply, PLAIN, T0, user } from "../fixtures/opencode/build.ts";
import { prompt, reply } from "./_sse.ts";
import { openWriter, type Writer } from "./_writer.ts";

export interface Tool {
  plugin: Plugin;
  /** Needs a process that writes SQLite. */
  sqlite?: boolean;
  /** Writes the session before the import. */
  begin(home: string): Promise<{ id: string; steps: Step[]; other?(): Promise<void> }>;
}
export interface Step {
  do(): void | Promise<void>;
  /** A text among the messages that a follower then has. */
  shows: string;
}

const KEY = "019a4300-0000-7000-8000-0000000000aa";
const at = (n: number) => new Date(Date.UTC(2026, 10, 2, 10, 0, n)).toISOString();

/** A log of lines: each step appends its rows, the second one in two writes. */
function lines(path: string, first: readonly object[], steps: readonly (readonly [string, ...object[]])[]): Step[] {
  const text = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text(first));
  return steps.map(([shows, ...rows], n) => ({
    shows,
    do() {
      const bytes = Buffer.from(text(rows));
      const cut = n === 1 ? bytes.length >> 1 : 0;
      appendFileSync(path, bytes.subarray(0, cut));
      appendFileSync(path, bytes.subarray(cut));
    },
  }));
}

const codexItem = (n: number, payload: object) => ({ timestamp: at(n), type: "response_item", payload });
const codexText = (n: number, role: string, text: string) =>
  codexItem(n, {
    type: "message",
    role,
    content: [{ type: role === "user" ? "input_text" : "output_text", text }],
  });
const copilotRow = (n: number, type: string, data: object) => ({ type, data, id: `e${n}`, timestamp: at(n) });
const geminiRow = (n: number, type: string, content: string, more: object = {}) => ({
  id: `m${n}`,
  timestamp: at(n),
  type,
  content,
  ...more,
});

/** Commits `work` as one transaction, as the assistants do. */
async function commit(writer: Writer, work: () => Promise<void>): Promise<void> {
  await writer.run("begin immediate");
  await work();
  await writer.run("commit");
}
const checkpoint = (writer: Writer) => writer.run("pragma wal_checkpoint(truncate)");

export const TOOLS: Record<string, Tool> = {
  "claude-code": {
    plugin: claude(),
    async begin(home) {
      const rows = (...texts: string[]) => texts.map((text) => JSON.parse(text) as object);
      const path = join(home, ".claude/projects/-w-app", `${KEY}.jsonl`);
      const steps = lines(path, rows(prompt(0), reply(1)), [
        ["prompt 2", ...rows(prompt(2))],
        ["answer 3 ✓ \u2028 done", ...rows(reply(3, "answer 3 ✓ \u2028 done"))],
        ["answer 5", ...rows(prompt(4), reply(5))],
      ]);
      return { id: `claude-code:${KEY}`, steps };
    },
  },
  codex: {
    plugin: codex(),
    async begin(home) {
      const path = join(home, ".codex/sessions/2026/11/02", `rollout-2026-11-02T10-00-00-${KEY}.jsonl`);
      const meta = { id: KEY, session_id: KEY, timestamp: at(0), cwd: "/w/app", cli_version: "0.169.0" };
      const steps = lines(
        path,
        [{ timestamp: at(0), type: "session_meta", payload: meta }, codexText(1, "user", "List the files")],
        [
          ["There are none.", codexText(2, "assistant", "There are none.")],
          [
            "Done",
            codexItem(3, { type: "custom_tool_call", name: "apply_patch", input: "*** Begin Patch", call_id: "c1" }),
            codexItem(4, { type: "custom_tool_call_output", call_id: "c1", output: "Done" }),
          ],
          ["Anything else?", codexText(5, "assistant", "Anything else?")],
        ],
      );
      return { id: `codex:${KEY}`, steps };
    },
  },
  "copilot, its command line": {
    plugin: copilot(),
    async begin(home) {
      const path = join(home, ".copilot/session-state", KEY, "events.jsonl");
      const start = copilotRow(0, "session.start", {
        sessionId: KEY,
        copilotVersion: "1.0.102",
        startTime: at(0),
        context: { cwd: "/w/app" },
      });
      const steps = lines(
        path,
        [start, copilotRow(1, "user.message", { content: "fix it" })],
        [
          ["Two steps.", copilotRow(2, "assistant.message", { messageId: "m", content: "Two steps." })],
          [
            "1. const a = 1",
            copilotRow(3, "tool.execution_start", { toolCallId: "t1", toolName: "view", arguments: { path: "a.ts" } }),
            copilotRow(4, "tool.execution_complete", {
              toolCallId: "t1",
              success: true,
              result: { content: "1. const a = 1" },
            }),
          ],
          ["now b.ts", copilotRow(5, "user.message", { content: "now b.ts" })],
        ],
      );
      return { id: `copilot:${KEY}`, steps };
    },
  },
  "copilot, in VS Code: a log of operations on one document": {
    plugin: copilot(),
    async begin(home) {
      const path = join(home, ".config/Code/User/workspaceStorage/h1/chatSessions", `${KEY}.jsonl`);
      const request = (id: string, text: string, value: string) => ({
        requestId: id,
        message: { text },
        timestamp: T0,
        response: [{ value }],
      });
      const document = { version: 3, sessionId: KEY, creationDate: T0, requests: [request("r1", "hello", "hi")] };
      const steps = lines(
        path,
        [{ kind: 0, v: document }],
        [
          ["Half an", { kind: 2, k: ["requests"], v: [request("r2", "more", "Half an")] }],
          ["Half an answer.", { kind: 1, k: ["requests", 1, "response"], v: [{ value: "Half an answer." }] }],
          ["instead", { kind: 2, k: ["requests"], i: 1, v: [request("r3", "instead", "Well.")] }],
        ],
      );
      return { id: `copilot:${KEY}`, steps };
    },
  },
  "gemini-cli, lines": {
    plugin: gemini(),
    async begin(home) {
      const path = join(home, ".gemini/tmp/app/chats/session-2026-11-02T10-00-019a4300.jsonl");
      const header = { sessionId: KEY, projectHash: "d".repeat(64), startTime: at(0), kind: "main" };
      const toolCalls = [
        {
          id: "t1",
          name: "read_file",
          args: { path: "a.ts" },
          status: "success",
          timestamp: at(4),
          result: [{ functionResponse: { response: { output: "const a = 1" } } }],
        },
      ];
      const steps = lines(
        path,
        [header, geminiRow(1, "user", "hello"), geminiRow(2, "gemini", "hi")],
        [
          ["more", geminiRow(3, "user", "more")],
          ["Let me look.", geminiRow(4, "gemini", "Let me look.")],
          // The same reply once more, when the result of its call is there.
          ["const a = 1", geminiRow(4, "gemini", "Let me look.", { toolCalls })],
          ["other", { $rewindTo: "m3" }, geminiRow(5, "user", "other")],
        ],
      );
      return { id: `gemini-cli:${KEY}`, steps };
    },
  },
  "gemini-cli, one document rewritten": {
    plugin: gemini(),
    async begin(home) {
      const path = join(home, ".gemini/tmp/app/chats/session-2026-11-02T10-00-019a4300.json");
      const messages: object[] = [geminiRow(1, "user", "hello"), geminiRow(2, "gemini", "hi")];
      const write = () => {
        const chat = { sessionId: KEY, projectHash: "h", startTime: at(0), messages };
        writeFileSync(`${path}.tmp`, JSON.stringify(chat));
        renameSync(`${path}.tmp`, path);
      };
      const put = (index: number, shows: string, row: object) => ({
        shows,
        do() {
          messages[index] = row;
          write();
        },
      });
      mkdirSync(dirname(path), { recursive: true });
      write();
      const steps = [
        put(2, "more", geminiRow(3, "user", "more")),
        put(3, "half", geminiRow(4, "gemini", "half")),
        put(3, "half, now whole", geminiRow(4, "gemini", "half, now whole")),
      ];
      return { id: `gemini-cli:${KEY}`, steps };
    },
  },
  opencode: {
    plugin: opencode(),
    sqlite: true,
    async begin(home) {
      const path = join(home, ".local/share/opencode/opencode.db");
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, await makeDatabase([PLAIN]));
      const writer = await openWriter(path);
      let now = T0 + 10_000;
      const put = async ({ id, at: time, data, parts = [] }: ReturnType<typeof user>) => {
        const json = JSON.stringify(data);
        await writer.run("insert or replace into message values (?, 'ses_plain', ?, ?, ?)", id, time, ++now, json);
        for (const part of parts) {
          const values = [part.id, id, time, ++now, JSON.stringify(part.data)];
          await writer.run("insert or replace into part values (?, ?, 'ses_plain', ?, ?, ?)", ...values);
        }
        await writer.run("update session set time_updated = ? where id = 'ses_plain'", ++now);
      };
      const text = (value: string) => [{ type: "text", text: value, time: { start: T0, end: T0 + 1 } }];
      const step = (shows: string, ...messages: ReturnType<typeof user>[]): Step => ({
        shows,
        do: () =>
          commit(writer, async () => {
            for (const message of messages) await put(message);
          }),
      });
      const steps = [
        step("and now?", user("msg_4", T0 + 10_000, "and now?")),
        { shows: "and now?", do: async () => void (await checkpoint(writer)) },
        step("Done.", openReply("msg_5", T0 + 11_000, text("Done."))),
        // A row edited in place, and the log emptied right behind it.
        {
          shows: "Done, really.",
          async do() {
            await commit(writer, () => put(openReply("msg_5", T0 + 11_000, text("Done, really."))));
            await checkpoint(writer);
          },
        },
        step("next", user("msg_6", T0 + 12_000, "next"), openReply("msg_7", T0 + 13_000, text("Yes."))),
      ];
      const other = () =>
        commit(writer, async () => {
          await writer.run(
            "insert into session select 'ses_other', project_id, null, slug, directory, title, version, null, 1, 2 from session",
          );
          await writer.run("insert into message values ('msg_0', 'ses_other', 1, 1, '{\"role\":\"user\"}')");
        });
      return { id: "opencode:ses_plain", steps, other };
    },
  },
  cursor: {
    plugin: cursor(),
    sqlite: true,
    async begin(home) {
      const folder = join(home, ".config/Cursor/User");
      const bubbles: object[] = [ask("list files"), say("There is one.")];
      await writeGlobal(folder, composer(KEY, bubbles));
      const writer = await openWriter(join(folder, "globalStorage/state.vscdb"));
      let updated = T0 + 9_000;
      const put = async (entries: Entry[]) => {
        for (const [key, value] of entries)
          await writer.run("insert into cursorDiskKV values (?, ?)", key, JSON.stringify(value));
      };
      const save = () => {
        updated += 1_000;
        return put(composer(KEY, bubbles, { lastUpdatedAt: updated }));
      };
      const step = (shows: string, index: number, bubble: object): Step => ({
        shows,
        async do() {
          bubbles[index] = bubble;
          await commit(writer, save);
        },
      });
      const steps = [
        step("and now?", 2, ask("and now?", T0 + 10_000)),
        { shows: "and now?", do: async () => void (await checkpoint(writer)) },
        step("README.md", 3, call("read_file", { path: "README.md" }, "README.md")),
        step("Read it.", 4, say("Read it.", T0 + 12_000)),
        {
          shows: "Read it twice.",
          async do() {
            bubbles[4] = say("Read it twice.", T0 + 12_000);
            await commit(writer, save);
            await checkpoint(writer);
          },
        },
        step("thanks", 5, ask("thanks", T0 + 13_000)),
      ];
      const other = () => commit(writer, () => put(composer("other", [ask("something else")])));
      return { id: `cursor:${KEY}`, steps, other };
    },
  },
};
