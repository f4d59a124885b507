/**
 * Results of megabytes. A worker parses the service's line and finds the result in it; the SDK's client and server pass on a small result in
 * its place, and the client's stream gets the bytes as the service wrote them. Nothing large is parsed or written on the main thread.
 */
import { randomUUID } from "node:crypto";
import type { JSONRPCMessage as Message } from "@modelcontextprotocol/client";
import { isRecord, type JsonRecord, type Pool, type PoolTask } from "sessarc";
import type { FoundResult } from "./large-job.ts";

/** Bytes of a line that are parsed in a few milliseconds. */
export const LARGE = 2 ** 20;

const JOB: PoolTask<[Uint8Array], FoundResult | null> = {
  specifier: "sessarc/plugins/mcp-hub/large-job",
  export: "findResult",
  inline: async (line) => (await import("./large-job.ts")).findResult(line),
};

/** The line as a message whose result is its bytes; undefined for a line that is to be parsed as any other. */
export async function readLarge(pool: Pool, line: Buffer): Promise<Message | undefined> {
  // A worker that fails leaves the line to this thread.
  const found = await pool.run(JOB, line).catch(() => null);
  if (!found) return undefined;
  const { id, start, end, isError } = found;
  return { jsonrpc: "2.0", id, result: bytesResult(line.subarray(start, end), isError) };
}

const BYTES = Symbol("bytes of a result");

/** A result whose content is its bytes. Its fields show how large it is. */
function bytesResult(bytes: Buffer, isError: boolean): JsonRecord {
  const result = { content: [{ type: "text", text: `(${bytes.length} bytes)` }], ...(isError ? { isError } : {}) };
  return Object.defineProperty(result, BYTES, { value: bytes });
}

/** The bytes of such a result; undefined for any other value. */
export function findBytes(value: unknown): Buffer | undefined {
  const bytes = isRecord(value) ? Reflect.get(value, BYTES) : undefined;
  return Buffer.isBuffer(bytes) ? bytes : undefined;
}

/** The same result with its content parsed, for callers that read it. */
export function toPlain(result: unknown): unknown {
  const bytes = findBytes(result);
  return bytes ? JSON.parse(bytes.toString("utf8")) : result;
}

interface LargeResults {
  /** A result of bytes as the SDK may write it: a mark takes the place of the bytes. Any other one as it is. */
  mark(result: JsonRecord): JsonRecord;
  /** What a stream sends: the chunk, with bytes in the place of marks. */
  fill(chunk: Uint8Array): Uint8Array[];
  close(): void;
}

const MARK = "sessarc:bytes";

/** Of one session. A mark is filled as soon as it is written; a client that is gone leaves at most this many. */
const MOST_MARKS = 8;

export function createLargeResults(): LargeResults {
  const marks = new Map<string, Buffer>();
  return {
    mark(result) {
      const bytes = findBytes(result);
      if (!bytes) return result;
      // Called each time the SDK writes the answer: also for a client that resumes a broken stream.
      const toJSON = () => {
        const token = randomUUID();
        marks.set(token, bytes);
        for (const oldest of [...marks.keys()].slice(0, -MOST_MARKS)) marks.delete(oldest);
        return { [MARK]: token };
      };
      return Object.defineProperty(result, "toJSON", { value: toJSON });
    },
    fill(chunk) {
      if (marks.size === 0) return [chunk];
      const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const parts: Uint8Array[] = [];
      let from = 0;
      for (const [token, bytes] of marks) {
        const written = `{"${MARK}":"${token}"}`;
        const at = text.indexOf(written, from);
        if (at < 0) continue;
        marks.delete(token);
        parts.push(text.subarray(from, at), bytes);
        from = at + written.length;
      }
      return [...parts, text.subarray(from)];
    },
    close: () => marks.clear(),
  };
}
