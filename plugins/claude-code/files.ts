/** Files as Claude Code stores them: its copies below `file-history`, the texts that its edits found, and changes it noticed. */
import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { join, posix, win32 } from "node:path";
import { type AdapterCapabilities, isRecord, type SessionRef, toIso, toText } from "sessarc";
import { listFolder, readRows } from "sessarc/adapter";

type Stored = Awaited<ReturnType<NonNullable<AdapterCapabilities["files"]["stored"]>>>[number];

/** `<hash>@v<n>`: nothing that leads out of its folder. */
const COPY = /^[\w-]{1,128}@v\d{1,9}$/;
/** The folder of projects in the path of a log, with what is before it. */
const HOME = /^(.*)[\\/]projects[\\/][^\\/]+[\\/]/s;

/** Reads the log of a session once, linear in its bytes. */
export async function storedFiles(ref: SessionRef, isWanted: (path: string) => boolean): Promise<Stored[]> {
  const found: Stored[] = [];
  const seen = new Set<string>();
  const home = HOME.exec(ref.path)?.[1];
  let cwd: string | undefined;

  const copies = (session: string | undefined, backups: unknown, stamp: unknown) => {
    if (!isRecord(backups) || home === undefined) return;
    for (const [name, backup] of Object.entries(backups)) {
      if (!isRecord(backup)) continue;
      const path = absolute(name, cwd);
      const at = toIso(backup.backupTime) ?? toIso(stamp);
      const file = toText(backup.backupFileName);
      if (at === undefined || !isWanted(path) || (file !== undefined && !COPY.test(file))) continue;
      const key = `${path}\0${file ?? at}`;
      if (seen.has(key) || (session !== undefined && !/^[\w-]{1,64}$/.test(session))) continue;
      seen.add(key);
      const stored = file === undefined ? null : join(home, "file-history", session ?? ref.key, file);
      found.push({ kind: "copy", path, at, stored });
    }
  };

  await readRows(ref.path, (row) => {
    if (!isRecord(row)) return;
    if (typeof row.cwd === "string" && row.cwd !== "") cwd ??= row.cwd;
    if (row.type === "file-history-snapshot" || row.type === "file-history-delta") {
      const snapshot = isRecord(row.snapshot) ? row.snapshot : row;
      copies(toText(row.sessionId), snapshot.trackedFileBackups, snapshot.timestamp);
    } else if (row.type === "attachment" && isRecord(row.attachment)) {
      const { type, filename } = row.attachment;
      const at = toIso(row.timestamp);
      if (type !== "edited_text_file" || typeof filename !== "string" || at === undefined) return;
      const path = absolute(filename, cwd);
      if (isWanted(path)) found.push({ kind: "changed", path, at });
    } else if (row.type === "user" && isRecord(row.toolUseResult)) {
      const { filePath, originalFile } = row.toolUseResult;
      if (typeof filePath !== "string" || typeof originalFile !== "string") return;
      const path = absolute(filePath, cwd);
      const call = isWanted(path) ? callIn(row.message) : undefined;
      if (call !== undefined) found.push({ kind: "before", call, path, text: originalFile });
    }
  });
  return found;
}

/** The copies of a file in the folders of all sessions below these homes: a copy is named by the path, so no log is needed. */
export async function copiesOf(
  path: string,
  homes: readonly string[],
): Promise<{ key: string; at: string; stored: string }[]> {
  const hash = createHash("sha256").update(path).digest("hex").slice(0, 16);
  const found: { key: string; at: string; stored: string }[] = [];
  for (const home of homes)
    for (const session of await listFolder(join(home, "file-history"))) {
      if (!session.isDirectory() || !/^[\w-]{1,64}$/.test(session.name)) continue;
      const folder = join(home, "file-history", session.name);
      for (const { name } of await listFolder(folder)) {
        if (!name.startsWith(`${hash}@v`) || !COPY.test(name)) continue;
        const info = await lstat(join(folder, name)).catch(() => undefined);
        if (info?.isFile()) found.push({ key: session.name, at: info.mtime.toISOString(), stored: join(folder, name) });
      }
    }
  return found;
}

function callIn(message: unknown): string | undefined {
  const content = isRecord(message) && Array.isArray(message.content) ? message.content : [];
  for (const block of content) if (isRecord(block) && typeof block.tool_use_id === "string") return block.tool_use_id;
  return undefined;
}

function absolute(path: string, cwd: string | undefined): string {
  const lib = /^(?:[A-Za-z]:[\\/]|\\\\)/.test(cwd ?? path) ? win32 : posix;
  return cwd === undefined ? path : lib.resolve(cwd, path);
}
