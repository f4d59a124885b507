/** One file at a commit and what it was before. */
import { SessarcError } from "sessarc";
import type { Objects } from "../process/batch.ts";
import type { Repository } from "../repository/repository.ts";
import type { ChangeStatus, Changes } from "./changes.ts";
import { type CommitObject, entryAt, findEntry, percentForm, readCommit, type TreeEntry, toText } from "./objects.ts";

export interface FileAt {
  path: string;
  /** Percent-encoded bytes of a path that is no UTF-8; absent otherwise. */
  pathBytes?: string;
  mode: string;
  /** Null when binary, too large, a submodule, or deleted by this commit. Bytes that are no UTF-8 show as U+FFFD. */
  content: string | null;
  /** One of the two contents has a NUL byte among its first 8,000, git's own rule. */
  binary: boolean;
  /** One of the two contents is larger than 2 MiB. */
  tooLarge: boolean;
  /** The content before the change that made this version; null where there is none or it cannot be shown. */
  previous: string | null;
  previousPath: string | null;
  /** Commit that holds `previous` at `previousPath`: the first parent of `lastCommit`. */
  previousCommit: string | null;
  /** Commit that made this version; null when it could not be found in time. */
  lastCommit: string | null;
  /** What this commit did to the file. */
  status: ChangeStatus | "unchanged";
}

const MAX_CONTENT = 2 * 1024 * 1024;
const FOLDER = "040000";
const SUBMODULE = "160000";
/** git looks this far for a NUL byte. */
const BINARY_WINDOW = 8_000;

interface Version {
  commit: string;
  path: string;
  entry: TreeEntry;
}

interface Context {
  repo: Repository;
  objects: Objects;
  changes: Changes;
  shallow: ReadonlySet<string>;
}

export async function readFileAt(context: Context, commit: CommitObject, path: string | Uint8Array): Promise<FileAt> {
  const { objects } = context;
  const found = await findEntry(objects, commit.tree, path);
  if (!found || found.entry.mode === FOLDER) return readDeleted(context, commit, path);
  const { entry } = found;
  const here = await findOrigin(context, commit, found.path, entry);
  const origin = here ?? (await lastOrigin(context, commit, found.path, entry));
  return toFile(objects, {
    path: found.path,
    entry,
    before: origin?.before,
    lastCommit: origin?.commit ?? null,
    status: here?.status ?? "unchanged",
  });
}

/** A file that this very commit removed is shown with the content it had; any other unknown path is 404. */
async function readDeleted({ objects, shallow }: Context, commit: CommitObject, path: string | Uint8Array) {
  const parent = commit.parents[0] && (await readCommit(objects, commit.parents[0], shallow));
  const found = parent && (await findEntry(objects, parent.tree, path));
  if (!found || found.entry.mode === FOLDER) {
    const shown = typeof path === "string" ? path : Buffer.from(path).toString("utf8");
    throw new SessarcError("FILE_NOT_FOUND", { commit: commit.hash, path: shown });
  }
  const before = { commit: parent.hash, path: found.path, entry: found.entry };
  return toFile(objects, { path: found.path, entry: undefined, before, lastCommit: commit.hash, status: "deleted" });
}

interface Origin {
  commit: string;
  status: ChangeStatus;
  before: Version | undefined;
}

/** How `commit` made this version, against its first parent; undefined when it left the file alone. */
async function findOrigin(
  { repo, objects, changes, shallow }: Context,
  commit: CommitObject,
  path: string,
  entry: TreeEntry,
): Promise<Origin | undefined> {
  if (!commit.parents[0]) return { commit: commit.hash, status: "added", before: undefined };
  const parent = await readCommit(objects, commit.parents[0], shallow);
  const same = await entryAt(objects, parent.tree, path);
  if (same && same.mode !== FOLDER) {
    if (same.hash === entry.hash && same.mode === entry.mode) return undefined;
    const status = same.mode.slice(0, 2) === entry.mode.slice(0, 2) ? "modified" : "type-changed";
    return { commit: commit.hash, status, before: { commit: parent.hash, path, entry: same } };
  }
  // Only a path that is new here can be a rename, and only git's own comparison says of what.
  const { items } = await changes.between(repo, parent.hash, commit.hash);
  const source = items.find((change) => change.path === path)?.previousPath;
  const old = source === undefined ? undefined : await entryAt(objects, parent.tree, source);
  if (source === undefined || !old) return { commit: commit.hash, status: "added", before: undefined };
  return { commit: commit.hash, status: "renamed", before: { commit: parent.hash, path: source, entry: old } };
}

async function lastOrigin(context: Context, commit: CommitObject, path: string, entry: TreeEntry) {
  const { repo, objects, changes, shallow } = context;
  const last = await changes.lastChange(repo, commit.hash, path);
  return last === undefined ? undefined : findOrigin(context, await readCommit(objects, last, shallow), path, entry);
}

async function toFile(
  objects: Objects,
  file: {
    path: string;
    entry: TreeEntry | undefined;
    before: Version | undefined;
    lastCommit: string | null;
    status: FileAt["status"];
  },
): Promise<FileAt> {
  const { path, entry, before, lastCommit, status } = file;
  const [now, then] = await Promise.all([readText(objects, entry), readText(objects, before?.entry)]);
  const pathBytes = percentForm(path);
  return {
    path: toText(path),
    ...(pathBytes === undefined ? {} : { pathBytes }),
    mode: (entry ?? before?.entry)?.mode ?? "",
    content: now.text,
    binary: now.binary || then.binary,
    tooLarge: now.tooLarge || then.tooLarge,
    previous: then.text,
    previousPath: before ? toText(before.path) : null,
    previousCommit: before?.commit ?? null,
    lastCommit,
    status,
  };
}

interface Content {
  text: string | null;
  binary: boolean;
  tooLarge: boolean;
}

/** Asks for the size first: a huge file is never streamed. */
export async function readText(objects: Objects, entry: TreeEntry | undefined): Promise<Content> {
  if (!entry || entry.mode === SUBMODULE) return { text: null, binary: false, tooLarge: false };
  const info = await objects.info(entry.hash);
  if (!info) throw new SessarcError("OBJECT_MISSING", { hash: entry.hash });
  if (info.size > MAX_CONTENT) return { text: null, binary: false, tooLarge: true };
  const data = (await objects.contents(entry.hash, MAX_CONTENT))?.data;
  if (!data) throw new SessarcError("OBJECT_MISSING", { hash: entry.hash });
  const binary = data.subarray(0, BINARY_WINDOW).includes(0);
  return { text: binary ? null : data.toString("utf8"), binary, tooLarge: false };
}
