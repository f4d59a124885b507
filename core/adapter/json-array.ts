/** Documents that are one long list: read an element at a time, whatever their size. */
import { openRegular } from "../utils/regular.ts";

/** Bytes read at once. */
const CHUNK = 1 << 20;
const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [...'"\\{}[]'].map((char) => char.charCodeAt(0));

/** An object of the list, by its place in bytes. `value` is undefined when it is not JSON. */
export interface ListElement {
  offset: number;
  length: number;
  value: unknown;
}

/**
 * The objects of the list that the document `path` is, in order; one that is cut off at the end is left out. Memory is one element.
 * Throws the system's error when the file cannot be read, EFTYPE for what is not a file.
 */
export async function* readList(path: string): AsyncGenerator<ListElement> {
  const handle = await openRegular(path);
  try {
    const chunk = Buffer.allocUnsafe(CHUNK);
    const scanner = createScanner();
    for (let offset = 0; ; ) {
      const { bytesRead } = await handle.read(chunk, 0, CHUNK, offset);
      if (bytesRead === 0) return;
      for (const bytes of scanner.add(chunk.subarray(0, bytesRead)))
        yield { offset: bytes.offset, length: bytes.text.length, value: parse(bytes.text) };
      offset += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

/** One element by its place. Undefined when there is no JSON (any more). */
export async function readListElement(path: string, { offset, length }: Omit<ListElement, "value">): Promise<unknown> {
  const handle = await openRegular(path);
  try {
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await handle.read(bytes, 0, length, offset);
    return parse(bytes.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}

/** Finds objects directly below the outer list. Brackets inside texts do not count. */
function createScanner() {
  let depth = 0;
  let inText = false;
  let escaped = false;
  let total = 0;
  let start = 0;
  let parts: Buffer[] = [];
  return {
    *add(chunk: Buffer): Generator<{ offset: number; text: Buffer }> {
      let from = depth > 1 ? 0 : -1;
      for (let i = 0; i < chunk.length; i++) {
        const byte = chunk[i];
        if (inText) {
          if (escaped) escaped = false;
          else if (byte === BACKSLASH) escaped = true;
          else if (byte === QUOTE) inText = false;
        } else if (byte === QUOTE) inText = true;
        else if (byte === OPEN || byte === OPEN_LIST) {
          depth++;
          if (depth === 2) {
            from = i;
            start = total + i;
          }
        } else if (byte === CLOSE || byte === CLOSE_LIST) {
          depth--;
          if (depth !== 1) continue;
          parts.push(Buffer.from(chunk.subarray(from, i + 1)));
          yield { offset: start, text: Buffer.concat(parts) };
          parts = [];
          from = -1;
        }
      }
      if (from >= 0) parts.push(Buffer.from(chunk.subarray(from)));
      total += chunk.length;
    },
  };
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined; // the caller counts it
  }
}
