/** The branch that was checked out when a session began. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isGone } from "sessarc/files";

/** Bytes; a longer reflog is not read. */
const LIMIT = 16 * 1024 * 1024;
const MOVE = /> (\d+) [+-]\d{4}\tcheckout: moving from (\S+) to \S+$/;

/**
 * Reads the reflog of HEAD: the first checkout at or after `start` names the branch that was left. Null where no checkout followed or the
 * repository has no reflog; the branch in the session's log is right then. Logs name the last branch of a session, or the first.
 */
export async function branchAt(gitDir: string, start: string): Promise<string | null> {
  const seconds = Math.floor(Date.parse(start) / 1_000);
  for (const line of (await reflog(join(gitDir, "logs", "HEAD"))).split("\n")) {
    const [, at, branch] = MOVE.exec(line) ?? [];
    if (branch !== undefined && Number(at) >= seconds) return branch;
  }
  return null;
}

async function reflog(file: string): Promise<string> {
  try {
    const found = await stat(file);
    return found.isFile() && found.size <= LIMIT ? await readFile(file, "utf8") : "";
  } catch (error) {
    if (isGone(error)) return "";
    throw error;
  }
}
