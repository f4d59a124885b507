/**
 * Large answers of services as bytes. They are parsed in a worker, which finds the result in them; what goes to the client are the bytes
 * as the service wrote them, so that no large text is parsed or written on the main thread.
 */
import { isRecord, type JsonRecord, type Pool, type PoolTask } from "sessarc";
import type { FoundResult } from "./large-job.ts";

/** Bytes of a line that are parsed in a few milliseconds. */
export const LARGE = 2 ** 20;

const JOB: PoolTask<[Uint8Array], FoundResult | null> = {
  specifier: "sessarc/plugins/mcp-hub/large-job",
  export: "findResult",
  inline: async (line) => (await import("./large-job.ts")).findResult(line),
};

/** Null where it is no answer with a result that can be passed on as it is. */
export const findLargeResult = (pool: Pool, line: Uint8Array): Promise<FoundResult | null> => pool.run(JOB, line);

const BYTES = Symbol("bytes of a result");

/** A result whose content is its bytes. Its fields show how large it is. */
export function bytesResult(bytes: Buffer, isError: boolean): JsonRecord {
  const result = { content: [{ type: "text", text: `(${bytes.length} bytes)` }], ...(isError ? { isError } : {}) };
  return Object.defineProperty(result, BYTES, { value: bytes });
}

/** The bytes of such a result; undefined for any other value. */
export function bytesOf(value: unknown): Buffer | undefined {
  const bytes = isRecord(value) ? Reflect.get(value, BYTES) : undefined;
  return Buffer.isBuffer(bytes) ? bytes : undefined;
}
