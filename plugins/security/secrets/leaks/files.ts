/** Which secrets files hold now. Runs in the pool. */
import { BoundedMap } from "sessarc";
import { openRegular } from "sessarc/files";
import { toFingerprint } from "./fingerprint.ts";
import { leakScanner } from "./scanner.ts";

export interface FileFingerprints {
  path: string;
  /** Each secret of the file once, with the line (from 1) where it begins first. */
  secrets: readonly { fingerprint: string; line: number }[];
}

/** Larger files are not read. */
const MOST_BYTES = 1024 * 1024;
/** ms of all files of one call, and of one file. */
const BUDGET_MS = 10_000;
const FILE_MS = 500;
const MOST_KNOWN = 2_000;

/** Files by path. One is searched again when its size or its time of change differ. */
const known = new BoundedMap<string, { stamp: string; secrets: FileFingerprints["secrets"] }>(MOST_KNOWN);

/** Files that are missing, unreadable or larger than a megabyte have no answer. */
export async function fingerprintsIn(paths: readonly string[]): Promise<FileFingerprints[]> {
  const deadline = performance.now() + BUDGET_MS;
  const answers: FileFingerprints[] = [];
  for (const path of paths) {
    if (performance.now() > deadline) break;
    const secrets = await search(path);
    if (secrets.length > 0) answers.push({ path, secrets });
  }
  return answers;
}

async function search(path: string): Promise<FileFingerprints["secrets"]> {
  // A file that cannot be opened is not there for this question.
  const file = await openRegular(path).catch(() => undefined);
  if (!file) return [];
  try {
    const { size, mtimeMs } = await file.stat();
    if (size > MOST_BYTES) return [];
    const stamp = `${size} ${mtimeMs}`;
    const before = known.get(path);
    if (before?.stamp === stamp) return before.secrets;
    const text = await file.readFile("utf8");
    const { findings } = leakScanner().scan(text, { path, budgetMs: FILE_MS });
    const lines = new Map<string, number>();
    for (const { secret, start } of findings) {
      const fingerprint = toFingerprint(secret);
      const line = text.slice(0, start).split("\n").length;
      lines.set(fingerprint, Math.min(line, lines.get(fingerprint) ?? line));
    }
    const secrets = [...lines].map(([fingerprint, line]) => ({ fingerprint, line }));
    known.set(path, { stamp, secrets });
    return secrets;
  } catch {
    // It went while it was read.
    return [];
  } finally {
    await file.close();
  }
}
