/** Indexers: what a plugin wants to know of every session, worked out while the session is read anyway. */
import type { SessionEvent } from "../session/session.ts";
import type { SqlValue } from "../storage/types.ts";
import type { ToolRole } from "./adapter.ts";

/** An indexer as a plugin registers it. */
export interface IndexerDefinition {
  /** kebab-case, unique among all indexers. */
  name: string;
  /** Another number: all sessions are indexed again from their stored transcripts, in the background. */
  version: number;
  /** What `import()` takes in a worker: `new URL("./indexer.js", import.meta.url).href`, or a package. Its default export is an `IndexerModule`. */
  module: string;
  /**
   * For one that costs more than a tenth of an import: sessions that are new, or read again as a whole, are indexed in the background after the
   * import, those that grow while they are read. Default: false.
   */
  later?: boolean | undefined;
  /** Tables of the plugin's migrations that it fills. Each has a column `session`; the archive deletes the rows with the session. */
  tables: readonly string[];
}

/** The session whose events an indexer gets. */
export interface IndexedSession {
  id: string;
  /** The assistant. */
  tool: string;
  /** What each of the assistant's tools does (`Adapter.tools`); empty where the adapter is not loaded. */
  tools: Readonly<Record<string, ToolRole>>;
}

/** Rows by table, each by column, without the column `session`. */
export type IndexRows = Readonly<Record<string, readonly Readonly<Record<string, SqlValue>>[]>>;

/** Reads one session. What it throws fails this indexer for this session alone. */
export interface SessionIndexer {
  /** Called for each event of the session, once, in order. The event must not be changed. */
  event(event: SessionEvent): void;
  /** All rows of the session. They replace those of before, in the batch that stores the session. Called again when more events came. */
  finish(): IndexRows;
}

/** The default export of an indexer's module. */
export interface IndexerModule {
  create(session: IndexedSession): SessionIndexer;
}

/** Returns the definition; it exists for its types. */
export const defineIndexer = (definition: IndexerDefinition): IndexerDefinition => definition;
