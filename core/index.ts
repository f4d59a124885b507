/** Public entry of `sessarc`: re-exports only. Nothing here may load a heavy package. */
export * from "./adapter.ts";
export { type LineParser, readEventBatches, readLines, readParsed, tailParsed } from "./lines.ts";
export * from "./plugin.ts";
export * from "./session.ts";
export {
  addUsage,
  createLedger,
  emptyUsage,
  type Ledger,
  type LedgerEntry,
  type LedgerSummary,
  type LooseUsage,
  mergeUsage,
  slotOf,
  toCount,
} from "./usage.ts";
export { toIso } from "./utils/time.ts";
