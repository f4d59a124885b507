/** Closing: in reverse order of opening, each part within a time limit; a failure does not keep other parts from closing. */
import { SessarcError } from "../errors/error.ts";
import { toMessage, withLimit } from "../utils/async.ts";

export interface Closer {
  /** Aborts when closing begins. */
  closing: AbortSignal;
  /** `what` names the part in errors. Answers a function that takes it off the list. */
  add(what: string, fn: () => unknown): () => void;
  /** Runs `before`, then every part. Calling again waits for the same close. Throws CLOSE_FAILED after everything ran. */
  close(before: () => Promise<void>): Promise<void>;
}

export function createCloser(timeoutMs: number): Closer {
  const controller = new AbortController();
  const parts: { what: string; fn: () => unknown }[] = [];
  const failures: unknown[] = [];
  let closed: Promise<void> | undefined;

  async function run(what: string, fn: () => unknown): Promise<void> {
    try {
      await withLimit(timeoutMs, () => new Error(`${what} did not close within ${timeoutMs} ms`), fn);
    } catch (error) {
      failures.push(error);
    }
  }

  async function closeAll(before: () => Promise<void>): Promise<void> {
    controller.abort();
    await run("a listener of kernel:close", before);
    for (let part = parts.pop(); part; part = parts.pop()) await run(part.what, part.fn);
    if (failures.length === 0) return;
    const cause = failures.length === 1 ? failures[0] : new AggregateError(failures);
    throw new SessarcError(
      "CLOSE_FAILED",
      { count: failures.length, reason: failures.map(toMessage).join("; ") },
      { cause },
    );
  }

  return {
    closing: controller.signal,
    add(what, fn) {
      const part = { what, fn };
      parts.push(part);
      return () => {
        const at = parts.indexOf(part);
        if (at >= 0) parts.splice(at, 1);
      };
    },
    close(before) {
      closed ??= closeAll(before);
      return closed;
    },
  };
}
