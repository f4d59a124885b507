/** Sets of bits in bytes. */

export function set(bits: Uint8Array, start: number, bit: number): void {
  const at = start + (bit >>> 3);
  bits[at] = (bits[at] as number) | (1 << (bit & 7));
}

/** How many of them are set, of one. */
export function share(bits: Uint8Array): number {
  let ones = 0;
  for (const byte of bits) {
    let x = byte - ((byte >>> 1) & 0x55);
    x = (x & 0x33) + ((x >>> 2) & 0x33);
    ones += (x + (x >>> 4)) & 0x0f;
  }
  return ones / (bits.length * 8);
}
