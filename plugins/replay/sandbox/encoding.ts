/** Bytes as a string that can be searched, and back: nothing of a file changes but what an edit says. */

export interface Coding {
  /** The whole file, its byte order mark included. */
  decode(data: Buffer): string;
  encode(text: string): Buffer;
  /** A text of a log in the form of decoded files. */
  of(text: string): string;
}

/** One char per byte: literal search in UTF-8 is search in its bytes, and what is no UTF-8 stays as it is. */
const BYTES: Coding = {
  decode: (data) => data.toString("latin1"),
  encode: (text) => Buffer.from(text, "latin1"),
  of: (text) => Buffer.from(text, "utf8").toString("latin1"),
};

const UTF16: Coding = {
  decode: (data) => data.toString("utf16le"),
  encode: (text) => Buffer.from(text, "utf16le"),
  of: (text) => text,
};

const UTF16_SWAPPED: Coding = {
  decode: (data) =>
    Buffer.from(data.subarray(0, data.length & ~1))
      .swap16()
      .toString("utf16le"),
  encode: (text) => Buffer.from(text, "utf16le").swap16(),
  of: (text) => text,
};

export function toCoding(data: Buffer): Coding {
  if (data.length % 2 === 0 && data[0] === 0xff && data[1] === 0xfe) return UTF16;
  if (data.length % 2 === 0 && data[0] === 0xfe && data[1] === 0xff) return UTF16_SWAPPED;
  return BYTES;
}
