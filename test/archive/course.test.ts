/** What a search looks at does not grow with the archive: counted in sessions, not in time. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { createTestKernel } from "sessarc/test";
import { expect, it } from "vitest";
import { ChunkCache } from "../../plugins/archive/search/cache.ts";
import { ColumnFile, type Columns, turnAround } from "../../plugins/archive/search/columns.ts";
import { Course } from "../../plugins/archive/search/course.ts";
import { type Entry, newestFirst } from "../../plugins/archive/search/entry.ts";
import { edited, type List } from "../../plugins/archive/search/list.ts";
import { Looker } from "../../plugins/archive/search/looker.ts";
import { compile } from "../../plugins/archive/search/match.ts";
import { parseQuery } from "../../plugins/archive/search/query.ts";
import { runsOf } from "../../plugins/archive/search/runs.ts";
import { rounds } from "../rounds.ts";
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
  const list = { entries, runs: await runsOf(entries) };
  const none = () => Promise.reject(new Error("nothing is read"));
  const cache = new ChunkCache(t.kernel.storage.transcripts);
  return {
    name,
    list,
    async search(q: string, page: number, scope: { projects?: ReadonlySet<string>; start?: number } = {}) {
      looked = 0;
      const query = parseQuery(q);
      const looker = new Looker({ load: none, indexOf: none, drop() {}, damage() {} }, cache, compile(query));
      const start = scope.start === undefined ? undefined : { id: key(scope.start), sortAt: 1_000_000 - scope.start };
      const course = new Course(list, looker, { query, projects: scope.projects ?? null }, start);
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

it("a word that is nowhere looks at no session that stands in columns, and a frequent one at a page of them", async () => {
  const archive = await archiveOf(6, [700, 701, 1_900]);
  const absent = await archive.search("zyzzogeton", 10);
  expect(absent).toMatchObject({ found: [700, 701, 1_900], chunks: 6 * A_FILE - 3 });
  // Looked at for the filters, then for the columns they lack.
  expect(absent.looked).toBeLessThan(20);
  const frequent = await archive.search("common", 10);
  expect(frequent.found).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(frequent.looked).toBeLessThan(100);
  // One file at most is looked through for what stands in one session.
  const rare = await archive.search(archive.name(2_345), 10);
  expect(rare.found).toContain(2_345);
  expect(rare.looked).toBeLessThan(3 * A_FILE);
  await archive.close();
});

it("passes over nothing that may match: filters, later pages and sessions in no file", async () => {
  const archive = await archiveOf(3, [3, 4, 1_001]);
  const all = await archive.search("common", 10_000);
  expect(all.found).toEqual(archive.list.entries.map((_, n) => n));
  expect((await archive.search("common", 3, { projects: new Set(["odd"]), start: 497 })).found).toEqual([
    499, 501, 503,
  ]);
  expect((await archive.search("common", 10, { start: 1_497 })).found).toEqual([1_498, 1_499]);
  expect((await archive.search("co", 10_000)).found).toHaveLength(3 * A_FILE);
  for (const n of [0, 499, 500, 777, 1_499]) expect((await archive.search(archive.name(n), 10)).found).toContain(n);
  await archive.close();
});

it("a list that is edited is the list made anew, whatever came and went", async () => {
  const { list, close } = await archiveOf(3);
  const at = fc.record({ sortAt: fc.integer({ min: 998_400, max: 1_000_010 }), id: fc.uuid(), file: fc.nat(3) });
  const change = fc.record({ gone: fc.uniqueArray(fc.nat(list.entries.length - 1)), come: fc.array(at) });
  const files = [...new Set(list.entries.map(({ columns }) => columns))];
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 4 }), async (changes) => {
      let now: List = list;
      for (const { gone, come } of changes) {
        const old = [...new Set(gone.flatMap((i) => now.entries[i] ?? []))];
        const read = come
          .map((one): Entry => ({ ...(list.entries[0] as Entry), ...one, columns: files[one.file] }))
          .sort(newestFirst);
        const all = [...now.entries.filter((entry) => !old.includes(entry)), ...read].sort(newestFirst);
        now = edited(now, old, read);
        expect(now.entries.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
        expect(now.runs).toEqual(await runsOf(all));
      }
    }),
    { numRuns: rounds(20) },
  );
  await close();
});

it("what stands in a list is taken over in stretches, not looked at one by one", async () => {
  const { list, close } = await archiveOf(1);
  const [some] = list.entries as [Entry];
  const all = Array.from(
    { length: 20_000 },
    (_, i): Entry => ({ ...some, id: `${i}`, sortAt: -i, columns: undefined }),
  );
  const looked = new Set<string>();
  const entries = new Proxy(all, {
    get(target, name) {
      if (name === "slice") return (from: number, to: number) => target.slice(from, to);
      if (typeof name === "string" && /^\d+$/.test(name)) looked.add(name);
      return Reflect.get(target, name);
    },
  });
  const gone = [all[7], all[12_000]] as Entry[];
  const come = [{ ...some, id: "new", sortAt: -9_000.5, columns: undefined }];
  const made = edited({ entries, runs: await runsOf(all) }, gone, come);
  expect(made.entries).toEqual([...all.filter((entry) => !gone.includes(entry)), ...come].sort(newestFirst));
  // Halving finds each place in fifteen looks.
  expect(looked.size).toBeLessThanOrEqual(3 * 15);
  await close();
});
