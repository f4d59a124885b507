/** The secret engine: everything the routes, the guard and the shares need. A pure library: no kernel, no files. */
import type { SessionEvent } from "sessarc";
import type { Rule } from "./rules/rules.ts";
import type { LeafScanner } from "./scan/event.ts";
import { createLeafScanner, type EventScan } from "./scan/event.ts";
import { createTextScanner, type ScannerOptions, type ScanOptions, type TextScanner } from "./scan/scan.ts";

export { createRedactor, type GateHit, type Redactor, type RedactorOptions } from "./redact/redact.ts";
export { patternProblem } from "./rules/custom.ts";
export { builtinRules, type Confidence, customRule, identityRules, type Rule, rulesVersion } from "./rules/rules.ts";
export type { EventFinding, EventScan } from "./scan/event.ts";
export type { Finding, ScannerOptions, ScanOptions, ScanResult } from "./scan/scan.ts";

export interface Scanner extends TextScanner, LeafScanner {
  /** Every string of the event, keys included. Options hold for the event as a whole. */
  scanEvent(event: SessionEvent, options?: ScanOptions): EventScan;
}

/**
 * A scanner for the enabled ones of these rules. Costs a few milliseconds (the first in a process about 100): make it
 * once and again when the rules change, not for each text. Throws when a custom pattern does not compile.
 */
export function createScanner(rules: readonly Rule[], options?: ScannerOptions): Scanner {
  const scanner = createTextScanner(rules, options);
  const { scan, rules: active } = scanner;
  return {
    ...createLeafScanner(scanner),
    scan,
    rules: active,
    get version() {
      return scanner.version;
    },
  };
}
