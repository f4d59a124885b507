/** Short texts with their secrets masked: paths, names, diffs. */
import type { Scanner } from "./engine.ts";
import { NOT_CHECKED } from "./redact/placeholder.ts";

/** The text with every finding replaced by its mask. What could not be looked at whole is hidden whole: nobody knows what it holds. */
export function hideIn(scanner: Scanner, text: string, options?: { budgetMs?: number }): string {
  const { findings, partial } = scanner.scan(text, options);
  if (partial) return `[REDACTED:${NOT_CHECKED}]`;
  let out = "";
  let at = 0;
  for (const finding of findings) {
    if (finding.start < at) continue;
    out += text.slice(at, finding.start) + finding.masked;
    at = finding.end;
  }
  return at === 0 ? text : out + text.slice(at);
}
