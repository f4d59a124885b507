/** Which secrets files hold now. Runs in the pool. */
import { BoundedMap } from "sessarc";
import { openRegular } from "sessarc/files";
import { toFingerprint } from "./fingerprint.ts";
import { leakScanner } from "./scanner.ts";

export interface FileFingerprints {
  path: string;
  fingerprints: readonly string[];
}

/** Larger files are not read. */
const MOST_BYTES = 1024 * 1024;
/** ms of all files of one call, and of one file. */
const BUDGET_MS = 10_000;
const FILE_MS = 500;
const MOST_KNOWN = 2_000;

/** Files by path. One is searched again when its size or its time of change differ. */
const known = new BoundedMap<string, { stamp: string; fingerprints: string[] }>(MOST_KNOWN);

/** Files that are missing, unreadable or larger than a megabyte have no answer. */
export async function fingerprintsIn(paths: readonly string[]): Promise<FileFingerprints[]> {
  const deadline = performance.now() + BUDGET_MS;
  const answers: FileFingerprints[] = [];
  for (const path of paths) {
    if (performance.now() > deadline) break;
    const fingerprints = await search(path);
    if (fingerprints.length > 0) answers.push({ path, fingerprints });
  }
  return answers;
}

async function search(path: string): Promise<readonly string[]> {
  // A file that cannot be opened is not there for this question.
  const file = await openRegular(path).catch(() => undefined);
  if (!file) return [];
  try {
    const { size, mtimeMs } = await file.stat();
    if (size > MOST_BYTES) return [];
    const stamp = `${size} ${mtimeMs}`;
    const before = known.get(path);
    if (before?.stamp === stamp) return before.fingerprints;
    const { findings } = leakScanner().scan(await file.readFile("utf8"), { path, budgetMs: FILE_MS });
    const fingerprints = [...new Set(findings.map(({ secret }) => toFingerprint(secret)))];
    known.set(path, { stamp, fingerprints });
    return fingerprints;
  } catch {
    // It went while it was read.
    return [];
  } finally {
    await file.close();
  }
}
