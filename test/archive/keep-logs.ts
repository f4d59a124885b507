/** Logs of one Gemini CLI session, and what writes, imports and reads them: what the tests of kept texts share. */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import archive, { type EarlierText, type Session } from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import { minute } from "../claude-turn.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

export const start = () => createTestKernel({ plugins: [archive(), claude(), codex(), gemini()] });
export const sync = (t: TestKernel) => t.send("POST", "/api/import", { all: true });
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

let clock = Date.now() / 1000 - 86_400;
/** Times grow with every write: sizes may be equal. */
export function write(path: string, rows: readonly object[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines(rows));
  utimesSync(path, ++clock, clock);
}

export interface Detail {
  session: Session;
  earlier: EarlierText[];
}
export interface Page {
  total: number;
  messages: { text: string; seq: number }[];
}
export const at = minute;

/** Gemini CLI's own records. */
export const head = {
  sessionId: "0f9e1d2c-0000-4000-8000-000000000001",
  projectHash: "f".repeat(64),
  startTime: at(0),
};
export const said = (n: number, text: string) => ({ id: `u${n}`, timestamp: at(n), type: "user", content: [{ text }] });
export const answered = (n: number, text: string, toolCalls?: object[]) => ({
  id: `g${n}`,
  timestamp: at(n),
  type: "gemini",
  content: text,
  model: "gemini-2.5-pro",
  tokens: { input: 100, output: 20, cached: 10, thoughts: 1, tool: 0, total: 121 },
  ...(toolCalls && { toolCalls }),
});
export const read = (n: number) => ({
  id: `call-${n}`,
  name: "read_file",
  args: { file_path: `/w/app/${n}.ts` },
  status: "success",
});
export const geminiId = `gemini-cli:${head.sessionId}`;
export const chats = (home: string, name: string) => join(home, ".gemini/tmp/app/chats", name);
