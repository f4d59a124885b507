/** The room of deleted sessions: told, and given back by the service and the command. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import security from "../../plugins/security/index.ts";
import share from "../../plugins/share/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { createTestKernel } from "../kernel.ts";
import { prompt, reply } from "../live/_sse.ts";

it("is reported and given back; what is left answers as before", async () => {
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
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining("Nothing is empty: the catalogue takes ")]);
});

it("titles of shares that ended and folders of projects without a session are nowhere in the catalogue any more", async () => {
  const home = await makeTempDir();
  const write = (n: number, cwd: string, text: string) => {
    const folder = join(home, ".claude/projects", cwd.replaceAll("/", "-"));
    mkdirSync(folder, { recursive: true });
    const row = { type: "user", uuid: `u${n}`, cwd, timestamp: "2026-11-20T10:00:00Z" };
    writeFileSync(
      join(folder, `aaaaaaaa-0000-4000-8000-00000000000${n}.jsonl`),
      `${JSON.stringify({ ...row, message: { role: "user", content: text } })}\n`,
    );
    return `claude-code:aaaaaaaa-0000-4000-8000-00000000000${n}`;
  };
  const gone = write(1, "/w/merger-with-acme", "sell the house by friday");
  const stays = write(2, "/w/app", "hello");
  const t = await createTestKernel({ home, plugins: [archive(), claude(), security(), share()] });
  await t.send("POST", "/api/import", { all: true });
  const ended = await t.send<{ id: string }>("POST", `/api/sessions/${gone}/share`, {});
  const active = await t.send<{ id: string }>("POST", `/api/sessions/${stays}/share`, {});
  await t.send("DELETE", `/api/shares/${ended.body.id}`);
  await t.send("DELETE", `/api/sessions/${gone}`);
  expect((await t.send("POST", "/api/vacuum")).status).toBe(200);
  expect((await t.json<{ path: string }[]>("/api/projects?git=0")).map(({ path }) => path)).toEqual(["/w/app"]);
  const { shares } = await t.json<{ shares: { id: string }[] }>("/api/shares");
  expect(shares.map(({ id }) => id)).toEqual([active.body.id]);
  // The log comes back as that of any project.
  await t.json("/api/scan");
  await t.send("POST", "/api/import", { sessions: [gone] });
  expect(await t.json<unknown[]>("/api/projects?git=0")).toHaveLength(2);
  await t.send("DELETE", `/api/sessions/${gone}`);
  await t.send("POST", "/api/vacuum");
  await t.close();
  for (const name of readdirSync(join(home, "data")).filter((name) => name.startsWith("catalog."))) {
    const bytes = readFileSync(join(home, "data", name), "latin1");
    expect([name, bytes.includes("merger-with-acme"), bytes.includes("sell the house")]).toEqual([name, false, false]);
  }
});
