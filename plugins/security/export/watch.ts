/** What the one who waits and the one who works share, across threads: messages done; 1 to stop. */
export type Watch = Int32Array<SharedArrayBuffer>;
export const DONE = 0;
export const STOP = 1;

/** One message more. Throws when the caller has gone. */
export function tell(watch: Watch | undefined): void {
  if (!watch) return;
  if (Atomics.load(watch, STOP) !== 0) throw new Error("The caller does not wait for this any more");
  Atomics.add(watch, DONE, 1);
}
