/** Opening: `catalog.db` and the whole commits of its log. Writes nothing. */
import { closeSync, existsSync, fstatSync, statSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { SessarcError } from "../errors/error.ts";
import { ifThere, isGone } from "../utils/gone.ts";
import { isNoFile, openRegular, openRegularSync } from "../utils/regular.ts";
import { FORMAT, FORMAT_AT, PAGE, readFully } from "./catalog-file.ts";
import { LOG_FILE, MAIN_FILE } from "./present.ts";
import { readAt } from "./sqlite-copy.ts";
import { FRAME_HEADER, scanWal, WAL_HEADER } from "./wal.ts";

/** Frames read at once. */
const AT_ONCE = 256;
const HEADER = "SQLite format 3\0";
/** Only archives of the format before this one have it. */
const FORMER = "catalog.journal";

interface FoundLog {
  handle: FileHandle;
  /** `readSign` it before it was read. */
  sign: string;
  /** Where the newest committed content of each page is, by its number from 1. */
  pages: ReadonlyMap<number, number>;
  /** Up to the last commit. */
  bytes: number;
}

export interface FoundCatalogue {
  /** Descriptor of `catalog.db`; undefined: there is none. */
  readonly main: number | undefined;
  readonly mainIno: bigint | undefined;
  /** `readSign` it before it was read. */
  sign: string;
  log: FoundLog | undefined;
  pageCount: number;
  /**
   * False when what was found may no longer belong together: a running owner has replaced the log, and may write other pages into
   * `catalog.db`. Asked after a read, by who does not own the directory.
   */
  isCurrent(): boolean;
  /** Whether a running owner may have committed since: the log has another length. Asked before a read. */
  hasGrown(): boolean;
  /** Opens `catalog.db` that was made since. */
  openMain(): number;
  /** Closes `catalog.db`; the log's handle is closed by who uses it. */
  close(): void;
}

/** Throws CATALOG_DAMAGED naming the file and what is wrong with it, ARCHIVE_FORMAT for an archive of the format before. */
export async function findCatalogue(dir: string): Promise<FoundCatalogue> {
  const [path, logPath] = [join(dir, MAIN_FILE), join(dir, LOG_FILE)];
  if (existsSync(join(dir, FORMER))) throw new SessarcError("ARCHIVE_FORMAT", { path: join(dir, FORMER) });
  const logSign = await readSign(logPath);
  const handle = await ifThere(openRegular(logPath)).catch(noFile(logPath));
  let main: number | undefined;
  try {
    const opened = handle && (await handle.stat({ bigint: true }));
    const logIno = opened?.ino;
    const read = handle && (await readLog(handle));
    const sign = await readSign(path);
    main = openMain(path);
    if (main === undefined && read && read.pageCount > 0)
      throw damaged(path, `it is missing, and ${LOG_FILE} continues it`);
    const size = main === undefined ? PAGE : fstatSync(main).size;
    if (main !== undefined) checkHeader(path, main, handle?.fd, read?.pages.get(1));
    return {
      get main() {
        return main;
      },
      mainIno: main === undefined ? undefined : fstatSync(main, { bigint: true }).ino,
      sign,
      log: handle && read && { handle, sign: logSign, pages: read.pages, bytes: read.bytes },
      pageCount: read?.pageCount || Math.ceil(size / PAGE),
      isCurrent: () =>
        statSync(logPath, { bigint: true, throwIfNoEntry: false })?.ino === logIno &&
        (main !== undefined) === existsSync(path),
      hasGrown: () => statSync(logPath, { bigint: true, throwIfNoEntry: false })?.size !== opened?.size,
      openMain() {
        main ??= openRegularSync(path);
        return main;
      },
      close() {
        if (main !== undefined) closeSync(main);
        main = undefined;
      },
    };
  } catch (error) {
    await handle?.close();
    if (main !== undefined) closeSync(main);
    throw error;
  }
}

function openMain(path: string): number | undefined {
  try {
    return openRegularSync(path);
  } catch (error) {
    return isGone(error) ? undefined : noFile(path)(error);
  }
}

/** The first page, in the log where it is there, is that of a database with our pages. */
function checkHeader(path: string, main: number, log: number | undefined, place: number | undefined): void {
  const header = Buffer.alloc(100);
  const there = place === undefined || log === undefined ? readFully(main, header, 0) : readFully(log, header, place);
  if (there < header.length || header.toString("latin1", 0, HEADER.length) !== HEADER)
    throw damaged(path, "it is not an SQLite database");
  if (header.readUInt16BE(HEADER.length) !== PAGE || header.readUInt32BE(FORMAT_AT) !== FORMAT)
    throw new SessarcError("ARCHIVE_FORMAT", { path });
}

async function readLog(handle: FileHandle) {
  const scan = scanWal(await readAt(handle, 0, WAL_HEADER));
  // An empty or torn log adds nothing.
  if (!scan || scan.frame !== FRAME_HEADER + PAGE) return { pages: new Map<number, number>(), pageCount: 0, bytes: 0 };
  const { size } = await handle.stat();
  const length = AT_ONCE * scan.frame;
  for (let at = WAL_HEADER; at < size; at += length)
    if (!scan.add(await readAt(handle, at, Math.min(length, size - at)))) break;
  const { pages, pageCount, end } = scan.found ?? { pages: new Map<number, number>(), pageCount: 0, end: WAL_HEADER };
  return { pages, pageCount, bytes: end };
}

/** Undefined: nothing is there, or it cannot be read. */
export const findStat = (path: string) => stat(path, { bigint: true }).catch(() => undefined);

/** Tells a file from another one, and from itself after it was written to. */
export const readSign = async (path: string): Promise<string> => {
  const there = await findStat(path);
  return there ? `${there.ino} ${there.size} ${there.mtimeNs}` : "none";
};

export const findInode = async (path: string): Promise<bigint | undefined> => (await findStat(path))?.ino;

/** For `.catch`: anything but a file is CATALOG_DAMAGED; nothing waits for it. */
const noFile =
  (path: string) =>
  (error: unknown): never => {
    throw isNoFile(error) ? damaged(path, "it is no file", error) : error;
  };

const damaged = (path: string, reason: string, cause?: unknown) =>
  new SessarcError("CATALOG_DAMAGED", { reason: `${path}: ${reason}` }, { cause });
