/** Adapters are asked for their places when these may be others, not for each line. */
import { appendFile, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineAdapter } from "sessarc/adapter";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import { createTestKernel } from "../kernel.ts";

/** An assistant with a log in each of its places; `asked` counts. */
function assistant(name: string, places: string[]) {
  const asked = { times: 0 };
  const adapter = defineAdapter(() => ({
    name,
    label: name,
    roots({ home }) {
      asked.times++;
      return places.map((place) => join(home, place));
    },
    async *scan(root) {
      const found = await stat(join(root, "log")).catch(() => undefined);
      if (found)
        yield { key: root.replaceAll(/\W/g, "-"), path: join(root, "log"), size: found.size, mtime: found.mtimeMs };
    },
    open: () => ({
      version: async (ref) => String((await stat(ref.path)).size),
      async *read(ref) {
        yield { kind: "user" as const, text: await readFile(ref.path, "utf8") };
        return { usage: {} };
      },
    }),
  }));
  return { asked, adapter, places };
}

it("a line of a known log, and a sync, ask no assistant for its places; an import and a new log ask all", async () => {
  const [one, other] = [assistant("one", ["a"]), assistant("other", ["b"])];
  const t = await createTestKernel({ plugins: [archive(), one.adapter(), other.adapter()] });
  const log = async (place: string) => {
    await mkdir(join(t.home, place));
    await writeFile(join(t.home, place, "log"), "begun");
  };
  await log("a");
  await log("b");
  expect((await t.send("POST", "/api/import", { all: true })).body).toMatchObject({ imported: 2 });
  const times = () => [one.asked.times, other.asked.times];
  const before = times();
  await appendFile(join(t.home, "a", "log"), " more");
  const importer = t.kernel.inject("importer");
  expect(await importer.runPaths([join(t.home, "a", "log")], (found) => found)).toMatchObject({ imported: 1 });
  await appendFile(join(t.home, "b", "log"), " more");
  expect((await t.send("POST", "/api/sync?wait=1")).body).toMatchObject({ imported: 1, unchanged: 1 });
  expect(times()).toEqual(before);
  one.places.push("c");
  await log("c");
  expect(await importer.runPaths([join(t.home, "c", "log")], (found) => found)).toMatchObject({ imported: 1 });
  other.places.push("d");
  await log("d");
  expect((await t.send("POST", "/api/import", { all: true })).body).toMatchObject({ imported: 1 });
  expect(times().map((n, i) => n - (before[i] ?? 0))).toEqual([2, 2]);
});
