/** A deadline for adapters: one that waits forever (a dead mount, an unresolved promise) fails with its name and does not block the rest. */
import type { Adapter } from "../contract/adapter.ts";
import { SessarcError } from "../errors/error.ts";

/** How long an adapter may give nothing: neither a session of a scan nor a batch of a log. */
const SILENCE_MS = 60_000;

/** A scan that never answers is started again after this many times its deadline. */
const RETRY = 10;

/**
 * The same adapter; `scan`, `read`, `readMany`, `tail`, `peek`, `usage` and `retention` throw ADAPTER_SILENT when they give nothing for `ms`.
 * Synchronous work is not measured. While a scan that failed this way is still waiting, another one of the same root throws at once: a command
 * scans twice, and calls into a dead mount must not pile up. Cost: a timer for each call, restarted with each step.
 */
export function withDeadlines(adapter: Adapter, ms = SILENCE_MS, waiting: Waiting = new Map(), file?: string): Adapter {
  const late = (member: string, path: string) =>
    new SessarcError("ADAPTER_SILENT", { adapter: adapter.name, file, member, path, ms });
  const { peek, usage, retention, at } = adapter;
  return {
    ...adapter,
    at: (dir) => withDeadlines(at(dir), ms, waiting, file),
    async *scan(root, env) {
      if (performance.now() < (waiting.get(root) ?? 0)) throw late("scan", root);
      waiting.delete(root);
      yield* heard(adapter.scan(root, env), ms, (pending) => {
        waiting.set(root, performance.now() + RETRY * ms);
        const settled = () => void waiting.delete(root);
        pending.then(settled, settled);
        return late("scan", root);
      });
    },
    read: (ref, env) => heard(adapter.read(ref, env), ms, () => late("read", ref.path)),
    async *readMany(refs, env) {
      const path = refs[0]?.path ?? "";
      for await (const [ref, batches] of heard(adapter.readMany(refs, env), ms, () => late("read", path)))
        yield [ref, heard(batches, ms, () => late("read", path))];
    },
    tail: (ref, cursor, env) => heard(adapter.tail(ref, cursor, env), ms, () => late("read", ref.path)),
    ...(peek && { peek: (ref, env) => soon(peek(ref, env), ms, () => late("peek", ref.path)) }),
    ...(usage && { usage: (ref, env) => soon(usage(ref, env), ms, () => late("usage", ref.path)) }),
    ...(retention && {
      retention: (env) => soon(Promise.resolve(retention(env)), ms, () => late("retention", env.home)),
    }),
  };
}

/** Roots whose scan is still waiting, each with the time from which it is started again. */
type Waiting = Map<string, number>;

/** Yields and returns what `source` does. Only the time between two steps counts, not the time the consumer takes. */
async function* heard<T, End>(
  source: AsyncIterable<T, End>,
  ms: number,
  late: (pending: Promise<unknown>) => Error,
): AsyncGenerator<T, End, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  let expire = () => {};
  const timer = setTimeout(() => expire(), ms);
  let isDone = false;
  try {
    for (;;) {
      timer.refresh();
      const step = await new Promise<IteratorResult<T, End>>((resolve, reject) => {
        const next = iterator.next();
        next.then(resolve, reject);
        // An answer that came while the thread was busy still counts.
        expire = () => void setImmediate(() => reject(late(next)));
      }).catch((error: unknown) => {
        isDone = true;
        throw error;
      });
      expire = () => {};
      if (step.done) {
        isDone = true;
        return step.value;
      }
      yield step.value;
    }
  } finally {
    clearTimeout(timer);
    if (!isDone) await iterator.return?.();
  }
}

function soon<T>(promise: Promise<T>, ms: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => reject(late())), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
