/** What Gemini CLI writes in a fresh home for each test, and what its adapter makes of it. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SessionEvent, SessionRef, SessionSummary } from "sessarc";
import gemini from "../../plugins/gemini-cli/index.ts";
import { drain, scanAll } from "../adapter/bench.ts";
import { env, home } from "./_home.ts";

export const own = fileURLToPath(new URL("../fixtures/gemini-cli", import.meta.url));

export const create = (dir?: string) => gemini(dir === undefined ? undefined : { dir }).adapter;
type Adapter = ReturnType<typeof create>;

export const scan = async (adapter: Adapter) => (await scanAll(adapter, env)).sort((a, b) => (a.key < b.key ? -1 : 1));
export const read = (adapter: Adapter, ref: SessionRef) => drain(adapter.read(ref, env));

export async function chat(folder: string, name: string, content: unknown): Promise<string> {
  const path = join(home, ".gemini", "tmp", folder, "chats", name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof content === "string" ? content : lines(content as unknown[]));
  return path;
}
export const lines = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
export const header = (sessionId: string, more = {}) => ({
  sessionId,
  projectHash: "d".repeat(64),
  startTime: "2026-10-01T10:00:00.000Z",
  ...more,
});
export const said = (id: string, text: string) => ({
  id,
  timestamp: "2026-10-01T10:00:01.000Z",
  type: "user",
  content: [{ text }],
});
export const answered = (id: string, text: string, tokens?: object | null) => ({
  id,
  timestamp: "2026-10-01T10:00:02.000Z",
  type: "gemini",
  content: text,
  model: "gemini-2.5-pro",
  tokens,
});
export const paid = (output: number) => ({ input: 10, output, cached: 4, thoughts: 1, tool: 0, total: 0 });
export async function one(rows: unknown[] | string): Promise<{ events: SessionEvent[]; summary: SessionSummary }> {
  await chat("demo", "session-2026-10-01T10-00-aaaaaaaa.jsonl", rows);
  const adapter = create();
  const [ref] = await scan(adapter);
  if (!ref) throw new Error("not found");
  return read(adapter, ref);
}
export const texts = (events: readonly SessionEvent[]) => events.map((event) => event.text);
export const kinds = (events: readonly SessionEvent[]) => events.map((event) => event.kind);
