/** Opening: snapshot plus journal makes the catalogue as it was last acknowledged. */
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isSessarcError, SessarcError } from "../errors/error.ts";
import { messageOf } from "../utils/async.ts";
import { tempName } from "../utils/atomic.ts";
import { codeOf, ifThere, isGone } from "../utils/gone.ts";
import { isNoFile, readRegularBytes } from "../utils/regular.ts";
import { CatalogFile } from "./catalog-file.ts";
import { createImage, emptyDatabase, type Image } from "./image.ts";
import { signOf } from "./journal.ts";
import { type JournalContent, JournalDamage, readJournal } from "./journal-format.ts";
import { JOURNAL_FILE, SNAPSHOT_FILE } from "./present.ts";
import { fileOf, openSnapshot, type SnapshotHead } from "./snapshot.ts";
import { loadSqlJs } from "./sqljs.ts";
import type { Statement } from "./types.ts";

/** The journal that the last snapshot made superfluous. */
const BEFORE_FILE = "catalog.journal.before";
/** The file that a torn journal end is moved to. */
const TORN_FILE = "catalog.journal.torn";

/** Batches that are repeated in one transaction: SQLite keeps the pages that it changes in memory. */
const REPEATED = 100;

/** What is in `catalog.db`. */
export interface Snapshot extends SnapshotHead {
  bytes: number;
}

export interface Recovered {
  image: Image;
  /** Number of the last batch in the image. */
  batch: number;
  snapshot: Snapshot | undefined;
  /** `signOf` the journal before it was read. */
  sign: string;
  /** Whole bytes of the journal; 0 when there is none. */
  journalBytes: number;
  /** Bytes after them: a write that a crash cut short. */
  tornBytes: number;
  /** ms that repeating the journal took. */
  repeatMs: number;
}

/**
 * Reads the catalogue in `dir`, up to batch `last`. Writes nothing. Throws CATALOG_DAMAGED naming the file and what is wrong with it.
 *
 * The journal is read before the snapshot: when a running owner replaces both meanwhile, the newer snapshot holds what the older
 * journal begins with, so a reader without the lock sees some committed state, never a gap.
 */
export async function recover(dir: string, last = Number.POSITIVE_INFINITY): Promise<Recovered> {
  const loading = loadSqlJs();
  const sign = await signOf(join(dir, JOURNAL_FILE));
  const journalBytes = await readOwn(dir, JOURNAL_FILE);
  const sql = await loading;
  const { file = new CatalogFile(emptyDatabase()), snapshot } = readSnapshot(dir) ?? {};
  try {
    const have = snapshot?.batch ?? 0;
    const journal = journalBytes && (await withBefore(dir, snapshot, parseJournal(dir, journalBytes)));
    if (journal) checkOrder(dir, snapshot, journal);
    const missed = missedOf(journal?.groups ?? [], have, last);
    // Not `performance`: in a new thread Node 20 loads ten modules for it.
    const started = Date.now();
    const image = createImage(sql, file);
    repeat(dir, image, missed);
    return {
      image,
      batch: have + missed.length,
      sign,
      snapshot,
      journalBytes: journal?.end ?? 0,
      tornBytes: journalBytes && journal ? journalBytes.length - journal.end : 0,
      repeatMs: Date.now() - started,
    };
  } catch (error) {
    // A service tries again at every call.
    file.close();
    throw error;
  }
}

/** Batches after `have` up to `last`. */
const missedOf = (groups: JournalContent["groups"], have: number, last: number): Statement[][] =>
  groups.flatMap(({ first, batches }) => batches.filter((_, i) => first + i > have && first + i <= last));

/** Repeats the batches. Throws CATALOG_DAMAGED. */
function repeat(dir: string, image: Image, missed: readonly Statement[][]): void {
  try {
    for (let done = 0; done < missed.length; done += REPEATED) image.replay(missed.slice(done, done + REPEATED));
  } catch (error) {
    if (isSessarcError(error)) throw error;
    throw damaged(dir, JOURNAL_FILE, `a record cannot be repeated: ${messageOf(error)}`, error);
  }
}

/** Repeats on `image`, which is of batch `have`, what the journal contains after it, up to `last`. */
export async function catchUp(dir: string, image: Image, have: number, last: number): Promise<void> {
  const bytes = await readOwn(dir, JOURNAL_FILE);
  if (bytes) repeat(dir, image, missedOf(parseJournal(dir, bytes).groups, have, last));
}

