/** The part of a scrub that runs in the pool. */
import type { MaskKey } from "./keys.ts";
import { createMask, type Mask, type Masked } from "./mask.ts";

export interface ScrubJob {
  /** JSON of the keys, in memory that threads share. */
  keys: SharedArrayBuffer;
  /** Names them. */
  id: string;
  bytes: Uint8Array;
}

/** Whether the bytes hold a secret that is written as usual. */
export const hasSecret = async (job: ScrubJob): Promise<boolean> => maskOf(job).has(job.bytes);

/** As many bytes without the secrets; undefined if no secret is found. */
export const maskBytes = async (job: ScrubJob): Promise<Masked | undefined> => maskOf(job).bytes(job.bytes);

let made: { id: string; mask: Mask } | undefined;

/** Made once per thread and scrub. */
function maskOf({ id, keys }: ScrubJob): Mask {
  if (made?.id !== id) {
    const text = Buffer.from(new Uint8Array(keys)).toString();
    made = { id, mask: createMask(JSON.parse(text) as MaskKey[]) };
  }
  return made.mask;
}
