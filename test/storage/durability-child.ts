/**
 * Writes to several catalogues at once until it is killed. Waits for one line on stdin, the jobs. Says `job n` on stdout when batch n
 * of a job was acknowledged. Batch n has 1 + n % 4 rows and raises a counter by one: half a batch shows, and one that counted twice.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { openDatabase } from "../../core/storage/database.ts";
import { loadSqlJs } from "../../core/storage/sqljs.ts";

export interface Job {
  dir: string;
  logLimit: number;
  /** Number of the first batch. */
  first: number;
  seed: number;
}

await loadSqlJs();
const { value } = await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
const jobs = JSON.parse(value ?? "[]") as Job[];
await Promise.all(jobs.map(work));

async function work({ dir, logLimit, first, seed }: Job, job: number): Promise<void> {
  const random = createRandom(seed);
  const open = () => openDatabase({ dir, logLimit, onNotice: () => {} });
  let db = open();
  let next = first;
  await db.batch([
    ["create table if not exists t (n integer, part integer, text text)"],
    ["create table if not exists counter (n integer)"],
    ["insert into counter select 0 where not exists (select 1 from counter)"],
  ]);

  async function writeOne(): Promise<void> {
    const n = next++;
    const row = "insert into t values (?, ?, ?)";
    const rows = Array.from({ length: 1 + (n % 4) }, (_, part) => [row, [n, part, "x".repeat(random(400))]] as const);
    await db.batch([["update counter set n = n + 1"], ...rows]);
    writeSync(1, `${job} ${n}\n`);
  }

  for (;;) {
    // Several writers that do not wait for each other, so that groups of every size occur.
    const writers = Array.from({ length: 1 + random(6) }, async () => {
      for (let i = random(5); i >= 0; i--) await writeOne();
    });
    await Promise.all(writers);
    const dice = random(12);
    if (dice === 0) await db.compact();
    if (dice === 1) {
      await db.close();
      db = open();
    }
  }
}

/** Numbers from 0 up to `below`, the same for the same seed. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}
