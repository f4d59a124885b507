/** What a step would do to the sandbox as it is now. One function serves preview and step, so that what is shown is what is done. */
import { SessarcError } from "sessarc";
import type { ToolAction } from "sessarc/adapter";
import type { Tree } from "../sandbox/tree.ts";
import { applyEdits, insertAfter } from "./literal.ts";
import { applyHunks, parsePatch } from "./patch.ts";
import { applyUnified, type FileChange } from "./unified.ts";

type Effect = { applies: true; changes: FileChange[] } | { applies: false; reason: string; impossible?: SessarcError };

/** Reads the files that the actions name, writes nothing. All of a step applies, or none of it. */
export async function readEffect(actions: readonly ToolAction[], tree: Pick<Tree, "read">): Promise<Effect> {
  const draft = createDraft(tree);
  let impossible: SessarcError | undefined;
  for (const action of actions) {
    const reason = await apply(action, draft).catch((error: unknown) => {
      // A step that names a path outside the sandbox, a folder or a device has no effect.
      if (!(error instanceof SessarcError)) throw error;
      if (error.code === "REPLAY_PATH_IMPOSSIBLE") impossible = error;
      return error.message;
    });
    if (impossible) return { applies: false, reason: impossible.message, impossible };
    if (reason !== undefined) return { applies: false, reason };
  }
  return { applies: true, changes: draft.changes() };
}

interface Draft {
  read(path: string): Promise<Buffer | null>;
  write(path: string, data: Buffer | null, mode?: number): void;
  modeOf(path: string): number | undefined;
  changes(): FileChange[];
}

function createDraft(tree: Pick<Tree, "read">): Draft {
  const files = new Map<string, FileChange & { was: number | undefined }>();
  return {
    async read(path) {
      const kept = files.get(path);
      if (kept) return kept.after;
      const file = await tree.read(path);
      files.set(path, { path, before: file?.data ?? null, after: file?.data ?? null, was: file?.mode });
      return file?.data ?? null;
    },
    write(path, data, mode) {
      const file = files.get(path);
      if (file) Object.assign(file, { after: data }, mode === undefined ? {} : { mode });
    },
    modeOf: (path) => files.get(path)?.mode ?? files.get(path)?.was,
    changes: () =>
      [...files.values()]
        .filter(({ before, after }) => before !== after && !(before && after && before.equals(after)))
        .map(({ was: _, ...change }) => change),
  };
}

/** Undefined when it applied, else why not. */
async function apply(action: ToolAction, draft: Draft): Promise<string | undefined> {
  switch (action.do) {
    case "write":
      await draft.read(action.path);
      return void draft.write(action.path, Buffer.from(action.text));
    case "edit":
      return put(draft, action.path, applyEdits(await draft.read(action.path), action.edits));
    case "insert":
      return put(draft, action.path, insertAfter(await draft.read(action.path), action.line, action.text));
    case "delete":
      return remove(draft, action.path);
    case "move":
      return move(draft, action.from, action.to);
    case "patch":
      return /^\s*\*\*\* Begin Patch/.test(action.text) ? patch(draft, action.text) : unified(draft, action.text);
    case "command":
      return "it runs a command";
    case "unknown":
      return action.reason;
  }
}

function put(draft: Draft, path: string, outcome: { ok: true; data: Buffer } | { ok: false; reason: string }) {
  if (!outcome.ok) return `${path}: ${outcome.reason}`;
  draft.write(path, outcome.data);
  return undefined;
}

async function remove(draft: Draft, path: string): Promise<string | undefined> {
  if ((await draft.read(path)) === null) return `${path}: the file is not there`;
  return void draft.write(path, null);
}

async function move(draft: Draft, from: string, to: string): Promise<string | undefined> {
  const data = await draft.read(from);
  if (data === null) return `${from}: the file is not there`;
  const mode = draft.modeOf(from);
  await draft.read(to);
  draft.write(from, null);
  return void draft.write(to, data, mode);
}

async function patch(draft: Draft, text: string): Promise<string | undefined> {
  const files = parsePatch(text);
  if (typeof files === "string") return `the patch cannot be read: ${files}`;
  for (const file of files) {
    const before = await draft.read(file.path);
    if (file.do === "add") draft.write(file.path, Buffer.from(file.text));
    else if (before === null) return `${file.path}: the file is not there`;
    else if (file.do === "delete") draft.write(file.path, null);
    else {
      const reason = put(draft, file.path, applyHunks(before, file.hunks));
      if (reason !== undefined) return reason;
      if (file.to !== undefined) await move(draft, file.path, file.to);
    }
  }
  return undefined;
}

async function unified(draft: Draft, text: string): Promise<string | undefined> {
  const result = await applyUnified(text, (path) => draft.read(path));
  if (typeof result === "string") return result;
  for (const { path, data } of result) draft.write(path, data);
  return undefined;
}
