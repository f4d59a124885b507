/** Texts with their secrets masked: paths, names, diffs, and excerpts of longer texts. */
import type { Scanner } from "./engine.ts";
import { NOT_CHECKED } from "./redact/not-checked.ts";

/** Characters checked on both sides of an excerpt: more than a secret has, with its name. */
const REACH = 16_384;

/** The text with every finding replaced by its mask. A text that could not be checked completely is hidden completely, because it may hold secrets. */
export function hideIn(scanner: Scanner, text: string, options?: { budgetMs?: number }): string {
  return masked(scanner, text, 0, text.length, options);
}

/**
 * The characters in [start, end) of a text, masked by a scan of the whole text: a secret that crosses an edge is masked, and so is one whose name
 * precedes the excerpt. Cutting first and masking afterwards would show half of a secret.
 */
export function toExcerpt(scanner: Scanner, text: string, start: number, end: number): string {
  const from = Math.max(0, start - REACH);
  const around = text.slice(from, Math.min(text.length, end + REACH));
  return masked(scanner, around, start - from, Math.min(end, text.length) - from);
}

function masked(scanner: Scanner, text: string, start: number, end: number, options?: { budgetMs?: number }): string {
  const { findings, partial } = scanner.scan(text, options);
  if (partial) return `[REDACTED:${NOT_CHECKED}]`;
  let out = "";
  let at = start;
  for (const finding of findings.toSorted((a, b) => a.start - b.start)) {
    if (finding.end <= at) continue;
    if (finding.start >= end) break;
    // One that begins within the last is masked with it.
    if (finding.start >= at || at === start) out += text.slice(at, finding.start) + finding.masked;
    at = finding.end;
  }
  return out + text.slice(at, end);
}

/** Without what a cut at `most` characters may have left of a word: it may be half of a secret. */
export function withoutCutEnd(text: string, most: number): string {
  if ([...text].length < most) return text;
  const whole = text.replace(/\s*\S+$/, "");
  return whole === "" ? text : `${whole}…`;
}
