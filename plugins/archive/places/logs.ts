/** The logs of a scan, by their ids, kept for as long as the service runs: some 400 bytes each. */
import { sep } from "node:path";
import type { SessionRef } from "sessarc";
import type { Adapter } from "sessarc/adapter";

export interface FoundLog {
  id: string;
  ref: SessionRef;
  adapter: Adapter;
  /** That of the adapter's roots it was found in. */
  root: string;
  /** What the archive had of it when a run began: as it is now, otherwise, or not. */
  stored: "same" | "other" | "not";
}

export class Logs {
  readonly #logs = new Map<string, FoundLog>();

  get size(): number {
    return this.#logs.size;
  }
  has(id: string): boolean {
    return this.#logs.has(id);
  }
  get(id: string): FoundLog | undefined {
    return this.#logs.get(id);
  }
  values(): IterableIterator<FoundLog> {
    return this.#logs.values();
  }

  /** Those that `pick` takes. */
  all(pick: (found: FoundLog) => boolean = () => true): FoundLog[] {
    return [...this.#logs.values()].filter(pick);
  }

  /** Those that the archive has otherwise, or not. */
  open(): FoundLog[] {
    return this.all(({ stored }) => stored !== "same");
  }

  /** Those in the file at `path`. */
  at(path: string): FoundLog[] {
    return this.all(({ ref }) => ref.path === path);
  }

  /** Those in the file at `path`, or below the folder there. */
  below(path: string): FoundLog[] {
    const inside = path.endsWith(sep) ? path : path + sep;
    return this.all(({ ref }) => ref.path === path || ref.path.startsWith(inside));
  }

  set(found: FoundLog): void {
    this.#logs.set(found.id, found);
  }

  /** What the archive has of one that is there. */
  setStored(id: string, stored: FoundLog["stored"]): void {
    const found = this.#logs.get(id);
    if (found) this.#logs.set(id, { ...found, stored });
  }
}
