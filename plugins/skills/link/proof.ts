/** Whether what is at a path is what sessarc put there. Checked in the same event-loop turn as the action. */
import { type BigIntStats, lstatSync, readlinkSync } from "node:fs";
import { relative, resolve } from "node:path";
import { isGone } from "sessarc/files";
import type { LinkRow } from "../store/catalog.ts";

type Standing = { is: "nothing" } | { is: "ours" } | { is: "other"; what: string; kind: "link" | "folder" | "file" };

/** Device, inode and birth: a file made later does not have the three, even where inodes are used again. */
const toIdentity = (stat: BigIntStats) => `${stat.dev}:${stat.ino}:${stat.birthtimeNs}`;

export const identityAt = (path: string): string | undefined => {
  const stat = statAt(path);
  return stat && toIdentity(stat);
};

/** What is at `path`; `row` is what the ledger says sessarc made there. */
export function standingAt(path: string, row: LinkRow | undefined): Standing {
  const stat = statAt(path);
  if (!stat) return { is: "nothing" };
  const mine = row !== undefined && row.state !== "making" && row.identity === toIdentity(stat);
  if (stat.isSymbolicLink()) {
    const target = readlinkSync(path);
    if (mine && row.kind === "symlink" && sameTarget(target, row.target)) return { is: "ours" };
    return { is: "other", what: `A link to ${target}`, kind: "link" };
  }
  if (stat.isDirectory()) {
    if (mine && row.kind === "copy") return { is: "ours" };
    return { is: "other", what: "A folder", kind: "folder" };
  }
  return { is: "other", what: stat.isFile() ? "A file" : "A special file", kind: "file" };
}

/** Windows answers junctions with a prefix and a closing backslash, in letters of any case. */
function sameTarget(read: string, recorded: string): boolean {
  if (read === recorded) return true;
  if (process.platform !== "win32") return false;
  const plain = (path: string) => resolve(path.replace(/^\\\\\?\\/, ""));
  return relative(plain(read), plain(recorded)) === "";
}

/** Undefined where there is nothing, also when a folder above is a file. Links are not followed. */
function statAt(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}
