/** Pages of messages hold what was asked for. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import { createTestKernel } from "../kernel.ts";

it("`before` with kinds gives the last ones of those kinds, however far back they are", async () => {
  const t = await createTestKernel({ plugins: [archive(), claude()] });
  const key = "aaaaaaaa-0000-4000-8000-000000000001";
  const path = join(t.home, ".claude/projects/-w-app", `${key}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const rows = Array.from({ length: 2_000 }, (_, n) => ({
    type: n % 700 === 0 ? "user" : "assistant",
    uuid: `u${n}`,
    timestamp: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
    message: { role: n % 700 === 0 ? "user" : "assistant", content: [{ type: "text", text: `text ${n}` }] },
  }));
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await t.send("POST", "/api/import", { all: true });
  const seqs = async (query: string) =>
    (await t.json<{ messages: { seq: number }[] }>(`/api/sessions/claude-code:${key}/messages?${query}`)).messages.map(
      (one) => one.seq,
    );
  expect(await seqs("before=1999&limit=2&kinds=user")).toEqual([700, 1400]);
  expect(await seqs("before=1400&limit=5&kinds=user")).toEqual([0, 700]);
  expect(await seqs("before=50&limit=3")).toEqual([47, 48, 49]);
  expect(await seqs("before=2&limit=3")).toEqual([0, 1]);
  expect(await seqs("before=99999&limit=2")).toEqual([1998, 1999]);
  expect(await seqs("after=10&before=13&limit=9")).toEqual([11, 12]);
});
