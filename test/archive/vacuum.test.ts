/** The room of deleted sessions: told, and given back by the service and the command. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { createTestKernel } from "../kernel.ts";
import { prompt, reply } from "../live/_sse.ts";

it("is told and given back; what is left answers as before", async () => {
  const home = await makeTempDir();
  const folder = join(home, ".claude/projects/-w-app");
  mkdirSync(folder, { recursive: true });
  const key = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;
  // A file each that names many: the facts of a session are what makes the catalogue large.
  for (let n = 0; n < 60; n++)
    writeFileSync(
      join(folder, `${key(n)}.jsonl`),
      prompt(0) + Array.from({ length: 60 }, (_, i) => reply(1 + i, `answer ${i}`)).join(""),
    );
  const t = await createTestKernel({ home, plugins: [archive(), claude()] });
  await t.send("POST", "/api/import", { all: true });
  for (let n = 0; n < 50; n++) await t.send("DELETE", `/api/sessions/claude-code:${key(n)}`);
  const list = () => t.json<{ sessions: { id: string }[] }>("/api/sessions?limit=200");
  const before = await list();
  const { bytes, free } = await t.json<{ bytes: number; free: number }>("/api/vacuum");
  expect(free).toBeGreaterThan(0);
  const { body } = await t.send<{ before: number; after: number }>("POST", "/api/vacuum");
  expect(body.after).toBeLessThan(body.before);
  expect(body.before).toBe(bytes);
  expect((await t.json<{ free: number }>("/api/vacuum")).free).toBe(0);
  expect(await list()).toEqual(before);
  await t.close();

  const said = await runCommand(["vacuum", "--dry-run"], home, { SESSARC_DATA_DIR: join(home, "none") });
  expect(said.stdout).toMatch(/ of .* are empty/);
  const ran = await runCommand(["vacuum"], home, { SESSARC_DATA_DIR: join(home, "none") });
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining("The catalogue has")]);
});
