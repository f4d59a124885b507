/** What a search looks at does not grow with the archive: counted in sessions, not in time. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestKernel } from "sessarc/test";
import { expect, it } from "vitest";
import { ChunkCache } from "../../plugins/archive/search/cache.ts";
import { ColumnFile, type Columns, turnAround } from "../../plugins/archive/search/columns.ts";
import { Course } from "../../plugins/archive/search/course.ts";
import type { Entry } from "../../plugins/archive/search/entry.ts";
import { Looker } from "../../plugins/archive/search/looker.ts";
import { compile } from "../../plugins/archive/search/match.ts";
import { parseQuery } from "../../plugins/archive/search/query.ts";
import { signed as signedText } from "./signed.ts";

const A_FILE = 500;

/** An archive of some files, each session with words of all and one word of its own; `unplaced` of them stand in no file. */
async function archiveOf(files: number, unplaced: readonly number[] = []) {
  const folder = await mkdtemp(join(tmpdir(), "sessarc-course-"));
  const t = await createTestKernel({ plugins: [] });
  const common = "common words of all";
  const name = (n: number) => `own${"abcdefghij".repeat(3).slice(n % 10, (n % 10) + 5)}word${n}`;
  const key = (n: number) => n.toString(16).padStart(16, "0");
  const places = new Map<string, Columns>();
  const opened: ColumnFile[] = [];
  for (let file = 0; file < files; file++) {
    const numbers = Array.from({ length: A_FILE }, (_, i) => file * A_FILE + i).filter((n) => !unplaced.includes(n));
    const signed = numbers.map((n) => {
      return { key: key(n), signatures: [signedText(`${common} ${name(n)}`)] };
    });
    const path = join(folder, `${file}.columns`);
    await mkdir(folder, { recursive: true });
    await writeFile(path, await turnAround(signed));
    const columns = new ColumnFile(path);
    opened.push(columns);
    for (const place of columns.sessions) places.set(place.key, place);
  }
  let looked = 0;
  const entries = Array.from({ length: files * A_FILE }, (_, n): Entry => {
    const columns = places.get(key(n));
    const entry: Entry = {
      id: key(n),
      projectId: n % 2 === 0 ? "even" : "odd",
      tool: "claude-code",
      sortAt: 1_000_000 - n,
      startMs: null,
      endMs: null,
      errors: 0,
      packed: "[]",
      key: key(n),
      columns,
      index: undefined,
      damaged: false,
      replaced: false,
    };
    return Object.defineProperty(entry, "columns", {
      get() {
        looked++;
        return columns;
      },
    });
  });
  const none = () => Promise.reject(new Error("nothing is read"));
  const cache = new ChunkCache(t.kernel.storage.transcripts);
  return {
    name,
    entries,
    async search(q: string, page: number, scope: { projects?: ReadonlySet<string>; start?: number } = {}) {
      looked = 0;
      const query = parseQuery(q);
      const looker = new Looker({ load: none, indexOf: none, drop() {}, damage() {} }, cache, compile(query));
      const start = scope.start === undefined ? undefined : { id: key(scope.start), sortAt: 1_000_000 - scope.start };
      const course = new Course(entries, looker, { query, projects: scope.projects ?? null }, start);
      const found = (await course.some(0, page)).map(({ sortAt }) => 1_000_000 - sortAt);
      return { found, looked, chunks: looker.stats.chunks };
    },
    async close() {
      for (const file of opened) file.close();
      await t.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

it("a word that is nowhere reads nothing of what stands in columns, and a frequent one looks at a page of them", async () => {
  const archive = await archiveOf(6, [700, 701, 1_900]);
  // What is in no column would be read: it is all that is left.
  expect(await archive.search("zyzzogeton", 10)).toMatchObject({ found: [700, 701, 1_900], chunks: 6 * A_FILE - 3 });
  const frequent = await archive.search("common", 10);
  expect(frequent.found).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(frequent.looked).toBeLessThan(100);
  expect((await archive.search(archive.name(2_345), 10)).found).toContain(2_345);
  await archive.close();
});

it("passes over nothing that may match: filters, later pages and sessions in no file", async () => {
  const archive = await archiveOf(3, [3, 4, 1_001]);
  const all = await archive.search("common", 10_000);
  expect(all.found).toEqual(archive.entries.map((_, n) => n));
  expect((await archive.search("common", 3, { projects: new Set(["odd"]), start: 497 })).found).toEqual([
    499, 501, 503,
  ]);
  expect((await archive.search("common", 10, { start: 1_497 })).found).toEqual([1_498, 1_499]);
  expect((await archive.search("co", 10_000)).found).toHaveLength(3 * A_FILE);
  for (const n of [0, 499, 500, 777, 1_499]) expect((await archive.search(archive.name(n), 10)).found).toContain(n);
  await archive.close();
});
