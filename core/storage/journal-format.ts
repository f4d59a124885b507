/**
 * The journal's bytes. A file is a head and groups; a group holds the batches that shared one fsync, so a group that is not whole
 * was never acknowledged to anyone.
 *
 * head:  "SESSARCJ" | version | base | checksum of the snapshot | checksum of the head          (8 + 4 × 4 bytes, little-endian)
 * group: marker | length | checksum of all that follows | number of the first batch | count | one JSON line per batch
 * batch: {"s": [sql, …], "b": [[index of the sql, parameters…], …]}, bytes as {"x": base64}, infinities as {"n": text}
 */
import { crc32 } from "node:zlib";
import type { SqlValue, Statement } from "./types.ts";

export const HEAD = 24;
const MAGIC = "SESSARCJ";
const VERSION = 1;
const GROUP_HEAD = 20;
/** 0xFF never occurs in UTF-8, so no payload holds the marker. */
const MARKER = Buffer.from([0xff, 0x53, 0x4a, 0x47]);

export interface JournalHead {
  /** Number of the last batch in the snapshot that this journal continues. */
  base: number;
  /** That snapshot's checksum; 0 for none. */
  checksum: number;
}

interface JournalGroup {
  first: number;
  batches: Statement[][];
}

export interface JournalContent extends JournalHead {
  groups: JournalGroup[];
  /** Bytes up to the end of the last whole group; what follows was being written at a crash. */
  end: number;
}

/** A journal that cannot be trusted: not a torn end, but a hole. */
export class JournalDamage extends Error {
  override readonly name = "JournalDamage";
}

export function encodeHead({ base, checksum }: JournalHead): Buffer {
  const head = Buffer.alloc(HEAD);
  head.write(MAGIC, "latin1");
  head.writeUInt32LE(VERSION, 8);
  head.writeUInt32LE(base, 12);
  head.writeUInt32LE(checksum, 16);
  head.writeUInt32LE(crc32(head.subarray(0, 20)), 20);
  return head;
}

/** One line; equal SQL is written once. */
export function encodeBatch(statements: readonly Statement[]): string {
  const texts = new Map<string, number>();
  const rows = statements.map(([sql, params = []]) => {
    const index = texts.get(sql) ?? texts.size;
    texts.set(sql, index);
    return [index, ...params.map(encodeValue)];
  });
  return JSON.stringify({ s: [...texts.keys()], b: rows });
}

export function encodeGroup(first: number, batches: readonly string[]): Buffer {
  const text = batches.join("\n");
  const group = Buffer.allocUnsafe(GROUP_HEAD + Buffer.byteLength(text));
  MARKER.copy(group);
  group.writeUInt32LE(group.length, 4);
  group.writeUInt32LE(first, 12);
  group.writeUInt32LE(batches.length, 16);
  group.write(text, GROUP_HEAD, "utf8");
  group.writeUInt32LE(crc32(group.subarray(12)), 8);
  return group;
}

/**
 * Reads a journal. A group that is not whole ends it when nothing whole follows; otherwise, and when batches are missing in between,
 * it throws JournalDamage.
 */
export function readJournal(bytes: Buffer): JournalContent {
  const head = readHead(bytes);
  const groups: JournalGroup[] = [];
  let end = HEAD;
  let next = head.base + 1;
  while (end < bytes.length) {
    const length = wholeGroup(bytes, end);
    if (length === 0) {
      if (hasGroupAfter(bytes, end))
        throw new JournalDamage(`the record at byte ${end} is damaged, and records follow it`);
      break;
    }
    const first = bytes.readUInt32LE(end + 12);
    const count = bytes.readUInt32LE(end + 16);
    if (first !== next) throw new JournalDamage(`the record at byte ${end} starts with batch ${first}, not ${next}`);
    const lines = bytes.toString("utf8", end + GROUP_HEAD, end + length).split("\n");
    if (lines.length !== count)
      throw new JournalDamage(`the record at byte ${end} holds ${lines.length} batches, not ${count}`);
    groups.push({ first, batches: lines.map(decodeBatch) });
    next = first + count;
    end += length;
  }
  return { ...head, groups, end };
}

/** Whole groups of a damaged journal, in file order; damaged ones are skipped. */
export function* findGroups(bytes: Buffer): Generator<JournalGroup> {
  for (let at = bytes.indexOf(MARKER); at >= 0; ) {
    const length = wholeGroup(bytes, at);
    if (length > 0) {
      const lines = bytes.toString("utf8", at + GROUP_HEAD, at + length).split("\n");
      yield { first: bytes.readUInt32LE(at + 12), batches: lines.map(decodeBatch) };
    }
    at = bytes.indexOf(MARKER, at + Math.max(length, 1));
  }
}

function readHead(bytes: Buffer): JournalHead {
  if (
    bytes.length < HEAD ||
    bytes.toString("latin1", 0, 8) !== MAGIC ||
    crc32(bytes.subarray(0, 20)) !== bytes.readUInt32LE(20)
  ) {
    throw new JournalDamage("its head is damaged");
  }
  if (bytes.readUInt32LE(8) !== VERSION)
    throw new JournalDamage(`its format ${bytes.readUInt32LE(8)} is newer than this program`);
  return { base: bytes.readUInt32LE(12), checksum: bytes.readUInt32LE(16) };
}

/** Length of the whole group at `offset`; 0 when there is none. */
function wholeGroup(bytes: Buffer, offset: number): number {
  if (bytes.length - offset < GROUP_HEAD || bytes.compare(MARKER, 0, 4, offset, offset + 4) !== 0) return 0;
  const length = bytes.readUInt32LE(offset + 4);
  if (length < GROUP_HEAD || offset + length > bytes.length) return 0;
  return crc32(bytes.subarray(offset + 12, offset + length)) === bytes.readUInt32LE(offset + 8) ? length : 0;
}

function hasGroupAfter(bytes: Buffer, offset: number): boolean {
  for (let at = bytes.indexOf(MARKER, offset + 1); at >= 0; at = bytes.indexOf(MARKER, at + 1)) {
    if (wholeGroup(bytes, at) > 0) return true;
  }
  return false;
}

type Encoded = string | number | null | { x: string } | { n: string };

function encodeValue(value: SqlValue): Encoded {
  if (value instanceof Uint8Array)
    return { x: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") };
  // SQLite stores NaN as NULL.
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  return Number.isNaN(value) ? null : { n: String(value) };
}

function decodeValue(value: Encoded): SqlValue {
  if (typeof value !== "object" || value === null) return value;
  return "x" in value ? new Uint8Array(Buffer.from(value.x, "base64")) : Number(value.n);
}

function decodeBatch(line: string): Statement[] {
  const { s, b } = JSON.parse(line) as { s: string[]; b: [number, ...Encoded[]][] };
  return b.map(([index, ...params]) => [s[index] as string, params.map(decodeValue)]);
}
