/** Reads characters of UTF-8 one by one. */

/** Bytes of the character that begins with `byte`. */
export const lengthOf = (byte: number) => (byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4);

/** The UTF-16 unit of a character of up to three bytes. */
export function unitAt(text: Uint8Array, i: number, bytes: number): number {
  const first = text[i] as number;
  if (bytes === 1) return first;
  const second = (text[i + 1] as number) & 0x3f;
  if (bytes === 2) return ((first & 0x1f) << 6) | second;
  return ((first & 0x0f) << 12) | (second << 6) | ((text[i + 2] as number) & 0x3f);
}
