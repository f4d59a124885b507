/** Logs that grow stay open: parser, figures and indexers are where the last message was, so that a line that is added costs that line. */

import { BoundedMap } from "sessarc";
import type { Cursor } from "sessarc/adapter";
import type { FactsCollector } from "./facts.ts";
import type { SessionIndexers } from "./indexers.ts";

/** Logs that stay open, the last used ones. Each takes some 0.1 MiB for each MiB of log. */
export const MOST_OPEN = 20;
/** Of their logs together, unless one alone has more. */
const MOST_BYTES = 512 << 20;

export interface OpenLog {
  cursor: Cursor;
  /** Of the stored text that ends where the log was read to. */
  generation: number;
  facts: FactsCollector;
  index: SessionIndexers;
}

export class OpenLogs {
  readonly #logs = new BoundedMap<string, OpenLog>(MOST_OPEN);

  /** Removes the log: one whose reading fails does not come back, and is read whole. */
  take(id: string): OpenLog | undefined {
    const log = this.#logs.get(id);
    this.#logs.delete(id);
    return log;
  }

  put(id: string, log: OpenLog): void {
    this.#logs.set(id, log);
    let bytes = 0;
    for (const { cursor } of this.#logs.values()) bytes += cursor.offset;
    for (const [oldest, { cursor }] of this.#logs) {
      if (bytes <= MOST_BYTES || oldest === id) return;
      this.#logs.delete(oldest);
      bytes -= cursor.offset;
    }
  }
}

/** What the thread with the open logs has, as far as the thread that stores sessions knows: it may have ended since. */
export class OpenList {
  /** Generations of stored texts. */
  readonly #texts = new BoundedMap<string, { generation: number; isSame: boolean }>(MOST_OPEN);

  /** Whether the session may be gone on with. `isSame`: its stored figures are those of the open log. */
  of(id: string, generation: number): { isSame: boolean } | undefined {
    const text = this.#texts.get(id);
    return text?.generation === generation ? text : undefined;
  }

  /** `isSame`: no earlier text is in the figures. */
  stored(id: string, generation: number, isSame: boolean): void {
    this.#texts.set(id, { generation, isSame });
  }

  /** Figures of these sessions changed without their logs. */
  changed(ids: readonly string[]): void {
    for (const id of ids) {
      const text = this.#texts.get(id);
      if (text) text.isSame = false;
    }
  }
}
