/**
 * Large answers of services as bytes. They are parsed in a worker, which finds the result in them; what goes to the client are the bytes
 * as the service wrote them, so that no large text is parsed or written on the main thread.
 */
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
export function bytesOf(value: unknown): Buffer | undefined {
  const bytes = isRecord(value) ? Reflect.get(value, BYTES) : undefined;
  return Buffer.isBuffer(bytes) ? bytes : undefined;
}

/** The same result with its content parsed, for callers that read it. */
export function toPlain(result: unknown): unknown {
  const bytes = bytesOf(result);
  return bytes ? JSON.parse(bytes.toString("utf8")) : result;
}
