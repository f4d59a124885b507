/** Transcripts and shares outlive kills and restarts, wherever they are kept, and nothing is swept that is not its own. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import security from "../../plugins/security/index.ts";
import share from "../../plugins/share/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

const key = (n: number) => `aaaaaaaa-0000-4000-8000-00000000000${n}`;
const id = (n: number) => `claude-code:${key(n)}`;
function write(home: string, n: number, lines: number): void {
  const path = join(home, ".claude/projects/-w-app", `${key(n)}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const rows = Array.from({ length: lines }, (_, i) => ({
    type: "user",
    uuid: `u${n}-${i}`,
    timestamp: new Date(Date.UTC(2026, 0, 1) + i * 1000).toISOString(),
    message: { role: "user", content: `text ${i} of ${n}` },
  }));
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}
const plugins = () => [archive(), claude(), security(), share()];

describe.each([
  ["the usual driver", undefined],
  ["fs", "fs"],
  ["fs-lite", "fs-lite"],
])("%s", (_, name) => {
  const open = (home: string) =>
    createTestKernel({
      home,
      plugins: plugins(),
      config: name === undefined ? {} : { storage: { driver: { name, options: { base: join(home, "kept") } } } },
    });
  const total = async (t: TestKernel, n: number) =>
    (await t.json<{ total: number }>(`/api/sessions/${id(n)}/messages`)).total;

  it("sessions and shares are there after a restart and a sync; what others keep there stays", async () => {
    const home = await makeTempDir();
    for (let n = 1; n <= 4; n++) write(home, n, n);
    const first = await open(home);
    await first.send("POST", "/api/import", { all: true });
    const made = await first.send<{ token: string }>("POST", `/api/sessions/${id(1)}/share`, {});
    expect(made.status).toBe(201);
    if (name !== undefined) {
      mkdirSync(join(home, "kept/elsewhere"), { recursive: true });
      writeFileSync(join(home, "kept/elsewhere/note.txt"), "not ours");
    }
    await first.close();

    const again = await open(home);
    write(home, 2, 5);
    await again.send("POST", "/api/sync?wait=1");
    await again.send("POST", "/api/import", { all: true });
    expect(await Promise.all([1, 2, 3, 4].map((n) => total(again, n)))).toEqual([1, 5, 3, 4]);
    const page = await again.fetch(`/share/${made.body.token}`);
    expect([page.status, (await page.text()).includes("text 0 of 1")]).toEqual([200, true]);
    if (name !== undefined) expect(readFileSync(join(home, "kept/elsewhere/note.txt"), "utf8")).toBe("not ours");
  });
});

/** Every file below `dir` whose name says it is a share's. */
function bodies(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((path) => /shares.*\.(html|json)$/.test(path));
}

it("what a kill leaves between a body and its row is swept at the next start; a share without a body is no active one", async () => {
  const home = await makeTempDir();
  write(home, 1, 2);
  const first = await createTestKernel({ home, plugins: plugins() });
  await first.send("POST", "/api/import", { all: true });
  const kept = await first.send<{ id: string; token: string }>("POST", `/api/sessions/${id(1)}/share`, {});
  const lost = await first.send<{ id: string; token: string }>("POST", `/api/sessions/${id(1)}/share`, {});
  const { files } = first.kernel.storage;
  await files.setItemRaw("shares:0011223344556677.html", Buffer.from("orphan"));
  await files.removeItem(`shares:${lost.body.id}.html`);
  await first.close();
  const again = await createTestKernel({ home, plugins: plugins() });
  await expect.poll(() => bodies(join(home, "data/files")).length).toBe(2);
  const states = async () => {
    const { shares } = await again.json<{ shares: { id: string; state: string }[] }>("/api/shares");
    return [kept, lost].map(({ body }) => shares.find((one) => one.id === body.id)?.state);
  };
  await expect.poll(states).toEqual(["active", "revoked"]);
  expect((await again.fetch(`/share/${kept.body.token}`)).status).toBe(200);
});

it("one flipped bit in a frozen copy is not served", async () => {
  const home = await makeTempDir();
  write(home, 1, 2);
  const t = await createTestKernel({ home, plugins: plugins() });
  await t.send("POST", "/api/import", { all: true });
  const made = await t.send<{ id: string; token: string }>("POST", `/api/sessions/${id(1)}/share`, {});
  const path = join(home, "data/files/shares", `${made.body.id}.html`);
  const bytes = readFileSync(path);
  const at = bytes.indexOf("text 0");
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(path, bytes);
  expect((await t.fetch(`/share/${made.body.token}`)).status).toBe(404);
  const report = await t.json<{ checks: { name: string; detail: string }[] }>("/api/doctor");
  expect(report.checks.find((check) => check.name === "shares")?.detail).toContain(made.body.id);
});
