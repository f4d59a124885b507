/** Scans one large call or file in the pool, and caches the scanners of a thread. Everything that crosses is plain data. */

import type { SessionEvent } from "sessarc";
import { createScanner, type Rule, rulesVersion, type Scanner } from "./engine.ts";

export interface ScanJob {
  rules: Rule[];
  event: SessionEvent;
  path?: string;
  budgetMs: number;
}
export interface ScanJobResult {
  findings: { ruleId: string; rule: string; field: string; confidence: string; masked: string }[];
  partial: boolean;
}

/** One large call or file. */
export async function scanLarge({ rules, event, path, budgetMs }: ScanJob): Promise<ScanJobResult> {
  const scanner = scannerFor(rules, ["secret"]);
  const { findings, partial } = scanner.scanEvent(event, {
    budgetMs,
    forms: true,
    ...(path === undefined ? {} : { path }),
  });
  return {
    findings: findings
      .slice(0, 1_000)
      .map(({ ruleId, rule, field, confidence, masked }) => ({ ruleId, rule, field, confidence, masked })),
    partial,
  };
}

const scanners = new Map<string, Scanner>();

/** Made once for each set of rules. */
export function scannerFor(rules: Rule[], categories: ("secret" | "personal")[]): Scanner {
  const key = `${rulesVersion(rules)} ${categories.join()} ${rules.map((rule) => rule.replacement ?? "").join("\0")}`;
  const known = scanners.get(key);
  if (known) return known;
  if (scanners.size >= 3) scanners.clear();
  const scanner = createScanner(rules, { categories });
  scanners.set(key, scanner);
  return scanner;
}
