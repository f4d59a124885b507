/** What a session destroyed: files whose content from before is neither on the disk nor in the repository. */
import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import type { Kernel } from "sessarc";
import { openRegular } from "sessarc/files";
import { isBelow } from "../shell/paths.ts";
import { textOf } from "../text/doc.ts";
import { readContent, toView, type VersionView } from "./content.ts";
import { readCopy } from "./copy.ts";
import { findTop, type VersionReader } from "./files.ts";
import { type HarmDone, readSession } from "./session.ts";
import { type FileVersion, toMs } from "./version.ts";

export interface LostFile {
  path: string;
  /** What did it: `rm`, `git clean`, `write`. */
  how: string;
  /** The shell command; null for another tool. */
  command: string | null;
  at: string | null;
  /** Message of the call. */
  seq: number;
  /** The last version that is known from before; its `id` is what `at` takes. */
  version: VersionView;
}

/** Calls of a session whose effects are looked into, and files that are compared. */
const MOST_HARMS = 200;
const MOST_FILES = 2_000;
const MOST_BYTES = 64 * 2 ** 20;
/** They act on the whole repository, wherever it is. */
const WIDE = /^git (?:clean|reset|stash|checkout$)/;

interface Candidate {
  harm: HarmDone;
  version: FileVersion;
}

export async function readLost(kernel: Kernel, reader: VersionReader, id: string): Promise<LostFile[]> {
  const session = await kernel.inject("archive").get(id);
  const tops = new Map<string, string | undefined>();
  const topOf = async (path: string) => {
    if (!tops.has(path)) tops.set(path, await findTop(kernel, path));
    return tops.get(path);
  };
  const known = new Map<string, FileVersion>();
  const candidates = new Map<string, Candidate>();
  const harms: HarmDone[] = [];
  await readSession(kernel, session, () => true, {
    version(version) {
      const { path, source, doc } = version;
      const waiting = candidates.get(path);
      // A later look, or an edit that its assistant checked, shows that the content survived.
      if (waiting && doc && source !== "write" && doc.isChecked && isSame(waiting.version, version, source))
        candidates.delete(path);
      if (source === "gone") known.delete(path);
      else if (source === "copy") return;
      else
        known.set(
          path,
          source === "edit" && known.get(path)?.source === "write" ? { ...version, source: "write" } : version,
        );
    },
    harm(harm) {
      if (harms.length < MOST_HARMS) harms.push(harm);
      for (const [path, version] of known) {
        const covers = WIDE.test(harm.how) ? true : isBelow(path, harm.path);
        // What the session wrote itself, it may write again.
        if (covers && !(harm.how === "write" && version.source === "write")) candidates.set(path, { harm, version });
      }
    },
  });
  await addUnseen(reader, session.id, harms, known, candidates, topOf);
  await addCaught(reader, session.id, harms, candidates);
  const lost: LostFile[] = [];
  for (const [path, { harm, version }] of [...candidates].slice(0, MOST_FILES)) {
    if (WIDE.test(harm.how)) {
      const top = (await topOf(harm.path)) ?? harm.path;
      if (!isBelow(path, top)) continue;
    }
    if (await survives(kernel, version, await topOf(path))) continue;
    const { how, command, at, seq } = harm;
    lost.push({ path, how, command, at, seq, version: toView(version) });
  }
  return lost;
}

/** Files that the session destroyed without having read them: other sessions may have. */
async function addUnseen(
  reader: VersionReader,
  id: string,
  harms: readonly HarmDone[],
  known: ReadonlyMap<string, FileVersion>,
  candidates: Map<string, Candidate>,
  topOf: (path: string) => Promise<string | undefined>,
) {
  /** By path, the first harm to it. */
  const first = new Map<string, HarmDone>();
  for (const harm of harms) {
    const path = WIDE.test(harm.how) ? ((await topOf(harm.path)) ?? harm.path) : harm.path;
    if (!first.has(path)) first.set(path, harm);
  }
  const all = await reader.readAll([...first.keys()]);
  for (const [path, harm] of first) {
    const versions = all.get(path) ?? [];
    const last = new Map<string, FileVersion>();
    for (const version of versions) {
      if (version.session?.id === id || toMs(version.at) > toMs(harm.at)) continue;
      if (version.source === "gone") last.delete(version.path);
      else last.set(version.path, version);
    }
    for (const [file, version] of last) {
      const own = candidates.get(file)?.version ?? known.get(file);
      if (!own || toMs(own.at) < toMs(version.at)) candidates.set(file, { harm, version });
    }
  }
}

