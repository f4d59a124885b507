/** Compressed values inside databases. */

/** Larger values are damaged or hostile. */
const LIMIT = 256 * 2 ** 20;

/** The content of zstandard frames as text; undefined when they are damaged or hold over 256 MB. Loads fzstd on first use. */
export async function unzstd(bytes: Uint8Array): Promise<string | undefined> {
  const { Decompress } = await import("fzstd");
  const parts: Uint8Array[] = [];
  let size = 0;
  const stream = new Decompress((part) => {
    size += part.length;
    if (size > LIMIT) throw new RangeError("too large");
    parts.push(part);
  });
  try {
    stream.push(bytes, true);
  } catch {
    return undefined; // the caller counts it
  }
  return Buffer.concat(parts).toString("utf8");
}
