/** Finds chats: `workspaceStorage/<hash>/chatSessions/<id>.json[l]`, and folders of chats without a workspace. */

import type { Dirent } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { type SessionRef, toRecord, toText } from "sessarc";
import { listFolder } from "sessarc/adapter";
import { readRegular } from "sessarc/files";
import { findFolder } from "./places.ts";

/** Directory entries, one stat for each chat, and the `workspace.json` of folders that have chats. */
export async function* scanVscode(root: string): AsyncGenerator<SessionRef> {
  if (basename(root) !== "workspaceStorage") {
    yield* await chatsIn(root, undefined);
    return;
  }
  // A workspace whose folder was moved may have copies of its chats under two hashes: the newest counts.
  const byKey = new Map<string, SessionRef>();
  for (const entry of await listFolder(root)) {
    if (!entry.isDirectory()) continue;
    const folder = join(root, entry.name);
    const chats = join(folder, "chatSessions");
    const entries = await listFolder(chats);
    if (entries.length === 0) continue;
    for (const ref of await chatsIn(chats, await findWorkspace(join(folder, "workspace.json")), entries)) {
      const other = byKey.get(ref.key);
      if (!other || (ref.mtime ?? 0) > (other.mtime ?? 0)) byKey.set(ref.key, ref);
    }
  }
  yield* byKey.values();
}

async function chatsIn(dir: string, cwd: string | undefined, known?: readonly Dirent[]): Promise<SessionRef[]> {
  const logs = new Map<string, string[]>();
  for (const entry of known ?? (await listFolder(dir))) {
    const [, key, type] = entry.isFile() ? (entry.name.match(/^([^.].*)\.(jsonl?)$/) ?? []) : [];
    if (key === undefined) continue;
    const same = logs.get(key) ?? [];
    // The operation log replaces the document of the same id.
    if (type === "jsonl") same.unshift(entry.name);
    else same.push(entry.name);
    logs.set(key, same);
  }
  const refs: SessionRef[] = [];
  for (const [key, [name = "", ...older]] of logs) {
    const path = join(dir, name);
    const info = await stat(path).catch(() => undefined);
    if (!info) continue; // deleted since
    const ref: SessionRef = {
      tool: "copilot",
      key,
      path,
      size: info.size,
      mtime: info.mtimeMs,
      born: info.birthtimeMs,
      exclusive: true,
      ...(cwd !== undefined && { cwd }),
      ...(older.length > 0 && { companions: older.map((one) => join(dir, one)) }),
    };
    refs.push(ref);
  }
  return refs;
}

async function findWorkspace(path: string): Promise<string | undefined> {
  try {
    const { folder, workspace, configuration } = toRecord(JSON.parse(await readRegular(path)));
    const uri = toText(folder);
    if (uri !== undefined) return findFolder(uri);
    const file = toText(workspace) ?? toText(configuration);
    return file === undefined ? undefined : findFolder(file, true);
  } catch {
    return undefined; // absent or half written: no workspace is known
  }
}
