/** How long to wait until the next push. */

const LONGEST_MS = 15 * 60_000;

/** `usual` ms also after the first failure; then twice as long with each further one in a row, up to 15 minutes. */
export const pauseAfter = (failures: number, usual: number): number =>
  Math.min(usual * 2 ** Math.min(Math.max(failures - 1, 0), 10), Math.max(LONGEST_MS, usual));
