/**
 * Replies by their hash, on disk: which rows of `session_replies` hold them. A look-up reads one bucket, whatever the archive holds.
 *
 * File: "SESSARCR" | buckets as a power of two, replies (4 bytes each) | of each bucket where it ends, in replies, and its checksum (4 each) |
 * checksum of all that (4) | the replies: hash in two numbers, row (4 each). Numbers are those of the machine: elsewhere it is no such file.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { Slices, writeFileAtomic } from "#internal";

const MAGIC = Buffer.from("SESSARCR", "latin1");
const HEAD = 16;
/** Of a bucket in the directory. */
const ENTRY = 8;
/** Of a reply, in numbers of 4 bytes. */
const WIDTH = 3;
/** Replies of a bucket, about. */
const FULL = 64;
const HIGH = 2 ** 32;
/** Replies between two looks at the clock. */
const LOOK = 16_384;

/** Bucket of a hash: the high bits of both halves mixed. */
const bucketOf = (low: number, high: number, log2: number) =>
  log2 === 0 ? 0 : Math.imul(low ^ Math.imul(high, 0x27d4eb2f), 0x9e3779b1) >>> (32 - log2);

/** Replies and their rows, in the order they came. */
export class ReplyList {
  #numbers = new Uint32Array(WIDTH * 1_024);
  #length = 0;

  get length(): number {
    return this.#length;
  }
  /** Three numbers a reply. */
  get numbers(): Uint32Array {
    return this.#numbers.subarray(0, this.#length * WIDTH);
  }
  add(hash: number, row: number): void {
    this.#room(1);
    this.#numbers.set([hash % HIGH, Math.floor(hash / HIGH), row], this.#length++ * WIDTH);
  }
  addAll(numbers: Uint32Array): void {
    this.#room(numbers.length / WIDTH);
    this.#numbers.set(numbers, this.#length * WIDTH);
    this.#length += numbers.length / WIDTH;
  }

  #room(more: number): void {
    const needed = (this.#length + more) * WIDTH;
    if (needed <= this.#numbers.length) return;
    const numbers = new Uint32Array(Math.max(needed, this.#numbers.length * 2));
    numbers.set(this.#numbers);
    this.#numbers = numbers;
  }
}

/** About 50 ns a reply, in slices. */
export async function writeReplies(path: string, { numbers, length }: ReplyList): Promise<void> {
  const log2 = Math.max(0, Math.ceil(Math.log2(length / FULL)));
  const count = 1 << log2;
  const ends = new Uint32Array(count);
  const slices = new Slices();
  const bucketAt = (i: number) => bucketOf(numbers[i] as number, numbers[i + 1] as number, log2);
  const each = async (use: (i: number) => void) => {
    for (let i = 0; i < numbers.length; i += WIDTH) {
      use(i);
      if (i % (LOOK * WIDTH) === 0 && slices.due) await slices.turn();
    }
  };
  await each((i) => {
    const bucket = bucketAt(i);
    ends[bucket] = (ends[bucket] as number) + 1;
  });
  let sum = 0;
  for (let bucket = 0; bucket < count; bucket++) {
    sum += ends[bucket] as number;
    ends[bucket] = sum;
  }
  // From its end down: afterwards each says where its bucket starts.
  const starts = ends.slice();
  const sorted = new Uint32Array(numbers.length);
  await each((i) => {
    const bucket = bucketAt(i);
    const at = (starts[bucket] as number) - 1;
    starts[bucket] = at;
    sorted.set(numbers.subarray(i, i + WIDTH), at * WIDTH);
  });
  const bytes = Buffer.from(sorted.buffer);
  const head = new Uint32Array(HEAD / 4 + count * 2 + 1);
  head.set([log2, length], 2);
  for (let bucket = 0; bucket < count; bucket++) {
    const [from, to] = [starts[bucket] as number, ends[bucket] as number];
    head[4 + bucket * 2] = to;
    head[5 + bucket * 2] = crc32(bytes.subarray(from * WIDTH * 4, to * WIDTH * 4));
    if (slices.due) await slices.turn();
  }
  const directory = Buffer.from(head.buffer);
  MAGIC.copy(directory);
  head[head.length - 1] = crc32(directory.subarray(0, -4));
  await writeFileAtomic(path, async (file) => {
    for (const part of [directory, bytes]) await file.writeFile(part);
  });
}

export class ReplyFile {
  readonly path: string;
  /** Replies in it. */
  readonly length: number;
  readonly #fd: number;
  readonly #log2: number;
  /** Where each bucket ends, and its checksum. */
  readonly #directory: Uint32Array;

  /** Throws for a file that is none, or damaged. */
  constructor(path: string) {
    this.path = path;
    this.#fd = openSync(path, "r");
    try {
      const start = this.#read(HEAD, 0);
      if (!start.subarray(0, 8).equals(MAGIC)) throw new Error("it is no file of replies");
      const [log2 = 0, length = 0] = toNumbers(start).subarray(2);
      if (log2 > 26) throw new Error("its head is damaged");
      const directory = HEAD + ENTRY * 2 ** log2 + 4;
      // Before as much is read as it says: that may be anything.
      if (fstatSync(this.#fd).size !== directory + length * WIDTH * 4) throw new Error("it is not as long as it says");
      const head = this.#read(directory, 0);
      const numbers = toNumbers(head);
      if (crc32(head.subarray(0, -4)) !== numbers.at(-1)) throw new Error("its head is damaged");
      this.length = length;
      this.#log2 = log2;
      this.#directory = numbers.slice(4, -1);
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
  }

  /** Tells each row that holds the reply. Throws when its bucket is damaged. About 5 µs. */
  rowsOf(hash: number, tell: (row: number) => void): void {
    const [low, high] = [hash % HIGH, Math.floor(hash / HIGH)];
    const bucket = this.#bucket(bucketOf(low, high, this.#log2));
    for (let i = 0; i < bucket.length; i += WIDTH)
      if (bucket[i] === low && bucket[i + 1] === high) tell(bucket[i + 2] as number);
  }

  /** All of them, in slices. Throws when some are damaged. */
  async readInto(list: ReplyList): Promise<void> {
    const slices = new Slices();
    for (let bucket = 0; bucket < 1 << this.#log2; bucket++) {
      list.addAll(this.#bucket(bucket));
      if (slices.due) await slices.turn();
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  #bucket(i: number): Uint32Array {
    const from = i === 0 ? 0 : (this.#directory[i * 2 - 2] as number);
    const to = this.#directory[i * 2] as number;
    const at = HEAD + this.#directory.length * 4 + 4;
    const bytes = this.#read((to - from) * WIDTH * 4, at + from * WIDTH * 4);
    if (crc32(bytes) !== this.#directory[i * 2 + 1]) throw new Error(`bucket ${i} is damaged`);
    return toNumbers(bytes);
  }

  #read(length: number, at: number): Buffer {
    const buffer = Buffer.from(new ArrayBuffer(length));
    if (readSync(this.#fd, buffer, 0, length, at) !== length) throw new Error("it ends early");
    return buffer;
  }
}

const toNumbers = ({ buffer, byteOffset, byteLength }: Buffer) => new Uint32Array(buffer, byteOffset, byteLength / 4);
