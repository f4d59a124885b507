/** Service "undelete". */
import { isAbsolute } from "node:path";
import { type Kernel, SessarcError } from "sessarc";
import { createReceipts, type Receipt, type Receipts } from "./back/receipts.ts";
import { chooseVersion } from "./history/choose.ts";
import { lineEndsOf, readContent, toView, type VersionView } from "./history/content.ts";
import { createDestroyed, type DestroyedSpan, type Destroyer } from "./history/destroyed.ts";
import { createVersionReader, findTop, toNetVersion } from "./history/files.ts";
import { type LostFile, readLost } from "./history/lost.ts";
import type { FileVersion } from "./history/version.ts";
import type { Net } from "./net/net.ts";
import type { NetCatch } from "./net/store.ts";
import { isBelow, nameOf, slashed, toFull, withoutSlash } from "./shell/paths.ts";

export interface FileHistory {
  /** The file or folder that was asked for, absolute. */
  path: string;
  /** Newest first. */
  versions: VersionView[];
  /** There are more. */
  isCut: boolean;
}

export interface FileAtVersion extends VersionView {
  /** With a line in place of each hole; null for bytes that are no UTF-8. */
  text: string | null;
  /** Base64 of bytes that are no UTF-8; else null. */
  base64: string | null;
}

export interface PutBackRequest {
  /** A file or a folder; absolute. */
  path?: string | undefined;
  /** Instead of a path: the files that this session destroyed. */
  session?: string | undefined;
  /** Instead of a path: the files that were stored before this call. */
  net?: string | undefined;
  at?: string | undefined;
  /** A folder that is not there or is empty; without it the files go to their own places. */
  to?: string | undefined;
  /** In place: files that are there are copied first and then replaced. */
  force?: boolean | undefined;
}

export interface PutBack {
  receipt: Receipt;
  files: { path: string; to: string; version: VersionView }[];
  /** Files that could not be put back, with the reason. */
  left: { path: string; reason: string }[];
}

export interface Undelete extends Pick<Receipts, "undo"> {
  /** Versions of a file, or of all files below a folder. `path`: absolute, below `~`, or the end of one path that sessions name. */
  history(path: string, limit: number): Promise<FileHistory>;
  /** Throws VERSION_NOT_FOUND, VERSION_UNKNOWN. */
  at(path: string, at: string | undefined): Promise<FileAtVersion>;
  /** Files whose last content before a call of this session is neither on the disk nor in the repository. */
  lost(session: string): Promise<LostFile[]>;
  /** The same of the 20 newest sessions of a time, newest first; only those that destroyed files. Five minutes old at most. */
  destroyed(span: DestroyedSpan): Promise<Destroyer[]>;
  /** Throws VERSION_NOT_FOUND, UNDELETE_EXISTS, UNDELETE_PARTIAL and PATH_OUTSIDE before anything is written. */
  putBack(request: PutBackRequest): Promise<PutBack>;
  receipts(): Promise<Receipt[]>;
  /** What was stored before calls destroyed it, newest first. */
  net(): Promise<NetCatch[]>;
}

const MOST_FILES = 5_000;

