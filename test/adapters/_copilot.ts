/** What Copilot writes in a fresh home for each test, and what its adapter makes of it. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SessionEvent, SessionRef } from "sessarc";
import copilot from "../../plugins/copilot/index.ts";
import { drain, scanAll } from "../adapter/bench.ts";
import { env, home } from "./_home.ts";

export const own = fileURLToPath(new URL("../fixtures/copilot", import.meta.url));

export const create = (dir?: string) => copilot(dir === undefined ? undefined : { dir }).adapter;
type Adapter = ReturnType<typeof create>;

export const scan = async (adapter: Adapter) => (await scanAll(adapter, env)).sort((a, b) => (a.key < b.key ? -1 : 1));
export const read = (adapter: Adapter, ref: SessionRef) => drain(adapter.read(ref, env));

export async function find(adapter: Adapter, key: string): Promise<SessionRef> {
  const ref = (await scan(adapter)).find((one) => one.key === key);
  if (!ref) throw new Error(`no ${key}`);
  return ref;
}

export async function put(path: string, content: string | readonly unknown[]): Promise<string> {
  const file = join(home, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(
    file,
    typeof content === "string" ? content : content.map((row) => `${JSON.stringify(row)}\n`).join(""),
  );
  return file;
}

let serial = 0;
export const row = (type: string, data: unknown, more = {}) => ({
  type,
  data,
  id: `e${serial++}`,
  timestamp: "2026-10-01T10:00:00.000Z",
  ...more,
});
export async function cli(rows: string | readonly unknown[]) {
  await put(".copilot/session-state/s/events.jsonl", rows);
  return read(create(), await find(create(), "s"));
}
export const CHATS = ".config/Code/User/workspaceStorage/h1/chatSessions";
export async function chat(name: string, content: string | readonly unknown[]) {
  await put(`${CHATS}/${name}`, content);
  return read(create(), await find(create(), name.replace(/\.jsonl?$/, "")));
}
export const kinds = (events: readonly SessionEvent[]) => events.map((event) => event.kind);
export const texts = (events: readonly SessionEvent[]) => events.map((event) => event.text);
export const tokens = (input: number, output: number, cacheRead = 0, cacheWrite5m = 0) => ({
  input,
  output,
  cacheRead,
  cacheWrite5m,
  cacheWrite1h: 0,
});
