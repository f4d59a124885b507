/** Reading what a log holds behind a cursor. */

import type { SessionEvent, SessionRef } from "sessarc";
import type { Adapter, AdapterEnv, Cursor } from "sessarc/adapter";

/** What a read passes on, in order. */
interface Sink {
  /** The log is another one: what follows begins at seq 0. Called before its first events. */
  restart(): void;
  events(batch: SessionEvent[]): void | Promise<void>;
}

export interface LogReader {
  /** Reads what is new into `sink`; `ref` may name another path when the log was moved. Rejects with the file system's or the adapter's error. */
  read(ref: SessionRef, sink: Sink): Promise<void>;
}

/** The first read gives everything. A log that does not only grow restarts whenever an earlier message changed. */
export function createReader(adapter: Adapter, env: AdapterEnv): LogReader {
  let at: Cursor | undefined;
  return {
    async read(ref, sink) {
      const expected = at?.seq ?? 0;
      let restarted = false;
      const batches = adapter.tail(ref, at, env);
      try {
        for (;;) {
          const step = await batches.next();
          if (step.done) {
            if (step.value.restarted && !restarted) sink.restart();
            at = step.value.cursor;
            return;
          }
          if (expected > 0 && !restarted && step.value[0]?.seq === 0) {
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
