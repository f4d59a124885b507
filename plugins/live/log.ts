/** Reading what a log holds behind a cursor, whatever its adapter can do. */
import { stat } from "node:fs/promises";
import type { Adapter, AdapterEnv, Cursor, SessionEvent, SessionRef } from "sessarc";

/** What a read hands over, in order. */
export interface Sink {
  /** The log is another one: what follows begins at seq 0. Called before its first events. */
  restart(): void;
  events(batch: SessionEvent[]): void | Promise<void>;
}

export interface LogReader {
  /** Reads what is new into `sink`; `ref` may name another path when the log was moved. Rejects with the file system's or the adapter's error. */
  read(ref: SessionRef, sink: Sink): Promise<void>;
}

/**
 * `cursor`: where to go on; without one the first read gives everything. Adapters with `tailBatches` read only what was added; the
 * others tell of a restart whenever an earlier message changed; those with `read` alone do so whenever anything did.
 */
export function createReader(adapter: Adapter, env: AdapterEnv, cursor?: Cursor): LogReader {
  let at = cursor;
  let version = "";

  if (adapter.tailBatches) {
    const { tailBatches } = adapter;
    return {
      async read(ref, sink) {
        const expected = at?.seq;
        let restarted = false;
        const batches = tailBatches(ref, at, env);
        try {
          for (;;) {
            const step = await batches.next();
            if (step.done) {
              if (step.value.restarted && !restarted) sink.restart();
              at = step.value.cursor;
              return;
            }
            if (expected !== undefined && expected > 0 && !restarted && step.value[0]?.seq === 0) {
              restarted = true;
              sink.restart();
            }
            await sink.events(step.value);
          }
        } finally {
          await batches.return(undefined as never); // closes the log when the sink failed
        }
      },
    };
  }

  if (adapter.tail) {
    const { tail } = adapter;
    return {
      async read(ref, sink) {
        const found = await tail(ref, at, env);
        if (found.restarted) sink.restart();
        if (found.events.length > 0) await sink.events(found.events);
        at = found.cursor;
      },
    };
  }

  return {
    async read(ref, sink) {
      const { size, mtimeMs } = await stat(ref.path);
      if (version === `${size} ${mtimeMs}`) return;
      const events: SessionEvent[] = [];
      for await (const event of adapter.read(ref, env)) events.push(event);
      if (version !== "") sink.restart();
      version = `${size} ${mtimeMs}`;
      if (events.length > 0) await sink.events(events);
    },
  };
}
