/** One chat file, whole: operations reach back to any earlier part. */

import { stat } from "node:fs/promises";
import { SessarcError, type SessionRef, type SessionSummary, toIso, toRecord, toText } from "sessarc";
import { type NewEvent, parseDocument, readRows, toTitle } from "sessarc/adapter";
import { readRegular } from "sessarc/files";
import { toEvents, toSummary, toVirtualProject } from "./events.ts";
import { createObjectLog } from "./oplog.ts";

const MAX_DOCUMENT = 256 * 1024 * 1024;
/** Larger chats are not looked into for a listing. */
const PEEK = 512 * 1024;

interface Chat {
  events: NewEvent[];
  summary: SessionSummary;
}

interface Loaded {
  value: unknown;
  lines: number;
  pending?: number | undefined;
}

/**
 * Reads `.json` documents and `.jsonl` operation logs. What cannot be read is counted in `summary.skipped`. Rejects with
 * the file system's error, or SOURCE_TOO_LARGE for a document over 256 MB. Memory: the whole chat.
 */
export async function readChat(ref: SessionRef): Promise<Chat> {
  const { value, lines, pending } = ref.path.endsWith(".json") ? await loadDocument(ref) : await loadLog(ref.path);
  const document = toRecord(value);
  const unknown: Record<string, number> = {};
  const events = toEvents(document, unknown);
  return { events, summary: toSummary(ref, document, events, { lines, pending, unknown }) };
}

/** Title and start of a chat up to 512 KB; only the folder of larger ones. */
export async function peekChat(
  ref: SessionRef,
): Promise<Pick<SessionSummary, "title" | "cwd" | "startedAt" | "virtualProject">> {
  const { size } = await stat(ref.path);
  const virtualProject = toVirtualProject(ref);
  if (size > PEEK) return { title: ref.title, cwd: ref.cwd, virtualProject };
  const { value } = ref.path.endsWith(".json") ? await loadDocument(ref) : await loadLog(ref.path);
  const document = toRecord(value);
  const first = Array.isArray(document.requests) ? toRecord(document.requests[0]) : {};
  const prompt = typeof first.message === "string" ? first.message : toText(toRecord(first.message).text);
  return {
    title: toTitle(toText(document.customTitle)) ?? toTitle(prompt),
    cwd: ref.cwd,
    virtualProject,
    startedAt: toIso(document.creationDate) ?? toIso(first.timestamp),
  };
}

async function loadLog(path: string): Promise<Loaded> {
  const log = createObjectLog();
  let bad = 0;
  const { lines, pending } = await readRows(path, (row) => {
    if (!log.apply(row)) bad++;
  });
  return { value: log.value(), lines: bad + lines, pending };
}

async function loadDocument({ key, path }: SessionRef): Promise<Loaded> {
  const { size } = await stat(path);
  if (size > MAX_DOCUMENT) {
    const remedy = "Open the chat in VS Code once: it moves it to the operation log, which has no limit.";
    throw new SessarcError("SOURCE_TOO_LARGE", { id: `copilot:${key}`, bytes: size, limit: MAX_DOCUMENT, remedy });
  }
  const text = await readRegular(path);
  if (text.trim() === "") return { value: undefined, lines: 0 };
  const { value, whole } = parseDocument(text);
  if (value === undefined) return { value, lines: 1 };
  return { value, lines: 0, pending: whole ? undefined : 1 };
}
