/** All versions of a file, or of the files below a folder, over all sessions and the repository. */
import { lstat } from "node:fs/promises";
import { BoundedMap, type Kernel, mustYield, type Services, yieldNow } from "sessarc";
import type { Net } from "../net/net.ts";
import type { NetCatch, NetFile } from "../net/store.ts";
import { isBelow, nameOf, slashed, toFull } from "../shell/paths.ts";
import { readCopy } from "./copy.ts";
import { readSession, toSessionOf } from "./session.ts";
import { byTime, type FileVersion } from "./version.ts";

const MOST_OBJECT = 64 * 2 ** 20;

export interface VersionReader {
  /** `path`: absolute, a file or a folder. Cost: each session that named it is read once, and one `git log`. */
  read(path: string): Promise<FileVersion[]>;
  /** Without commits, of several paths: each session is read once for all of them. */
  readAll(paths: readonly string[]): Promise<Map<string, FileVersion[]>>;
  /** What the net stored before calls of a session. */
  caught(session: string): Promise<FileVersion[]>;
}

/** Paths whose versions are cached until the archive changes: a list is followed by questions about its rows. */
const CACHED = 2;

export function createVersionReader(kernel: Kernel, net: Net): VersionReader {
  const cached = new BoundedMap<string, FileVersion[]>(CACHED);
  let generation = -1;
  return {
    caught: async (id) => {
      const session = await kernel.inject("archive").get(id);
      const own = (await net.list()).filter(({ client, sessionId }) => `${client}:${sessionId}` === id);
      return own.flatMap((one) => one.files.map((file) => toNetVersion(net, one, file, session)));
    },
    async readAll(paths) {
      const versions = await readSessions(kernel, paths.map(toWanted));
      const all = new Map<string, FileVersion[]>();
      for (const path of paths) {
        const wanted = toWanted(path);
        const own = versions.filter((one) => isBelow(one.path, wanted));
        all.set(path, unique([...own, ...(await readStored(kernel, net, wanted))].sort(byTime)));
      }
      return all;
    },
    async read(path) {
      const archive = kernel.inject("archive");
      const wanted = toWanted(path);
      if (generation !== archive.generation) cached.clear();
      generation = archive.generation;
      const known = cached.use(wanted);
      const versions = known ?? (await readSessions(kernel, [wanted]));
      cached.set(wanted, versions);
      const commits = await readCommits(kernel, wanted);
      return unique([...versions, ...commits, ...(await readStored(kernel, net, wanted))].sort(byTime));
    },
  };
}

const toWanted = (path: string): string => slashed(path).replace(/(?<=.)\/+$/, "");

/** Each session that named or may have changed one of the paths is read once. */
async function readSessions(kernel: Kernel, all: readonly string[]): Promise<FileVersion[]> {
  const archive = kernel.inject("archive");
  const wantedBy = new Map<string, string[]>();
  for (const wanted of all)
    for (const { id, cwd, paths } of await archive.touching(nameOf(wanted), wanted)) {
      const names = paths.some((one) => isBelow(toFull(one, cwd) ?? "", wanted));
      // Commands name their files in no list: those of sessions around the file may have moved or removed it.
      if (names || (cwd !== null && (isBelow(wanted, slashed(cwd)) || isBelow(slashed(cwd), wanted))))
        wantedBy.set(id, [...(wantedBy.get(id) ?? []), wanted]);
    }
  const versions: FileVersion[] = [];
  for (const [id, wanted] of wantedBy) {
    const isWanted = (one: string) => wanted.some((path) => isBelow(one, path));
    const session = await archive.find(id);
    if (session) await readSession(kernel, session, isWanted, { version: (version) => void versions.push(version) });
    if (mustYield()) await yieldNow();
  }
  return versions;
}

/** What the net and assistants stored of the files. */
const readStored = async (kernel: Kernel, net: Net, wanted: string): Promise<FileVersion[]> => [
  ...(await readNet(kernel, net, wanted)),
  ...(await readCopies(kernel, wanted)),
];

/** Copies that assistants stored of the file in sessions whose logs are gone. */
async function readCopies(kernel: Kernel, wanted: string): Promise<FileVersion[]> {
  const archive = kernel.inject("archive");
  const versions: FileVersion[] = [];
  for (const { name, files } of kernel.registry.adapters.values())
    for (const { key, at, stored } of (await files?.copies?.(wanted, kernel.env)) ?? []) {
      const session = await archive.find(`${name}:${key}`);
      // With its log the session has named the copy itself.
      if (session && (await lstat(archive.ref(session).path).catch(() => undefined))) continue;
      const copy = await readCopy(stored);
      if (!copy) continue;
      versions.push({
        ...{ path: wanted, at, source: "copy", seq: null, commit: null, doc: null, seen: null },
        session: session ? toSessionOf(session) : null,
        ...copy,
      });
    }
  return versions;
}

/** What was stored before calls that destroyed it. */
async function readNet(kernel: Kernel, net: Net, wanted: string): Promise<FileVersion[]> {
  const versions: FileVersion[] = [];
  for (const one of await net.list()) {
    const files = one.files.filter(({ path }) => isBelow(slashed(path), wanted));
    if (files.length === 0) continue;
    const session =
      one.sessionId === null ? undefined : await kernel.inject("archive").find(`${one.client}:${one.sessionId}`);
    versions.push(...files.map((file) => toNetVersion(net, one, file, session)));
  }
  return versions;
}

/** A version that the net stored. */
export function toNetVersion(net: Net, { at }: NetCatch, file: NetFile, session: Archived | undefined): FileVersion {
  return {
    ...{ path: slashed(file.path), at, source: "net", seq: null, commit: null, doc: null, seen: null, mode: file.mode },
    session: session ? toSessionOf(session) : null,
    load: () => net.get(file.hash),
  };
}

type Archived = Awaited<ReturnType<Services["archive"]["get"]>>;

/** A resumed or forked session repeats the messages of the one it came from. */
function unique(versions: readonly FileVersion[]): FileVersion[] {
  const seen = new Set<string>();
  return versions.filter(({ path, at, source, commit, doc, seq }) => {
    if (at === null) return true;
    const key = JSON.stringify([path, at, source, commit, doc === null ? seq : doc.pieces]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Versions in the repository around the path, if there is one. */
async function readCommits(kernel: Kernel, path: string): Promise<FileVersion[]> {
  const git = kernel.find("git");
  const top = git && (await findTop(kernel, path));
  if (!git || top === undefined) return [];
  const changes = await git.fileChanges(top, path === top ? "" : path.slice(top.length + 1)).catch(() => []);
  return changes.map(({ hash, at, subject, path: file, blob, mode }) => ({
    ...{
      path: `${top}/${file}`,
      at: new Date(at).toISOString(),
      session: null,
      seq: null,
      commit: hash,
      subject,
      doc: null,
      seen: null,
    },
    source: blob === null ? "gone" : "commit",
    load: blob === null ? null : () => git.object(top, blob, MOST_OBJECT),
    mode: blob === null ? null : Number.parseInt(mode, 8) & 0o777,
  }));
}

/** The work tree around a path, which itself may be gone. */
export async function findTop(kernel: Kernel, path: string): Promise<string | undefined> {
  const git = kernel.find("git");
  for (let folder = path; git && folder.includes("/"); folder = folder.slice(0, folder.lastIndexOf("/"))) {
    const found = await git.identity(folder, { rootCommits: false });
    if (found.kind !== "repository") continue;
    return found.worktree !== null && isBelow(path, slashed(found.worktree)) ? slashed(found.worktree) : undefined;
  }
  return undefined;
}
