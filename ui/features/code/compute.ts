import type { DiffAnswer, DiffRequest, Hunk } from "./diff-types.ts";

let worker: Worker | undefined;
let next = 0;
const waiting = new Map<number, (hunks: Hunk[] | null) => void>();
const LIMIT = 300;

function start(): Worker {
  const created = new Worker(new URL("./diff-worker.ts", import.meta.url), { type: "module" });
  created.onmessage = (event: MessageEvent<DiffAnswer>) => {
    waiting.get(event.data.id)?.(event.data.hunks);
    waiting.delete(event.data.id);
  };
  return created;
}

/** Hunks of two texts; null when comparing them takes longer than 300 ms (loading the worker not counted). */
export async function computeDiff(before: string, after: string, context = 3, excerpt = false): Promise<Hunk[] | null> {
  worker ??= start();
  const id = ++next;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    worker?.postMessage({ id, before, after, context, excerpt } satisfies DiffRequest);
    setTimeout(() => {
      if (waiting.delete(id)) resolve(null);
    }, LIMIT * 10);
  });
}
