/**
 * The snapshot `catalog.db`: an ordinary SQLite file. Two header fields that SQLite leaves to applications carry what recovery needs:
 * `user_version` the number of the last batch in it, `application_id` a checksum of the whole file.
 */
import { crc32 } from "node:zlib";

const USER_VERSION = 60;
const APPLICATION_ID = 68;
const HEADER = "SQLite format 3\0";

export interface SnapshotHead {
  /** Number of the last batch in it. */
  batch: number;
  checksum: number;
}

/** Writes number and checksum into `image`. Cost: one pass over it, about 1 ms per 3 MB. */
export function sealSnapshot(image: Uint8Array, batch: number): SnapshotHead {
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength);
  view.setUint32(USER_VERSION, batch);
  view.setUint32(APPLICATION_ID, 0);
  const checksum = crc32(image);
  view.setUint32(APPLICATION_ID, checksum);
  return { batch, checksum };
}

/** Undefined when the file is not one we wrote, or not as we wrote it. `image` is as given afterwards. */
export function readSnapshotHead(image: Uint8Array): SnapshotHead | undefined {
  if (image.length < 100 || Buffer.from(image.subarray(0, 16)).toString("latin1") !== HEADER) return undefined;
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength);
  const checksum = view.getUint32(APPLICATION_ID);
  view.setUint32(APPLICATION_ID, 0);
  const actual = crc32(image);
  view.setUint32(APPLICATION_ID, checksum);
  return actual === checksum ? { batch: view.getUint32(USER_VERSION), checksum } : undefined;
}
