/** Reads an answer that may be of any length. */

/** The text of a body of at most `most` bytes, after it was inflated; undefined for a longer one, of which no more is read. */
export async function readWithin(response: Response, most: number): Promise<string | undefined> {
  if (!response.body) return "";
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop ends the connection.
  for await (const part of response.body) {
    bytes += part.length;
    if (bytes > most) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
