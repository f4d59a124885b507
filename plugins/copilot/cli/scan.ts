/** Finds CLI sessions: `session-state/<id>/events.jsonl`, older ones `session-state/<id>.jsonl`. */

import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { SessionRef } from "sessarc/adapter";
import { listFolder } from "#internal/adapter";

/** Directory entries, and one or two stats for each session. */
export async function* scanCli(root: string): AsyncGenerator<SessionRef> {
  const entries = await listFolder(root);
  const flat = new Map<string, string>();
  for (const entry of entries) {
    const stem = entry.isFile() ? entry.name.match(/^([^.].*)\.jsonl$/)?.[1] : undefined;
    if (stem !== undefined) flat.set(stem, join(root, entry.name));
  }
  for (const entry of entries) {
    if (!entry.isDirectory()) continue;
    const folder = join(root, entry.name);
    const ref = await refOf(entry.name, join(folder, "events.jsonl"), join(folder, "workspace.yaml"));
    if (!ref) continue; // the tool prunes logs and leaves their folders
    const older = flat.get(entry.name);
    flat.delete(entry.name);
    yield { ...ref, companions: older === undefined ? [folder] : [folder, older] };
  }
  for (const [key, path] of flat) {
    const ref = await refOf(key, path);
    if (ref) yield ref;
  }
}

async function refOf(key: string, path: string, sidecar?: string): Promise<SessionRef | undefined> {
  const info = await stat(path).catch(() => undefined);
  if (!info?.isFile()) return undefined;
  const { size, mtimeMs: mtime, birthtimeMs: born } = info;
  const ref: SessionRef = { tool: "copilot", key, path, size, mtime, born, exclusive: true };
  const side = sidecar === undefined ? undefined : await stat(sidecar).catch(() => undefined);
  // A new name changes the sidecar only.
  return side ? { ...ref, version: `${size}-${mtime}-${side.size}-${side.mtimeMs}` } : ref;
}
