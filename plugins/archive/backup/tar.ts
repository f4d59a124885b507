/** The tar format (POSIX.1-2001), as far as a backup needs it: plain files, long and foreign names among them. */

interface TarFile {
  /** With `/` between its parts. */
  name: string;
  size: number;
  /** ms */
  mtime: number;
}

const BLOCK = 512;
/** What the plain header has room for. */
const NAME = 100;
const SIZE = 8 ** 11;

/** Header of one file; a second one precedes it if name or size need more room. */
export function tarHeader(file: TarFile): Uint8Array {
  const bytes = Buffer.from(file.name);
  const records: string[] = [];
  if (bytes.length > NAME || bytes.length !== file.name.length) records.push(record("path", file.name));
  if (file.size >= SIZE) records.push(record("size", String(file.size)));
  const plain = header({ ...file, size: file.size < SIZE ? file.size : 0 }, "0");
  if (records.length === 0) return plain;
  const text = Buffer.from(records.join(""));
  const extra = header({ ...file, name: "pax", size: text.length }, "x");
  return Buffer.concat([extra, text, tarPadding(text.length), plain]);
}

/** What fills the last block of a file. */
export const tarPadding = (size: number): Uint8Array => new Uint8Array((BLOCK - (size % BLOCK)) % BLOCK);

/** Two empty blocks. */
export const TAR_END = new Uint8Array(2 * BLOCK);

/** `<length> key=value\n`, the length counting itself. */
function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + 1;
  while (String(length).length + bytes !== length) length = String(length).length + bytes;
  return length + rest;
}

function header({ name, size, mtime }: TarFile, type: "0" | "x"): Buffer {
  const block = Buffer.alloc(BLOCK);
  Buffer.from(name).copy(block, 0, 0, NAME);
  const octal = (value: number, at: number, digits: number) =>
    block.write(`${value.toString(8).padStart(digits, "0")}\0`, at, "latin1");
  octal(0o600, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(Math.max(0, Math.floor(mtime / 1_000)), 136, 11);
  block.write("        ", 148, "latin1");
  block.write(type, 156, "latin1");
  block.write("ustar\0" + "00", 257, "latin1");
  const sum = block.reduce((all, byte) => all + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}
