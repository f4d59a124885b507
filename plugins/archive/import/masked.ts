/** Sessions from which something was removed: their logs still have it, so it is removed whenever they are read. */
import { importModule, type SessionEvent } from "sessarc";
import type { EventBatches } from "sessarc/adapter";

/** A mask as a worker loads it: what the module's function `createMask` takes. Plain data. */
export interface SessionMask {
  module: string;
  keys: readonly unknown[];
}

/** What the module makes of the keys. */
export interface Mask {
  /** Undefined: nothing is to be removed. Else as many bytes. */
  bytes(bytes: Uint8Array): { bytes: Uint8Array } | undefined;
  text(text: string): string;
  /** Messages in order, some later than they came. */
  stream(): { push(events: readonly SessionEvent[]): SessionEvent[]; end(): SessionEvent[] };
}

/** Loads a mask. Throws TypeError for a module without one: the session is then not read. */
export async function loadMask({ module, keys }: SessionMask): Promise<Mask> {
  const { createMask } = await importModule(module);
  if (typeof createMask !== "function") throw new TypeError(`${module} has no function \`createMask\``);
  return createMask(keys) as Mask;
}

/** Messages as they are stored. */
export async function* maskBatches<T>(batches: EventBatches<T>, mask: Mask): EventBatches<T> {
  const stream = mask.stream();
  try {
    for (;;) {
      const step = await batches.next();
      const ready = step.done ? stream.end() : stream.push(step.value);
      if (ready.length > 0) yield ready;
      if (step.done) return step.value;
    }
  } finally {
    await batches.return(undefined as never);
  }
}
