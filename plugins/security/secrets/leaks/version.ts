/** Raised with every change of the built-in rules or of the indexer: all sessions are then searched again. A test compares it with the rules. */
export const LEAKS_VERSION = 3;
