/** Where transcripts are kept: a driver of unstorage. */

/** What transcripts need of an unstorage driver. `readRange` is optional: others are read whole. */
export interface TranscriptDriver {
  setItemRaw?(key: string, value: Uint8Array, options: object): unknown;
  getItemRaw?(key: string, options: object): unknown;
  readRange?(key: string, offset: number, length: number): Promise<Uint8Array | null>;
  /** Writes a key that has no reader yet; durable after `settle`. Without it `setItemRaw` is used. */
  create?(key: string, value: Uint8Array): Promise<void>;
  settle?(): Promise<void>;
  removeItem?(key: string, options: object): unknown;
  /** Removes a key without references; it may come back. Without it `removeItem` is used. */
  drop?(key: string): Promise<void>;
  getKeys(base: string, options: object): string[] | Promise<string[]>;
}

/** A driver of unstorage by name (`unstorage/drivers/<name>`) with its options. JSON-plain, so that workers open the same one. */
export interface DriverConfig {
  name: string;
  options?: Record<string, unknown>;
}
