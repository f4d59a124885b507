/** Files as one archive (ZIP, stored as they are): what a person saves at once. */

export interface ZipEntry {
  name: string;
  content: Uint8Array<ArrayBuffer>;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (TABLE[(crc ^ byte) & 255] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}

/** Names are UTF-8; together below 4 GiB. */
export function zip(entries: readonly ZipEntry[], now = new Date()): Blob {
  const time = (now.getHours() << 11) | (now.getMinutes() << 5) | (now.getSeconds() >> 1);
  const day = ((now.getFullYear() - 1980) << 9) | ((now.getMonth() + 1) << 5) | now.getDate();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let at = 0;
  for (const { name, content } of entries) {
    const path = new TextEncoder().encode(name);
    // Version, flags (UTF-8), stored, time, day, sum, sizes, length of the name.
    const shared = [20, 2, 0x800, 2, 0, 2, time, 2, day, 2, crc32(content), 4, content.length, 4, content.length, 4];
    const head = record([0x04034b50, 4, ...shared, path.length, 2, 0, 2]);
    directory.push(
      record([0x02014b50, 4, 20, 2, ...shared, path.length, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 4, at, 4]),
      path,
    );
    parts.push(head, path, content);
    at += head.length + path.length + content.length;
  }
  const size = directory.reduce((sum, one) => sum + one.length, 0);
  const count = entries.length;
  const end = record([0x06054b50, 4, 0, 2, 0, 2, count, 2, count, 2, size, 4, at, 4, 0, 2]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}

/** Numbers in little endian, each followed by its width in bytes. */
function record(fields: readonly number[]): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  for (let i = 0; i < fields.length; i += 2)
    for (let b = 0; b < (fields[i + 1] ?? 0); b++) bytes.push(((fields[i] ?? 0) / 256 ** b) & 255);
  return Uint8Array.from(bytes);
}