/** The snapshot in `dir`. Undefined: there is none. Throws CATALOG_DAMAGED. */
export function readSnapshot(dir: string): { file: CatalogFile; snapshot: Snapshot } | undefined {
  try {
    const { source, head } = openSnapshot(join(dir, SNAPSHOT_FILE));
    return { file: fileOf(source), snapshot: { ...head, bytes: source.size } };
  } catch (error) {
    if (isGone(error)) return undefined;
    throw isNoFile(error) ? noFile(dir, SNAPSHOT_FILE, error) : error;
  }
}

/**
 * A copy that is made while a snapshot is written (`cp -r` under a running service) may hold the old snapshot and the new journal: what
 * stands between them is kept in the journal from before.
 */
async function withBefore(
  dir: string,
  snapshot: SnapshotHead | undefined,
  journal: JournalContent,
): Promise<JournalContent> {
  const have = snapshot?.batch ?? 0;
  const bytes = journal.base > have ? await readOwn(dir, BEFORE_FILE) : undefined;
  if (!bytes) return journal;
  const before = parseJournal(dir, bytes, BEFORE_FILE);
  const last = before.groups.at(-1);
  const end = last ? last.first + last.batches.length - 1 : before.base;
  const fits = before.base < have || (before.base === have && before.checksum === (snapshot?.checksum ?? 0));
  if (!fits || end < journal.base) return journal;
  const groups = [...before.groups, ...journal.groups.filter(({ first }) => first > end)];
  return { ...journal, base: before.base, checksum: before.checksum, groups };
}

/** Keeps the journal for that, where the file system has links; it costs nothing but its room until the next snapshot. */
export async function keepBefore(dir: string): Promise<void> {
  const made = join(dir, tempName());
  try {
    await link(join(dir, JOURNAL_FILE), made);
    await rename(made, join(dir, BEFORE_FILE));
  } catch (error) {
    await rm(made, { force: true });
    if (!NO_LINKS.has(codeOf(error))) throw error;
  }
}

/** No process writes any more: a copy made now is consistent. */
export const dropBefore = (dir: string): Promise<void> =>
  rm(join(dir, BEFORE_FILE), { force: true }).catch(() => {
    // It does no harm.
  });

/** There is no journal yet, or links are not to be had. */
const NO_LINKS = new Set(["ENOENT", "EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EMLINK", "EXDEV"]);

/** Puts the torn end of the journal aside, so that nothing is thrown away unseen. Answers the file's path. */
export async function keepTorn(dir: string, { journalBytes, tornBytes }: Recovered): Promise<string> {
  const bytes = await readFile(join(dir, JOURNAL_FILE));
  const path = join(dir, TORN_FILE);
  await writeFile(path, bytes.subarray(journalBytes, journalBytes + tornBytes), { mode: 0o600 });
  return path;
}

function parseJournal(dir: string, bytes: Buffer, name = JOURNAL_FILE): JournalContent {
  try {
    return readJournal(bytes);
  } catch (error) {
    if (error instanceof JournalDamage || error instanceof SyntaxError) throw damaged(dir, name, error.message, error);
    throw error;
  }
}

/** The journal continues this very snapshot, or one from before it. */
function checkOrder(dir: string, snapshot: SnapshotHead | undefined, journal: JournalContent): void {
  const have = snapshot?.batch ?? 0;
  if (journal.base > have) {
    const state = snapshot ? `ends with batch ${have}` : "is missing";
    throw damaged(dir, SNAPSHOT_FILE, `it ${state}, and ${JOURNAL_FILE} continues batch ${journal.base}`);
  }
  if (journal.base === have && journal.checksum !== (snapshot?.checksum ?? 0)) {
    throw damaged(dir, SNAPSHOT_FILE, `${JOURNAL_FILE} belongs to another snapshot`);
  }
}

/** A file of the archive; undefined when absent. Throws CATALOG_DAMAGED for anything but a file, without waiting. */
const readOwn = (dir: string, name: string): Promise<Buffer | undefined> =>
  ifThere(readRegularBytes(join(dir, name))).catch((error: unknown) => {
    throw isNoFile(error) ? noFile(dir, name, error) : error;
  });

const noFile = (dir: string, name: string, cause: unknown) => damaged(dir, name, "it is no file", cause);
const damaged = (dir: string, file: string, reason: string, cause?: unknown) =>
  new SessarcError("CATALOG_DAMAGED", { reason: `${join(dir, file)}: ${reason}` }, { cause });
