/** Transcripts and shares outlive kills and restarts, wherever they are kept, and nothing is swept that is not its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import security from "../../plugins/security/index.ts";
import share from "../../plugins/share/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { LONG } from "../rounds.ts";
import { childScript } from "../scripts.ts";

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

/** Every file below `dir` whose name says it is a share's. */
const bodies = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: "utf8" })
    .filter((path) => /shares.*\.(html|json)$/.test(path))
    .map((path) => join(dir, path));

let script: readonly string[];
beforeAll(async () => {
  script = await childScript("share/kill-child");
});

interface Told {
  made: { id: string; token: string }[];
  revoked: string | undefined;
  /** It came to its end before the call it was to be killed at. */
  ended: boolean;
}

/** What a process that shares told before it was killed. */
async function killed(home: string, killAt: number, driver: object | undefined): Promise<Told> {
  const argument = JSON.stringify({ home, killAt, driver: driver ?? null, session: id(1) });
  const run = spawn(process.execPath, [...script, argument], { stdio: ["ignore", "pipe", "inherit"] });
  const [output, [code, signal]] = await Promise.all([text(run.stdout), once(run, "close")]);
  if (signal !== "SIGKILL" && code !== 0) throw new Error(`The child failed (${code})`);
  const said = output.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  return {
    made: said.filter((one) => "token" in one),
    revoked: said.find((one) => "revoked" in one)?.revoked,
    ended: signal === null,
  };
}

describe.each([
  ["the usual driver", undefined],
  ["fs", "fs"],
  ["fs-lite", "fs-lite"],
])("%s", (_, name) => {
  const driverIn = (home: string) => (name === undefined ? undefined : { name, options: { base: join(home, "kept") } });
  const open = (home: string) => {
    const driver = driverIn(home);
    return createTestKernel({ home, plugins: plugins(), config: driver ? { storage: { driver } } : {} });
  };
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

  it("what a kill leaves between a body and its row is swept at the next start; a share without a body is no active one", async () => {
    const home = await makeTempDir();
    write(home, 1, 2);
    const first = await open(home);
    await first.send("POST", "/api/import", { all: true });
    const kept = await first.send<{ id: string; token: string }>("POST", `/api/sessions/${id(1)}/share`, {});
    const lost = await first.send<{ id: string; token: string }>("POST", `/api/sessions/${id(1)}/share`, {});
    const taken = await first.send<{ id: string; token: string }>("POST", `/api/sessions/${id(1)}/share`, {});
    const { db, files } = first.kernel.storage;
    // Killed when it was taken back, before its body was removed.
    await db.run("update share set revoked_at = ? where id = ?", [Date.now(), taken.body.id]);
    await files.setItemRaw("shares:0011223344556677.html", Buffer.from("orphan"));
    await files.removeItem(`shares:${lost.body.id}.html`);
    await first.close();
    const again = await open(home);
    // Less than the minute after which what is over is looked for.
    await expect.poll(() => bodies(home).length, { timeout: 30_000 }).toBe(2);
    const states = async () => {
      const { shares } = await again.json<{ shares: { id: string; state: string }[] }>("/api/shares");
      return [kept, lost].map(({ body }) => shares.find((one) => one.id === body.id)?.state);
    };
    await expect.poll(states).toEqual(["active", "revoked"]);
    expect((await again.fetch(`/share/${kept.body.token}`)).status).toBe(200);
  });

  it("a restart ends the time in which a revocation can be undone: nothing is served, and the copy is deleted", async () => {
    const home = await makeTempDir();
    write(home, 1, 2);
    const first = await open(home);
    await first.send("POST", "/api/import", { all: true });
    const made = await first.send<{ id: string; token: string }>("POST", `/api/sessions/${id(1)}/share`, {});
    await first.send("DELETE", `/api/shares/${made.body.id}?undo=1`);
    expect(bodies(home)).toHaveLength(2);
    await first.close();
    expect(bodies(home)).toEqual([]);
    const again = await open(home);
    expect((await again.fetch(`/share/${made.body.token}`)).status).toBe(404);
    const restored = await again.send("POST", `/api/shares/${made.body.id}/restore`);
    expect(restored).toMatchObject({ status: 409, body: { code: "SHARE_ENDED" } });
  });

  it("one flipped bit in a frozen copy is not served", async () => {
    const home = await makeTempDir();
    write(home, 1, 2);
    const t = await open(home);
    await t.send("POST", "/api/import", { all: true });
    const made = await t.send<{ id: string; token: string }>("POST", `/api/sessions/${id(1)}/share`, {});
    const path = bodies(home).find((one) => one.endsWith(`${made.body.id}.html`)) ?? "";
    const bytes = readFileSync(path);
    const at = bytes.indexOf("text 0");
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    writeFileSync(path, bytes);
    expect((await t.fetch(`/share/${made.body.token}`)).status).toBe(404);
    const report = await t.json<{ checks: { name: string; detail: string }[] }>("/api/doctor");
    expect(report.checks.find((check) => check.name === "shares")?.detail).toContain(made.body.id);
  });

  it("a process killed at any call of the disk while it shares: what was reported is there, what was taken back is not, nothing is left over", async () => {
    const prepared = await makeTempDir();
    write(prepared, 1, 2);
    const first = await open(prepared);
    await first.send("POST", "/api/import", { all: true });
    await first.close();
    const all = LONG ? Number.POSITIVE_INFINITY : 2;
    for (let round = 0, killAt = 1, ended = false; round < all && !ended; round++, killAt += LONG ? 1 : 5) {
      const home = await makeTempDir();
      cpSync(prepared, home, { recursive: true });
      const told = await killed(home, killAt, driverIn(home));
      ended = told.ended;
      const t = await open(home);
      const { shares } = await t.json<{ shares: { id: string; state: string }[] }>("/api/shares");
      const active = shares.filter(({ state }) => state === "active");
      await expect.poll(() => bodies(home).length).toBe(2 * active.length);
      const status = async ({ token }: Told["made"][number]) => (await t.fetch(`/share/${token}`)).status;
      const [first, second] = told.made;
      // The first may be taken back by then, though the caller was not notified.
      if (first && !second) expect([killAt, await status(first)]).toEqual([killAt, 200]);
      if (second) expect([killAt, await status(second)]).toEqual([killAt, 200]);
      if (first && told.revoked !== undefined) expect([killAt, await status(first)]).toEqual([killAt, 404]);
      await t.close();
    }
  });
});
