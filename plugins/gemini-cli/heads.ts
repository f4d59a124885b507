/** Who a chat file belongs to, from its first bytes; remembered until the file changes. */

import { BoundedMap, isRecord, toList, toRecord, toText } from "sessarc";
import { parseDocument } from "sessarc/adapter";
import { openRegular } from "sessarc/files";
import { userText } from "./content.ts";

const HEAD = 64 * 1024;
const TAIL = 4 * 1024;
const KEPT = 20_000;
const SAFE_ID = /^[\w.-]{1,128}$/;

export interface Head {
  sessionId?: string | undefined;
  projectHash?: string | undefined;
  /** A log without a message of a person or the model: a header, notes, the start-up context that a resume writes. */
  silent?: boolean | undefined;
}

export interface FileStat {
  path: string;
  size: number;
  mtimeMs: number;
  birthtimeMs: number;
}

export interface Heads {
  /** Reads at most 68 KB of a file it does not know yet; none of one it does. */
  of(file: FileStat): Promise<Head>;
}

export function createHeads(): Heads {
  const known = new BoundedMap<string, { size: number; mtimeMs: number; head: Head }>(KEPT);
  return {
    async of(file) {
      const before = known.get(file.path);
      if (before && before.size === file.size && before.mtimeMs === file.mtimeMs) return before.head;
      const head = await readHead(file);
      known.set(file.path, { size: file.size, mtimeMs: file.mtimeMs, head });
      return head;
    },
  };
}

async function readHead({ path, size }: FileStat): Promise<Head> {
  const file = await openRegular(path);
  try {
    const bytes = Buffer.alloc(Math.min(size, HEAD));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    const text = bytes.toString("utf8", 0, bytesRead);
    if (path.endsWith(".jsonl"))
      return { ...fromLines(text), silent: size <= HEAD && text.split("\n").every(isSilent) };
    if (size <= HEAD) return fromFields(parseDocument(text).value);
    // Real documents start with the id; sorted ones end with it.
    const end = Buffer.alloc(TAIL);
    await file.read(end, 0, TAIL, size - TAIL);
    const tail = end.toString("utf8");
    return {
      sessionId: safe(find(text, "sessionId") ?? find(tail, "sessionId")),
      projectHash: find(text, "projectHash") ?? find(tail, "projectHash"),
    };
  } finally {
    await file.close();
  }
}

function fromLines(text: string): Head {
  for (const line of text.split("\n", 5)) {
    const head = fromFields(parseDocument(line).value);
    if (head.sessionId !== undefined) return head;
  }
  return {};
}

/** Whether a row holds no message of a person or the model. A row that cannot be parsed may hold one. */
function isSilent(line: string): boolean {
  if (line.trim() === "") return true;
  const { value } = parseDocument(line);
  if (!isRecord(value)) return false;
  const { messages } = toRecord(value.$set);
  return messages === undefined ? isInjected(value) : toList(messages).every(isInjected);
}

/** A row other than a message, or a user message with nothing but what the assistant added (`<session_context>`). */
function isInjected(row: unknown): boolean {
  if (!isRecord(row)) return false;
  if (row.type !== "user") return row.type !== "gemini";
  const { typed, injected } = userText(row);
  return typed === "" && injected !== "";
}

function fromFields(value: unknown): Head {
  if (!isRecord(value)) return {};
  return { sessionId: safe(toText(value.sessionId)), projectHash: toText(value.projectHash) };
}

function safe(id: string | undefined): string | undefined {
  return id !== undefined && SAFE_ID.test(id) ? id : undefined;
}

/** `"name": "value"` as written by a serialiser, not inside another string. */
function find(text: string, name: "sessionId" | "projectHash"): string | undefined {
  return text.match(new RegExp(`(?<!\\\\)"${name}"\\s*:\\s*"([^"\\\\]{1,128})"`))?.[1];
}
