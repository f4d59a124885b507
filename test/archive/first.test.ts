/** What is written while the first import runs is new, not left out. */
import { mkdir, readdir, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { defineAdapter } from "sessarc/adapter";
import type { Session } from "sessarc/plugins";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import { createTestKernel } from "../kernel.ts";

it("imports a log that was begun behind the first listing, before its first session was stored", async () => {
  let listedAt = 0;
  let isImported = false;
  const notes = defineAdapter(() => ({
    name: "notes",
    label: "Notes",
    roots: ({ home }) => [join(home, ".notes")],
    async *scan(root) {
      for (const name of await readdir(root)) {
        const path = join(root, name);
        const { size, mtimeMs } = await stat(path);
        yield { key: name, path, size, mtime: mtimeMs, exclusive: true };
      }
      const at = Date.now();
      // Files are stamped up to 20 ms early: the first session is stored later than that.
      while (Date.now() <= at + 50) await setTimeout(5);
      if (!isImported) listedAt = at;
    },
    parse: () => ({
      row: (row) => ({ kind: "user", text: String((row as { text?: string }).text) }),
      finish: () => ({ usage: {} }),
    }),
  }));
  const t = await createTestKernel({ plugins: [archive(), notes()] });
  const folder = join(t.home, ".notes");
  await mkdir(folder);
  const write = (name: string) => writeFile(join(folder, name), `${JSON.stringify({ text: `Begin ${name}` })}\n`);
  await write("first");
  expect((await t.send("POST", "/api/import", { all: true })).status).toBe(200);
  isImported = true;
  await write("second");
  await utimes(join(folder, "second"), new Date(listedAt), new Date(listedAt));
  expect((await t.send("POST", "/api/sync?within=60000")).status).toBe(200);
  const { sessions } = await t.json<{ sessions: Session[] }>("/api/sessions");
  expect(sessions.map(({ id }) => id).sort()).toEqual(["notes:first", "notes:second"]);
});
