/** Which sessions count as live: what is written now, never what was only copied in. */
import { appendFile, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defineAdapter } from "sessarc/adapter";
import type { Session } from "sessarc/plugins";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import { createTestKernel } from "../kernel.ts";

/** Logs of Markdown's kind: a row has a time only where it has one. `filed`: the time of the file is each row's. */
const notes = defineAdapter(() => ({
  name: "notes",
  label: "Notes",
  roots: ({ home }) => [join(home, ".notes")],
  async *scan(root) {
    for (const name of await readdir(root)) {
      const path = join(root, name);
      const { size, mtimeMs } = await stat(path);
      yield { key: name.replace(/\.jsonl$/, ""), path, size, mtime: mtimeMs, exclusive: true };
    }
  },
  parse: ({ key, mtime }) => ({
    row(row) {
      const { text = "", at } = row as { text?: string; at?: string };
      const when = key === "filed" ? new Date(mtime ?? 0).toISOString() : at;
      return { kind: "user", text, ...(when !== undefined && { at: when }) };
    },
    finish: () => ({ usage: {} }),
  }),
}));

it("a log is live by its rows' own time, or when it was seen to grow, and not because it was copied", async () => {
  const t = await createTestKernel({ plugins: [archive(), notes()] });
  const folder = join(t.home, ".notes");
  await mkdir(folder);
  const write = (key: string, at?: string) =>
    writeFile(join(folder, `${key}.jsonl`), `${JSON.stringify({ text: `Begin ${key}`, at })}\n`);
  await write("old", "2026-01-01T00:00:00.000Z");
  await write("now", new Date(Date.now() - 5_000).toISOString());
  await write("timeless");
  await write("filed");
  const live = async () => {
    expect((await t.send("POST", "/api/import", { all: true })).status).toBe(200);
    const { sessions } = await t.json<{ sessions: Session[] }>("/api/sessions");
    const found = sessions.flatMap((one) => (one.live ? [one.id] : [])).sort();
    expect((await t.kernel.inject("archive").liveIds()).sort()).toEqual(found);
    return found;
  };
  expect(await live()).toEqual(["notes:now"]);
  for (const key of ["timeless", "filed"])
    await appendFile(join(folder, `${key}.jsonl`), `${JSON.stringify({ text: "and on" })}\n`);
  expect(await live()).toEqual(["notes:filed", "notes:now", "notes:timeless"]);
});
