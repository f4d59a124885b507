/** Texts with their secrets masked: paths, names, diffs, and excerpts of longer texts. */
import type { Scanner } from "./engine.ts";
import { NOT_CHECKED } from "./redact/redact.ts";

/** Characters looked at on both sides of an excerpt: more than a secret has, with what stands before it. */
const REACH = 16_384;

/** The text with every finding replaced by its mask. What could not be looked at whole is hidden whole: nobody knows what it holds. */
export function hideIn(scanner: Scanner, text: string, options?: { budgetMs?: number }): string {
  return masked(scanner, text, 0, text.length, options);
}

/**
 * What stands in [start, end) of a text, masked as the whole text tells: a secret that reaches over an edge is masked, and so is one whose name
 * stands before it. Whoever cuts first and masks then shows half of a secret.
 */
export function excerptOf(scanner: Scanner, text: string, start: number, end: number): string {
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
