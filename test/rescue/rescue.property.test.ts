/** Any order of import, append, delete, restore, undo leaves figures and texts, and replaces no file. */
import { appendFile, mkdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { rounds } from "../rounds.ts";
import { importAll, startIn, TOOLS, told, writeLog } from "./_logs.ts";

const SESSIONS = 2;
const toKey = (n: number) => `aaaaaaaa-0000-4000-8000-00000000000${n}`;
const at = fc.nat(SESSIONS - 1);
const op = fc.oneof(
  fc.record({ do: fc.constant("import" as const), at }),
  fc.record({ do: fc.constant("append" as const), at }),
  fc.record({ do: fc.constant("delete" as const), at }),
  fc.record({ do: fc.constant("restore" as const), at }),
  fc.record({ do: fc.constant("copy" as const), at }),
  fc.record({ do: fc.constant("undo" as const), at }),
);

interface Texts {
  id: string;
  messages: { text: string }[];
  messageCount: number;
}

describe.each(TOOLS)("$name", ({ name, path: pathIn, rows }) => {
  it("keeps its figures and texts, whatever is deleted, restored and undone in whatever order", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(op, { minLength: 3, maxLength: 14 }), async (ops) => {
        const home = await makeTempDir();
        const cwd = join(home, "app");
        const moved = join(home, "moved");
        await mkdir(cwd);
        await mkdir(moved);
        const paths: string[] = [];
        const turns: number[] = [];
        for (let n = 0; n < SESSIONS; n++) {
          const said = { key: toKey(n), cwd, turns: 1 };
          // Two logs of one minute: names must differ.
          const path = pathIn(home, said).replace("T00-00-aaaaaaaa", `T00-0${n}-aaaaaaaa`);
          paths.push(await writeLog(path, rows(said)));
          turns.push(1);
        }
        const t = await startIn(home);
        await importAll(t);
        const archived = [...turns];
        for (const { do: what, at: n } of ops) {
          const path = paths[n] ?? "";
          const id = `${name}:${toKey(n)}`;
          const before = await readFile(path).catch(() => undefined);
          if (what === "append" && before) {
            const more = { key: toKey(n), cwd, turns: (turns[n] ?? 0) + 1 };
            const all = rows(more).map((row) => `${JSON.stringify(row)}\n`);
            const had = rows({ ...more, turns: more.turns - 1 }).length;
            await appendFile(path, all.slice(had).join(""));
            turns[n] = more.turns;
          }
          if (what === "delete") await rm(path, { force: true });
          if (what === "import") {
            await importAll(t);
            for (const [i, other] of paths.entries())
              if (await stat(other).catch(() => undefined)) archived[i] = turns[i] ?? 0;
          }
          if (what === "restore" || what === "copy") {
            const folder = what === "copy" ? moved : undefined;
            const { status, body } = await t.send("POST", "/api/rescue/restore", { sessions: [id], folder });
            expect(status, JSON.stringify(body)).toBe(200);
            const after = await readFile(path).catch(() => undefined);
            // What was there is as it was; what was not is what the archive had.
            if (before) expect(after?.equals(before)).toBe(true);
            if (what === "restore" && before) archived[n] = turns[n] ?? 0;
            if (what === "restore" && !before) {
              expect(after?.toString()).toBe(
                rows({ key: toKey(n), cwd, turns: archived[n] ?? 0 })
                  .map((row) => `${JSON.stringify(row)}\n`)
                  .join(""),
              );
              turns[n] = archived[n] ?? 0;
            }
          }
          if (what === "undo") {
            const { status } = await t.send("POST", "/api/rescue/undo", { session: id });
            expect([200, 404]).toContain(status);
            const after = await readFile(path).catch(() => undefined);
            if (after) expect(before && after.equals(before)).toBe(true);
            if (after && status === 200) archived[n] = turns[n] ?? 0;
          }
        }
        const texts = (await told(t)) as Texts[];
        for (let n = 0; n < SESSIONS; n++) {
          const own = texts.find(({ id }) => id === `${name}:${toKey(n)}`);
          const expected = Array.from({ length: archived[n] ?? 0 }, (_, i) => [
            `prompt ${i} of ${toKey(n)}`,
            `reply ${i} of ${toKey(n)}`,
          ]).flat();
          expect(own?.messages.map(({ text }) => text)).toEqual(expected);
        }
        const counted = texts.reduce((sum, { messageCount }) => sum + messageCount, 0);
        expect(counted).toBe(2 * archived.reduce((sum, count) => sum + count, 0));
        await t.close();
      }),
      { numRuns: rounds(120) },
    );
  });
});
