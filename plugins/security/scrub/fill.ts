/** Replaces bytes by as many others, so that what reads them still can: escapes stay escapes, base64 and hexadecimal go on decoding. */
import type { FormKind } from "./keys.ts";

/** `run`: something encoded as a whole, such as compressed bytes in base64. */
export type FillKind = FormKind | "run";

const STAR = 0x2a;
const BACKSLASH = 0x5c;
/** Base64 and hexadecimal of stars. */
const BASE64 = Buffer.from("Kioq");
const HEX = Buffer.from("2a");
const ESCAPED = new Set(Buffer.from("\"'\\/bfnrt"));
const HEX_CODE = Buffer.from("002a");

/** Stars in place of [start, end). */
export function fill(bytes: Uint8Array, start: number, end: number, kind: FillKind, phase: number): void {
  let done = 0;
  for (let at = start; at < end; ) {
    const byte = bytes[at] as number;
    if (byte === BACKSLASH) {
      at = passEscape(bytes, at, end);
      done++;
      continue;
    }
    if (kind === "base64") bytes[at] = BASE64[(phase + done) % 4] as number;
    else if (kind === "hex") bytes[at] = HEX[done % 2] as number;
    else if (kind === "text") bytes[at] = STAR;
    else if (isLetter(byte)) bytes[at] = 0x41;
    at++;
    done++;
  }
}

/** Where the escape ends. One of a character's number becomes that of a star. */
function passEscape(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] === BACKSLASH) at++;
  if (at >= end) return at;
  if (bytes[at] === 0x75 && at + 4 < end) {
    for (let i = 0; i < 4; i++) bytes[at + 1 + i] = HEX_CODE[i] as number;
    return at + 5;
  }
  if (!ESCAPED.has(bytes[at] as number)) bytes[at] = STAR;
  return at + 1;
}

/** Of base64 and hexadecimal. */
const isLetter = (byte: number) =>
  (byte >= 0x30 && byte <= 0x39) ||
  (byte >= 0x41 && byte <= 0x5a) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  byte === 0x2b ||
  byte === 0x2f ||
  byte === 0x5f;
