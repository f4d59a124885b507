/** Short texts with their secrets masked: paths, names, diffs. */
import type { Scanner } from "./engine.ts";

/** The text with every finding replaced by its mask. */
export function hideIn(scanner: Scanner, text: string, options?: { budgetMs?: number }): string {
  let out = "";
  let at = 0;
  for (const finding of scanner.scan(text, options).findings) {
    if (finding.start < at) continue;
    out += text.slice(at, finding.start) + finding.masked;
    at = finding.end;
  }
  return at === 0 ? text : out + text.slice(at);
}
