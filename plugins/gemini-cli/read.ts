/** One chat file, whole: records are edited in place, so nothing can be said before the last one is read. */

import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SessarcError, type SessionRef, type SessionSummary, toRecord } from "sessarc";
import { type NewEvent, parseDocument, readRows, type SkippedRows, storedOutput } from "sessarc/adapter";
import { readRegular } from "sessarc/files";
import { toEvents, toSummary } from "./events.ts";
import { createFold, type Fold } from "./fold.ts";

/** Old one-document files are parsed as one text. */
const MAX_DOCUMENT = 256 * 1024 * 1024;

interface Chat {
  events: NewEvent[];
  summary: SessionSummary;
}

/** Outputs over 40,000 characters are in the project's folder `tool-outputs/session-<id>`, of earlier versions in `tool_output`. */
function withOutput(event: NewEvent, path: string): NewEvent {
  const named = event.kind === "tool_result" ? OUTPUT.exec(event.text.slice(0, OUTPUT_HEAD))?.[1] : undefined;
  if (named === undefined) return event;
  const project = dirname(dirname(path));
  const session = /[\\/](session-[\w-]+)[\\/][^\\/]+$/.exec(named)?.[1];
  const folders = [...(session ? [join(project, "tool-outputs", session)] : []), join(project, "tool_output")];
  return { ...event, ...storedOutput(event.text, named, folders) };
}

const OUTPUT = /^(?:<tool_output_masked>\s*)?Output too large\.[^\n]{0,200}? For full output see: ([^\n]+)\n/;
const OUTPUT_HEAD = 5_000;

/**
 * Reads `.json` documents and `.jsonl` logs. Content that cannot be read is counted in `summary.skipped`.
 * Rejects with the file system's error, or SOURCE_TOO_LARGE for a document over 256 MB. Memory: the whole conversation.
 */
export async function readChat(ref: SessionRef): Promise<Chat> {
  const fold = createFold();
  const read = ref.path.endsWith(".json") ? await foldDocument(ref, fold) : await readRows(ref.path, fold.row);
  const conversation = fold.result();
  const unknown = conversation.unknown;
  const events = toEvents(conversation, unknown).map((event) => withOutput(event, ref.path));
  const skipped = { ...read, lines: read.lines + conversation.bad, unknown };
  return { events, summary: toSummary(ref, conversation, events, skipped) };
}

async function foldDocument({ key, path }: SessionRef, fold: Fold): Promise<SkippedRows> {
  const { size } = await stat(path);
  if (size > MAX_DOCUMENT)
    throw new SessarcError("SOURCE_TOO_LARGE", {
      id: `gemini-cli:${key}`,
      bytes: size,
      limit: MAX_DOCUMENT,
      remedy: "Open the chat in Gemini CLI once: it moves it to the line format, which has no limit.",
    });
  const text = await readRegular(path);
  if (text.trim() === "") return { lines: 0 };
  const { value, whole } = parseDocument(text);
  if (value === undefined) return { lines: 1 };
  fold.row({ $set: toRecord(value) });
  return whole ? { lines: 0 } : { lines: 0, pending: 1 };
}
