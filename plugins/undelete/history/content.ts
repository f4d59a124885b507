/** A version with its content, and how it is shown. */
import { countLines, type Doc, holesOf, knownLines, type LineRange, textOf, toMarked } from "../text/doc.ts";
import { type FileVersion, idOf, type Source } from "./version.ts";

export type LineEnds = "lf" | "crlf" | "mixed";

/** A version of a file as the API answers it. */
export interface VersionView {
  /** What `at` takes: `<session>#<message>`, a commit, or a time. */
  id: string;
  path: string;
  at: string | null;
  source: Source;
  sessionId: string | null;
  tool: string | null;
  /** Of the session, or the first line of the commit's message. */
  title: string | null;
  seq: number | null;
  commit: string | null;
  /** `exact`; `exact to line n`: all that is not known follows that line; `partial`: there are holes; `gone`: the file was removed. */
  state: "exact" | `exact to line ${number}` | "partial" | "gone";
  /** Some lines were seen earlier in the session, and nothing shows that they were unchanged; `seen` are the lines of this call. */
  isAssumed: boolean;
  seen: LineRange | null;
  holes: LineRange[];
  /** Null where it is not known. */
  lines: number | null;
  /** Null: the call showed the lines, not how they end. */
  lineEnds: LineEnds | null;
  /** Permission bits; null where nothing recorded them. */
  mode: number | null;
}

export interface Content {
  /** The bytes of a version that was stored as bytes, or whose text is all known. */
  bytes: Buffer | null;
  /** The text, with a line in place of each hole; null for bytes that are no UTF-8. */
  text: string | null;
}

export function toView(version: FileVersion): VersionView {
  const { path, at, source, session, seq, commit, subject, doc, mode, seen } = version;
  const lines = doc ? textOf(doc) : undefined;
  return {
    ...{ id: idOf(version), path, at, source, seq, commit, mode },
    ...{ sessionId: session?.id ?? null, tool: session?.tool ?? null, title: session?.title ?? subject ?? null },
    state: stateOf(version),
    isAssumed: doc?.isChecked === false,
    seen: seen ? rangeOf(seen) : null,
    holes: doc ? holesOf(doc) : [],
    lines: lines === undefined ? null : countLines(lines),
    lineEnds: null,
  };
}

function stateOf({ source, doc, load }: FileVersion): VersionView["state"] {
  if (source === "gone") return "gone";
  if (load) return "exact";
  if (!doc) return "partial";
  const known = knownLines(doc);
  if (known !== undefined && doc.isChecked) return `exact to line ${known}`;
  return doc.isChecked && textOf(doc) !== undefined ? "exact" : "partial";
}

/** The lines that a read of a part showed. */
function rangeOf(doc: Doc): LineRange {
  let line = 1;
  for (const piece of doc.pieces) {
    if ("text" in piece) return { from: line, to: line + countLines(piece.text) - 1 };
    if (piece.hole === null) break;
    line += piece.hole;
  }
  return { from: null, to: null };
}

/** Undefined where the copy or the object is gone by now. */
export async function readContent(version: FileVersion): Promise<Content | undefined> {
  const { doc, load } = version;
  if (doc) {
    const text = textOf(doc);
    return text === undefined ? { bytes: null, text: toMarked(doc) } : { bytes: Buffer.from(text), text };
  }
  const bytes = await load?.();
  return bytes && { bytes, text: toText(bytes) };
}

export function toText(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null;
  const text = bytes.toString("utf8");
  return Buffer.from(text).equals(bytes) ? text : null;
}

/** Undefined for a text without a line end. */
export function lineEndsOf(text: string): LineEnds | undefined {
  const all = text.split("\n").length - 1;
  const windows = text.split("\r\n").length - 1;
  if (all === 0) return undefined;
  return windows === 0 ? "lf" : windows === all ? "crlf" : "mixed";
}
