/** Waiting for the archive: for one owner of it after the other. */

/** How long a command waits for a service that is starting to say where, or for another command to end. */
const PATIENCE_MS = 10_000;

export interface Patience {
  /** Who has the archive now, by the token of its lock. */
  see(owner: string): void;
  /** The process seen last may still release it: with many commands at once, the last one must not give up because of the patience. */
  waits(): boolean;
}

/** `now` in ms, of a clock that is never set. */
export function createPatience(now: () => number = () => performance.now()): Patience {
  let seen: string | undefined;
  let since = now();
  return {
    see(owner) {
      if (owner !== seen) since = now();
      seen = owner;
    },
    waits: () => now() - since < PATIENCE_MS,
  };
}
