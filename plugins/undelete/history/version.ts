/** One version of a file, as something showed it. */
import type { Doc } from "../text/doc.ts";

/** `gone`: the file was removed. `copy`: the assistant stored it before it changed it. `net`: the net did, before a call. */
export type Source = "read" | "write" | "edit" | "move" | "commit" | "copy" | "net" | "gone";

export interface SessionOf {
  id: string;
  tool: string;
  title: string | null;
}

export interface FileVersion {
  /** Absolute, with forward slashes. */
  path: string;
  /** ISO 8601; null where the log has no times. */
  at: string | null;
  source: Source;
  session: SessionOf | null;
  /** Message of the call. */
  seq: number | null;
  commit: string | null;
  /** Of the commit: the first line of its message. */
  subject?: string;
  /** What this call alone showed, where `doc` has lines that were seen earlier as well. */
  seen: Doc | null;
  /** Null where `load` has the bytes, and for a file that is gone. */
  doc: Doc | null;
  load: (() => Promise<Buffer | undefined>) | null;
  /** Permission bits, where they are known. */
  mode: number | null;
}

/** How a version is named in `--at`. */
export const idOf = ({ session, seq, commit, at }: FileVersion): string =>
  commit ?? (session ? `${session.id}#${seq ?? at ?? ""}` : (at ?? ""));

/** Oldest first; of one moment, in the order they were found. */
export const byTime = (a: FileVersion, b: FileVersion): number => toMs(a.at) - toMs(b.at);

export const toMs = (at: string | null): number => (at === null ? 0 : Date.parse(at) || 0);
