import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../core/storage/database.ts";
import { LONG } from "../rounds.ts";
import { childScript } from "../scripts.ts";
import type { Job } from "./durability-child.ts";

/** One process that writes until it is killed; it starts warming up when made. */
class Writer {
  readonly #child;
  readonly #lines: AsyncIterator<string>;
  readonly #exit: Promise<unknown[]>;

  constructor(script: readonly string[]) {
    this.#child = spawn(process.execPath, script, { stdio: ["pipe", "pipe", "inherit"] });
    this.#exit = once(this.#child, "exit");
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Lets it write, kills it after `many` acknowledgements (0: somewhere while it opens) and answers all that it said. */
  async run(jobs: Job[], many: number): Promise<[job: number, n: number][]> {
    this.#child.stdin.write(`${JSON.stringify(jobs)}\n`);
    const said: [number, number][] = [];
    if (many === 0) setTimeout(() => this.kill(), (jobs[0]?.seed ?? 0) % 40);
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done) break;
      const [job = 0, n = 0] = value.split(" ").map(Number);
      said.push([job, n]);
      if (many > 0 && said.length === many) this.kill();
    }
    expect(await this.#exit).toEqual([null, "SIGKILL"]);
    return said;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}

let script: readonly string[];
let home: string;
beforeAll(async () => {
  script = await childScript("storage/durability-child");
  home = await mkdtemp(join(tmpdir(), "sessarc-kill-"));
});
afterAll(async () => {
  await rm(home, { recursive: true, force: true });
});

/** Reads as another process would, and never writes: the next writer has to recover alone. */
async function check(dir: string, acknowledged: Set<number>): Promise<{ last: number }> {
  const db = openDatabase({ dir, readOnly: true });
  const tables = await db.all("select name from sqlite_master where type = 'table'");
  if (tables.length < 2) {
    expect(acknowledged.size).toBe(0);
    await db.close();
    return { last: 0 };
  }
  const rows = await db.all<{ n: number; parts: number; most: number }>(
    "select n, count(*) as parts, max(part) as most from t group by n",
  );
  const counter = await db.get<{ n: number }>("select n from counter");
  await db.close();
  const found = new Set(rows.map(({ n }) => n));
  expect([...acknowledged].filter((n) => !found.has(n))).toEqual([]);
  expect(rows.filter(({ n, parts, most }) => parts !== 1 + (n % 4) || most !== n % 4)).toEqual([]);
  expect(counter?.n).toBe(found.size);
  return { last: Math.max(0, ...found) };
}

const ROUNDS = LONG ? 70 : 9;
/** A step after almost every batch; after some twenty; a long log, as usual. */
const LIMITS = [4_000, 200_000, 8 * 2 ** 20];

describe(`a process killed while it writes to three archives, ${ROUNDS} times`, () => {
  it("every acknowledged batch is there, none by half and none twice, and the next start goes on from that", async () => {
    const archives = LIMITS.map((logLimit) => ({
      dir: join(home, `limit-${logLimit}`),
      logLimit,
      first: 1,
      acknowledged: new Set<number>(),
    }));
    let warm = new Writer(script);
    try {
      for (let round = 0; round < ROUNDS; round++) {
        const writer = warm;
        warm = new Writer(script);
        const jobs = archives.map(({ dir, logLimit, first }, i) => ({
          dir,
          logLimit,
          first,
          seed: round * 7919 + i * 31 + 1,
        }));
        for (const [job, n] of await writer.run(jobs, round % 9 === 8 ? 0 : 1 + ((round * 37) % 90)))
          archives[job]?.acknowledged.add(n);
        for (const archive of archives) archive.first = 1 + (await check(archive.dir, archive.acknowledged)).last;
      }
    } finally {
      warm.kill();
    }
    for (const { acknowledged } of archives) expect(acknowledged.size).toBeGreaterThan(ROUNDS);
  });
});