export function createUndelete(kernel: Kernel, net: Net): Undelete {
  const receipts = createReceipts(kernel);
  const reader = createVersionReader(kernel, net);
  const lost = (session: string) => readLost(kernel, reader, session);

  const checked = (path: string): string => {
    const full = path.includes("\0") ? undefined : toFull(path.replace(/^~(?=\/|$)/, kernel.env.home), null);
    if (full === undefined) throw new SessarcError("INVALID_INPUT", { reason: "The path must be absolute" });
    return full.length > 1 ? full.replace(/\/+$/, "") : full;
  };

  /** The version that `at` means, of each file. */
  async function choose(path: string, at: string | undefined): Promise<Chosen[]> {
    const versions = await reader.read(path);
    const files = new Map<string, FileVersion[]>();
    for (const version of versions) files.set(version.path, [...(files.get(version.path) ?? []), version]);
    const chosen: Chosen[] = [];
    for (const list of [...files.values()].slice(0, MOST_FILES)) {
      const version = await chooseVersion(kernel, list, at);
      if (version) chosen.push(await withEnds(version, list));
    }
    return chosen;
  }

  return {
    undo: receipts.undo,
    receipts: receipts.list,
    net: net.list,
    async history(wanted, limit) {
      const path = checked(await findFull(kernel, wanted));
      const versions = await reader.read(path);
      return { path, versions: versions.reverse().slice(0, limit).map(toView), isCut: versions.length > limit };
    },
    async at(wanted, at) {
      const path = checked(wanted);
      const version = (await choose(path, at)).find((one) => one.path === path);
      const content = version && (await readContent(version));
      if (!version && at !== undefined && (await choose(path, undefined)).length > 0)
        throw new SessarcError("VERSION_UNKNOWN", { path, at });
      if (!version || !content) throw new SessarcError("VERSION_NOT_FOUND", { path });
      const { text, bytes } = content;
      const lineEnds = version.load && text !== null ? (lineEndsOf(text) ?? null) : null;
      return { ...toView(version), lineEnds, text, base64: text === null ? (bytes?.toString("base64") ?? null) : null };
    },
    lost,
    destroyed: createDestroyed(kernel, lost),
    async putBack({ path: wanted, session, net: call, at, to, force }) {
      if (to !== undefined && !isAbsolute(to))
        throw new SessarcError("INVALID_INPUT", { reason: "The folder must be absolute" });
      const path = wanted === undefined ? undefined : checked(wanted);
      const chosen: Chosen[] = [];
      if (path !== undefined) chosen.push(...(await choose(path, at)));
      else if (session !== undefined)
        for (const lost of await readLost(kernel, reader, session)) {
          const found = (await choose(lost.path, lost.version.id)).find((one) => one.path === lost.path);
          if (found) chosen.push(found);
        }
      else if (call !== undefined) chosen.push(...(await readCaught(kernel, net, call)));
      const base = path ?? commonFolder(chosen.map((one) => one.path));
      if (chosen.length === 0) throw new SessarcError("VERSION_NOT_FOUND", { path: base });
      const left: PutBack["left"] = [];
      const files: { version: Chosen; bytes: Buffer }[] = [];
      for (const version of chosen) {
        const content = await readContent(version);
        const view = toView(version);
        const bytes = content?.bytes ?? (content?.text == null ? undefined : Buffer.from(content.text));
        if (!bytes) left.push({ path: version.path, reason: "its copy is gone" });
        else if (to === undefined && view.state !== "exact")
          throw new SessarcError("UNDELETE_PARTIAL", { path: version.path, state: view.state });
        else files.push({ version, bytes: withLineEnds(bytes, version) });
      }
      const nameIn = (file: string) => (file === base ? nameOf(file) : file.slice(base.length + 1));
      const receipt =
        to === undefined
          ? await receipts.inPlace(
              (await findTop(kernel, base)) ?? slashed(base === path && files.length === 1 ? parentOf(base) : base),
              files.map(({ version, bytes }) => ({ path: version.path, bytes, mode: version.mode })),
              force === true,
            )
          : await receipts.into(
              to,
              files.map(({ version, bytes }) => ({ name: nameIn(version.path), bytes, mode: version.mode })),
            );
      return {
        receipt,
        files: files.map(({ version }, i) => ({
          path: version.path,
          to: receipt.files[i]?.path ?? version.path,
          version: toView(version),
        })),
        left,
      };
    },
  };
}

/** A path without a folder becomes the file or folder that sessions name so, if it is one; else it is unchanged. */
async function findFull(kernel: Kernel, wanted: string): Promise<string> {
  const tail = `/${withoutSlash(slashed(wanted).replace(/^(?:\.\/)+/, ""))}`;
  if (/^[~/]/.test(wanted) || toFull(wanted, null) !== undefined || tail === "/") return wanted;
  const found = new Set<string>();
  for (const { cwd, paths } of await kernel.inject("archive").touching(nameOf(tail)))
    for (const path of paths) {
      const full = toFull(path, cwd) ?? "";
      const end = `${full}/`.indexOf(`${tail}/`);
      if (end >= 0) found.add(full.slice(0, end + tail.length));
    }
  const [only] = found;
  return found.size === 1 && only !== undefined ? only : wanted;
}

/** The files that were stored before a call; of those of one path the first. */
async function readCaught(kernel: Kernel, net: Net, id: string): Promise<Chosen[]> {
  const one = await net.find(id);
  if (!one) throw new SessarcError("NET_NOT_FOUND", { id });
  const session =
    one.sessionId === null ? undefined : await kernel.inject("archive").find(`${one.client}:${one.sessionId}`);
  const versions = one.files.map((file) => toNetVersion(net, one, file, session));
  const first = new Map(versions.reverse().map((version) => [version.path, version]));
  return [...first.values()].reverse().map((version) => ({ ...version, isWindows: false }));
}

interface Chosen extends FileVersion {
  /** Line ends are CRLF, as the nearest version has them that was stored as bytes. */
  isWindows: boolean;
}

/** With the line ends and permissions that a call did not show. */
async function withEnds(version: FileVersion, all: readonly FileVersion[]): Promise<Chosen> {
  if (version.load) return { ...version, isWindows: false };
  const place = all.indexOf(version);
  const stored = [...all.slice(0, place).reverse(), ...all.slice(place)].find((one) => one.load);
  const content = stored && (await readContent(stored));
  const isWindows = content?.text != null && lineEndsOf(content.text) === "crlf";
  return { ...version, mode: version.mode ?? stored?.mode ?? null, isWindows };
}

const withLineEnds = (bytes: Buffer, { isWindows }: Chosen): Buffer =>
  !isWindows ? bytes : Buffer.from(bytes.toString("utf8").replace(/\r?\n/g, "\r\n"));

const parentOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf("/")));

/** The folder that all are below. */
function commonFolder(paths: readonly string[]): string {
  let folder = parentOf(paths[0] ?? "/");
  for (const path of paths) while (!isBelow(path, folder)) folder = parentOf(folder);
  return folder;
}
