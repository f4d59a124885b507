/** Folders of Kimi Code's sessions that their own files do not name: the indexes of sessions and workspaces, and other sessions. */
import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseRecord, toRecord, toText } from "sessarc";
import { readFolder, readRecord, rememberByFile, textBeside } from "sessarc/adapter";

/** Sessions of a workspace that are asked for its folder. */
const SIBLINGS = 16;

const indexed = rememberByFile((path) => {
  const folders = new Map<string, string>();
  for (const line of textBeside(path)?.split("\n") ?? []) {
    const { sessionId, sessionDir, workDir } = parseRecord(line) ?? {};
    const cwd = toText(workDir);
    if (cwd === undefined) continue;
    for (const id of [toText(sessionId), toText(sessionDir)?.split(/[\\/]/).at(-1)]) if (id) folders.set(id, cwd);
  }
  return folders;
});

/** `session`: its folder, `<home>/sessions/<workspace>/<id>`. A workspace is one folder, so that its sessions share it. */
export function folderOfSession(session: string): string | undefined {
  const workspace = dirname(session);
  const index = join(dirname(dirname(workspace)), "session_index.jsonl");
  const found = statSync(index, { throwIfNoEntry: false });
  const named =
    found?.isFile() && indexed({ path: index, size: found.size, mtime: found.mtimeMs }).get(basename(session));
  if (named) return named;
  const registered = readRecord(join(dirname(dirname(workspace)), "workspaces.json")) ?? {};
  const entry = toRecord(toRecord(registered.workspaces ?? registered)[basename(workspace)]);
  const root = toText(entry.root) ?? toText(entry.path);
  if (root !== undefined) return root;
  for (const { name } of readFolder(workspace).slice(0, SIBLINGS)) {
    const cwd = toText(readRecord(join(workspace, name, "state.json"))?.cwd);
    if (cwd !== undefined) return cwd;
  }
  return undefined;
}
