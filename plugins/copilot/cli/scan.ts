/** Finds CLI sessions: `session-state/<id>/events.jsonl`, older ones `session-state/<id>.jsonl`. */

import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { SessionRef } from "sessarc";
import { listFolder } from "sessarc/adapter";
import type { PaidRequests } from "./store.ts";

/** Directory entries, and one or two stats for each session. `requests`: of the database, which may be written after the log. */
export async function* scanCli(root: string, requests: PaidRequests): AsyncGenerator<SessionRef> {
  const entries = await listFolder(root);
  const flat = new Map<string, string>();
  for (const entry of entries) {
    const stem = entry.isFile() ? entry.name.match(/^([^.].*)\.jsonl$/)?.[1] : undefined;
    if (stem !== undefined) flat.set(stem, join(root, entry.name));
  }
  for (const entry of entries) {
    if (!entry.isDirectory()) continue;
    const folder = join(root, entry.name);
    const ref = await findRef(entry.name, join(folder, "events.jsonl"), requests, join(folder, "workspace.yaml"));
    if (!ref) continue; // the tool prunes logs and leaves their folders
    const older = flat.get(entry.name);
    flat.delete(entry.name);
    yield { ...ref, companions: older === undefined ? [folder] : [folder, older] };
  }
  for (const [key, path] of flat) {
    const ref = await findRef(key, path, requests);
    if (ref) yield ref;
  }
}

async function findRef(
  key: string,
  path: string,
  requests: PaidRequests,
  sidecar?: string,
): Promise<SessionRef | undefined> {
  const info = await stat(path).catch(() => undefined);
  if (!info?.isFile()) return undefined;
  const { size, mtimeMs: mtime, birthtimeMs: born } = info;
  const ref: SessionRef = { tool: "copilot", key, path, size, mtime, born, exclusive: true };
  // A new name changes the sidecar only, a request that was stored late the database only.
  const side = sidecar === undefined ? undefined : await stat(sidecar).catch(() => undefined);
  const stored = requests.get(key)?.at(-1)?.key;
  if (!side && stored === undefined) return ref;
  const stamps = [size, mtime, ...(side ? [side.size, side.mtimeMs] : []), ...(stored === undefined ? [] : [stored])];
  return { ...ref, version: stamps.join("-") };
}
