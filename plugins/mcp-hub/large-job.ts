/** Runs in a worker: a large line of a service, parsed whole, and where its result is in it. */
import { isRecord } from "sessarc";

export interface FoundResult {
  id: number;
  /** Bytes of the result within the line. */
  start: number;
  end: number;
  isError: boolean;
}

/** Nesting that no client needs; the parser of the line refuses deeper ones. */
const MOST_DEPTH = 500;
const [QUOTE, BACKSLASH, COMMA, COLON, CR] = [0x22, 0x5c, 0x2c, 0x3a, 0x0d];
const OPENS = new Set([0x7b, 0x5b]);
const CLOSES = new Set([0x7d, 0x5d]);

/** Null for anything but a valid response with a result, or cannot be part of a stream of events as it is. */
export async function findResult(bytes: Uint8Array): Promise<FoundResult | null> {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (line.includes(CR)) return null;
  let message: unknown;
  try {
    message = JSON.parse(line.toString("utf8"));
  } catch {
    return null;
  }
  if (!isRecord(message) || typeof message.id !== "number" || !isRecord(message.result)) return null;
  const span = toSpan(line, "result");
  return span && { id: message.id, ...span, isError: message.result.isError === true };
}

/** The value of a key of the outermost object, in text that is valid JSON. */
function toSpan(line: Buffer, key: string): { start: number; end: number } | null {
  let depth = 0;
  let start = -1;
  let isKey = false;
  for (let i = 0; i < line.length; i++) {
    const byte = line[i] ?? 0;
    if (byte === QUOTE) {
      const end = endOfText(line, i);
      if (depth === 1 && start < 0) isKey = line.toString("utf8", i + 1, end) === key;
      i = end;
    } else if (OPENS.has(byte)) {
      if (++depth > MOST_DEPTH) return null;
    } else if (CLOSES.has(byte)) {
      if (--depth === 0) return start < 0 ? null : { start, end: i };
    } else if (depth === 1 && byte === COLON && isKey) [start, isKey] = [i + 1, false];
    else if (depth === 1 && byte === COMMA && start >= 0) return { start, end: i };
  }
  return null;
}

/** Where the text that begins at a quote ends: at the first quote after an even number of backslashes. */
function endOfText(line: Buffer, from: number): number {
  for (let end = line.indexOf(QUOTE, from + 1); end >= 0; end = line.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (line[end - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return line.length;
}
