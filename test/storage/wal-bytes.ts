/** Writes SQLite's log format by hand, so that the tests need no other SQLite. */

export interface WalFrame {
  page: number;
  content: Uint8Array;
  /** Pages of the database after this frame when it commits; 0 inside a transaction. */
  commit: number;
}

export function makeWal(
  frames: readonly WalFrame[],
  options: { pageSize: number; bigEndian?: boolean; salts?: [number, number] },
): Buffer {
  const { pageSize, bigEndian = false, salts = [0x11223344, 0x55667788] } = options;
  const wal = Buffer.alloc(32 + frames.length * (24 + pageSize));
  let sum: [number, number] = [0, 0];
  const putWords = (at: number, words: readonly number[]) => {
    for (const [i, word] of words.entries()) wal.writeUInt32BE(word, at + i * 4);
  };
  const add = (offset: number, length: number) => {
    for (let i = offset; i < offset + length; i += 8) {
      const word = (at: number) => (bigEndian ? wal.readUInt32BE(at) : wal.readUInt32LE(at));
      const s1 = (sum[0] + word(i) + sum[1]) >>> 0;
      sum = [s1, (sum[1] + word(i + 4) + s1) >>> 0];
    }
  };
  putWords(0, [bigEndian ? 0x377f0683 : 0x377f0682, 3_007_000, pageSize, 0, ...salts]);
  add(0, 24);
  putWords(24, sum);
  frames.forEach(({ page, content, commit }, i) => {
    const at = 32 + i * (24 + pageSize);
    putWords(at, [page, commit, ...salts]);
    wal.set(content, at + 24);
    add(at, 8);
    add(at + 24, pageSize);
    putWords(at + 16, sum);
  });
  return wal;
}

/** The pages of `after` that differ from `before`; the last frame commits. */
export function diffFrames(before: Uint8Array, after: Uint8Array, pageSize: number): WalFrame[] {
  const frames: WalFrame[] = [];
  for (let offset = 0; offset < after.length; offset += pageSize) {
    const content = after.subarray(offset, offset + pageSize);
    if (Buffer.compare(content, before.subarray(offset, offset + pageSize)) !== 0)
      frames.push({ page: offset / pageSize + 1, content, commit: 0 });
  }
  const last = frames.at(-1);
  if (last) last.commit = after.length / pageSize;
  return frames;
}
