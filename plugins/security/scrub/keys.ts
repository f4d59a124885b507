/** A secret as it is looked for later, without its value: of each form it may be written in, its length and sums. */

import { toFingerprint } from "../secrets/leaks/fingerprint.ts";
import { base64Cores, toForms } from "../secrets/redact/forms.ts";

/** How a form is replaced so that what reads it still can: `base64` and `hex` go on decoding. */
export type FormKind = "text" | "base64" | "hex";

export interface MaskKey {
  /** Characters that the rolling hash covers, from the beginning of the form. */
  window: number;
  roll: number;
  /** Characters of the form. */
  length: number;
  /** Fingerprint of the form, and of its first half: a text that was cut may end in it. */
  sum: string;
  half: string;
  kind: FormKind;
  /** Of base64: where in a group of four its first character is. */
  phase: number;
}

/** Shorter values may be part of other text. */
export const SHORTEST = 8;
/** More characters say nothing more; fewer would let the hash be tried out. */
const MOST_WINDOW = 16;
/** Of the rolling hash. */
export const FACTOR = 0x01000193;

/** The hash of the first `window` characters of a text. */
export function rollOf(text: string, window: number): number {
  let hash = 0;
  for (let at = 0; at < window; at++) hash = (Math.imul(hash, FACTOR) + text.charCodeAt(at)) | 0;
  return hash;
}

/** The factor of the first character in the hash of a window. */
export function leadingOf(window: number): number {
  let leading = 1;
  for (let at = 1; at < window; at++) leading = Math.imul(leading, FACTOR);
  return leading;
}

export const halfOf = (length: number): number => Math.ceil(length / 2);

/** Keys of all forms of a value; none where it is too short. */
export function toKeys(value: string): MaskKey[] {
  if (value.length < SHORTEST) return [];
  const keys = new Map<string, MaskKey>();
  const add = (text: string, kind: FormKind, phase = 0) => {
    if (text.length < SHORTEST || keys.has(text)) return;
    const window = Math.min(MOST_WINDOW, text.length);
    const sums = { sum: toFingerprint(text), half: toFingerprint(text.slice(0, halfOf(text.length))) };
    keys.set(text, { window, roll: rollOf(text, window), length: text.length, ...sums, kind, phase });
  };
  const utf8 = Buffer.from(value);
  for (const { name, text } of toForms(value)) {
    if (name === "base64") continue;
    add(text, name === "hex" ? "hex" : "text");
    // Files are read byte by byte.
    add(Buffer.from(text).toString("latin1"), name === "hex" ? "hex" : "text");
  }
  base64Cores(utf8).forEach((core, offset) => {
    const phase = Math.ceil((offset * 8) / 6) % 4;
    for (const text of [core, core.replaceAll("+", "-").replaceAll("/", "_")]) add(text, "base64", phase);
  });
  return [...keys.values()];
}
