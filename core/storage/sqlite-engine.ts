/** The two engines that read other programs' databases, as one. */
import type { SqlValue } from "./types.ts";

/** What an engine offers; both are wrapped the same way. */
export interface SqliteEngine {
  iterate(sql: string, params: readonly SqlValue[]): IterableIterator<Record<string, SqlValue>>;
  close(): void;
}