/** Files that the net stored before a call of this session. */
async function addCaught(
  reader: VersionReader,
  id: string,
  harms: readonly HarmDone[],
  candidates: Map<string, Candidate>,
) {
  for (const version of await reader.caught(id)) {
    const at = toMs(version.at);
    const covering = harms.filter((harm) => WIDE.test(harm.how) || isBelow(version.path, harm.path));
    // The hook ran between the call and its result, which has the time of the harm.
    const [harm] = [...covering].sort((a, b) => Math.abs(toMs(a.at) - at) - Math.abs(toMs(b.at) - at));
    if (harm) candidates.set(version.path, { harm, version });
  }
}

function isSame(before: FileVersion, after: FileVersion, source: FileVersion["source"]): boolean {
  if (source === "edit") return true;
  const [a, b] = [before.doc && textOf(before.doc), after.doc && textOf(after.doc)];
  return a !== null && a !== undefined && a === b;
}

/** Whether the content is still on the disk, or an object of the repository. Of a part, whether all of it is. */
async function survives(kernel: Kernel, version: FileVersion, top: string | undefined): Promise<boolean> {
  const parts = await partsOf(version);
  if (parts.length === 0) return version.load ? bytesSurvive(kernel, version, top) : true;
  const disk = await readDisk(version.path);
  if (disk !== undefined && holds(disk, parts)) return true;
  const git = kernel.find("git");
  if (!git || top === undefined) return false;
  if (parts.length === 1 && parts[0]?.isWhole) {
    const text = parts[0].text;
    for (const one of new Set([text, text.replace(/\n/g, "\r\n")]))
      if (await git.object(top, blobName(Buffer.from(one)), MOST_BYTES).catch(() => undefined)) return true;
    return false;
  }
  // A part has no name in the repository: it is compared with each version there.
  const changes = await git.fileChanges(top, version.path.slice(top.length + 1)).catch(() => []);
  for (const { blob } of changes.slice(0, 50)) {
    const bytes = blob === null ? undefined : await git.object(top, blob, MOST_BYTES).catch(() => undefined);
    if (bytes && holds(lf(bytes), parts)) return true;
  }
  return false;
}

/** Of bytes that are no text, or of an empty file. */
async function bytesSurvive(kernel: Kernel, { path, load }: FileVersion, top: string | undefined): Promise<boolean> {
  const bytes = await load?.();
  if (!bytes) return true;
  const copy = await readCopy(path);
  if ((await copy?.load())?.equals(bytes)) return true;
  const git = kernel.find("git");
  if (!git || top === undefined) return false;
  return (await git.object(top, blobName(bytes), MOST_BYTES).catch(() => undefined)) !== undefined;
}

interface Part {
  text: string;
  isWhole: boolean;
}

async function partsOf(version: FileVersion): Promise<Part[]> {
  if (!version.doc) {
    const content = await readContent(version);
    return content?.text ? [{ text: content.text.replace(/\r\n/g, "\n"), isWhole: true }] : [];
  }
  const isWhole = textOf(version.doc) !== undefined;
  return version.doc.pieces.flatMap((piece) => ("text" in piece ? [{ text: piece.text, isWhole }] : []));
}

/** An appended file still has what it had. */
function holds(text: string, parts: readonly Part[]): boolean {
  let from = 0;
  for (const { text: part, isWhole } of parts) {
    if (isWhole && !text.startsWith(part)) return false;
    const found = text.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return true;
}

async function readDisk(path: string): Promise<string | undefined> {
  const info = await lstat(path).catch(() => undefined);
  if (!info?.isFile() || info.size > MOST_BYTES) return undefined;
  const file = await openRegular(path).catch(() => undefined);
  try {
    return file && lf(await file.readFile());
  } finally {
    await file?.close();
  }
}

const lf = (bytes: Buffer): string => bytes.toString("utf8").replace(/\r\n/g, "\n");

/** The name of a content as git gives it (SHA-1 repositories). */
function blobName(bytes: Buffer): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}
