/** Reads what assistants list of their sessions. Of a list that grew only the new lines are read. */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { BoundedMap, isRecord, type Kernel, mustYield, parseRecord, type Statement, toIso, yieldNow } from "sessarc";
import { type Adapter, bytesAt, readLines, readList } from "sessarc/adapter";
import { ifThere } from "sessarc/files";
import type { ListedPrompt } from "./contract.ts";

/** Lists as they were last read, by path. */
export type KnownFiles = Map<string, KnownFile>;

interface KnownFile {
  path: string;
  size: number;
  mtime: number;
  next: number;
}

/** Statements committed together. */
const TOGETHER = 200;
/** Bytes looked through for the last line's beginning. */
const TAIL = 1 << 20;
/** Longer texts are cut, as those of messages are not: a list of 2 GB must not become a catalogue of 2 GB. */
const LONGEST = 100_000;
/** Of a longer list only its end is read. */
const MOST = 256 << 20;
const KEY = /^[\w.:~-]{1,200}$/;

export async function loadKnown({ storage }: Kernel): Promise<KnownFiles> {
  const rows = await storage.db.all<KnownFile>("select path, size, mtime, next from trace_file");
  return new Map(rows.map((row) => [row.path, row]));
}

/** Takes what is new in the lists of all assistants; answers whether there was anything. Costs a `stat` a list where nothing changed. */
export async function readLists(kernel: Kernel, known: KnownFiles): Promise<boolean> {
  let changed = false;
  for (const adapter of kernel.registry.adapters.values()) {
    const { traces } = adapter;
    if (!traces) continue;
    for (const path of await traces.files(kernel.env)) {
      const info = await ifThere(stat(path));
      const before = known.get(path);
      if (!info?.isFile() || (before?.size === info.size && before.mtime === info.mtimeMs)) continue;
      const from = Math.max(before && before.size <= info.size ? before.next : 0, info.size - MOST);
      known.set(path, await readFile(kernel, adapter, path, { size: info.size, mtime: info.mtimeMs, from }));
      changed = true;
    }
  }
  return changed;
}

async function readFile(
  kernel: Kernel,
  adapter: Adapter,
  path: string,
  { size, mtime, from }: { size: number; mtime: number; from: number },
): Promise<KnownFile> {
  const { db } = kernel.storage;
  const isNew = createKnown(kernel);
  let write: Statement[] = [];
  const own = adapter.traces?.rows?.(path, kernel.env);
  for await (const row of own ? await own : rowsOf(path, from, size)) {
    if (mustYield()) await yieldNow();
    const said = adapter.traces?.read(row, path);
    if (!said || !KEY.test(said.key) || !(await isNew(`${adapter.name}:${said.key}`))) continue;
    write.push(...toStatements(adapter.name, said));
    if (write.length < TOGETHER) continue;
    await db.batch(write);
    write = [];
  }
  const next = own || path.endsWith(".json") ? 0 : lastLine(path, size);
  write.push(["insert or replace into trace_file values (?, ?, ?, ?)", [path, size, mtime, next]]);
  await db.batch(write);
  return { path, size, mtime, next };
}

async function* rowsOf(path: string, start: number, end: number): AsyncGenerator<Record<string, unknown>> {
  if (path.endsWith(".json")) {
    for await (const { value } of readList(path)) if (isRecord(value)) yield value;
    return;
  }
  for await (const line of readLines(path, { start, end })) {
    const row = parseRecord(line);
    if (row) yield row;
  }
}

/** Whether neither the archive has the session nor the user has deleted it there. */
function createKnown({ storage: { db }, inject }: Kernel): (id: string) => Promise<boolean> {
  const archive = inject("archive");
  const asked = new BoundedMap<string, boolean>(10_000);
  return async (id) => {
    const before = asked.get(id);
    if (before !== undefined) return before;
    const isNew = !(await db.get("select 1 from session where id = ?", [id])) && !(await archive.isDeleted(id));
    asked.set(id, isNew);
    return isNew;
  };
}

function toStatements(tool: string, { key, text, at, cwd, title, isOnlyFirst }: ListedPrompt): Statement[] {
  const id = `${tool}:${key}`;
  const statements: Statement[] = [
    [
      `insert into trace (id, tool, title, cwd) values (?, ?, ?, ?)
       on conflict (id) do update set title = coalesce(excluded.title, trace.title), cwd = coalesce(trace.cwd, excluded.cwd)`,
      [id, tool, title?.slice(0, 200) ?? null, cwd ?? null],
    ],
  ];
  if (text === undefined || text.trim() === "") return statements;
  const kept = text.slice(0, LONGEST);
  const hash = createHash("sha256").update(kept).digest("hex").slice(0, 16);
  const time = Date.parse(toIso(at) ?? "");
  statements.push([
    `insert into trace_prompt select ?1, ?2, ?3, ?4 where not exists (select 1 from trace where id = ?1 and removed = 1)
       ${isOnlyFirst ? "and not exists (select 1 from trace_prompt where trace = ?1)" : ""}
     on conflict do nothing`,
    [id, Number.isNaN(time) ? 0 : time, hash, kept],
  ]);
  return statements;
}

/** Where the last line begins: it may be half-written, and is read again with what follows. */
function lastLine(path: string, size: number): number {
  const from = Math.max(0, size - TAIL);
  return from + bytesAt(path, from, size - from).lastIndexOf(0x0a) + 1;
}
