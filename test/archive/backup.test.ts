/** A backup is the whole archive of one moment, whatever is written meanwhile, and opens like any data directory. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { tarHeader, tarPadding } from "../../plugins/archive/backup/tar.ts";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { openFiles } from "../open-files.ts";

const plugins = () => [archive(), claude()];
const key = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;
const row = (n: number, text: string) =>
  `${JSON.stringify({ type: "user", uuid: `u${n}`, timestamp: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(), message: { role: "user", content: text } })}\n`;
function write(home: string, n: number, ...texts: string[]): void {
  const path = join(home, ".claude/projects/-w-app", `${key(n)}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, texts.map((text, i) => row(i, text)).join(""));
}
const importAll = (t: TestKernel) => t.send("POST", "/api/import", { all: true });

async function unpack(tar: string): Promise<string> {
  const dir = await makeTempDir();
  execFileSync("tar", ["xf", tar, "-C", dir]);
  return dir;
}

describe("GET /backup", () => {
  it("opens as the archive it was, though sessions were replaced and deleted while it was read", async () => {
    const t = await createTestKernel({ plugins: plugins() });
    for (let n = 0; n < 6; n++) write(t.home, n, `first text of ${n} ${"x".repeat(5_000)}`);
    await importAll(t);
    const response = await t.fetch("/api/backup");
    expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="sessarc-[\d-]+\.tar"$/);
    const reader = response.body?.getReader();
    const pieces = [(await reader?.read())?.value ?? new Uint8Array()];
    // The download has begun. Now every text is replaced by another one, and one session goes.
    for (let n = 0; n < 6; n++) write(t.home, n, `first text of ${n} ${"x".repeat(5_000)}`, `second text of ${n}`);
    await importAll(t);
    await t.send("DELETE", `/api/sessions/${encodeURIComponent(`claude-code:${key(0)}`)}`);
    for (let step = await reader?.read(); step && !step.done; step = await reader?.read()) pieces.push(step.value);
    const tar = join(await makeTempDir(), "backup.tar");
    writeFileSync(tar, Buffer.concat(pieces));
    const dataDir = await unpack(tar);
    expect(readdirSync(dataDir)).not.toContain("lock.json");
    const copy = await createTestKernel({ plugins: plugins(), config: { dataDir } });
    const { sessions } = await copy.json<{ sessions: { id: string; messageCount: number }[] }>("/api/sessions");
    expect(sessions).toHaveLength(6);
    for (const session of sessions) {
      expect(session.messageCount).toBe(1);
      const { messages } = await copy.json<{ messages: { text: string }[] }>(
        `/api/sessions/${encodeURIComponent(session.id)}/messages`,
      );
      expect(messages.map(({ text }) => text.slice(0, 13))).toEqual([`first text of`]);
    }
    const { checks } = await copy.json<{ checks: { name: string; status: string }[] }>("/api/doctor");
    expect(
      checks.filter(({ name }) => ["catalogue", "transcripts"].includes(name)).map(({ status }) => status),
    ).toEqual(["ok", "ok"]);
  });

  it("releases what it held when the client disconnects", async () => {
    const t = await createTestKernel({ plugins: plugins() });
    write(t.home, 0, "y".repeat(400_000));
    await importAll(t);
    const response = await t.fetch("/api/backup");
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    const transcripts = () =>
      readdirSync(join(t.kernel.storage.dataDir, "transcripts"), { recursive: true, withFileTypes: true }).filter(
        (one) => one.isFile(),
      ).length;
    await t.send("DELETE", `/api/sessions/${encodeURIComponent(`claude-code:${key(0)}`)}`);
    expect(transcripts()).toBe(0);
  });

  it.skipIf(process.platform !== "linux")("releases it, too, when the service ends before the download", async () => {
    const t = await createTestKernel({ plugins: plugins() });
    write(t.home, 0, "y".repeat(400_000));
    await importAll(t);
    const response = await t.fetch("/api/backup");
    const reader = response.body?.getReader();
    const catalogue = join(t.kernel.storage.dataDir, "catalog.db");
    while (openFiles(catalogue) < 1) await reader?.read();
    await t.kernel.close();
    const rest = async () => {
      while (!(await reader?.read())?.done);
    };
    await expect(rest()).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    expect(openFiles(t.kernel.storage.dataDir)).toBe(0);
  });

  it("says where to look when transcripts lie elsewhere", async () => {
    const t = await createTestKernel({ plugins: plugins(), config: { storage: { driver: { name: "memory" } } } });
    const refused = await t.send<{ code: string; fix: string }>("GET", "/api/backup");
    expect(refused).toMatchObject({ status: 422, body: { code: "BACKUP_ELSEWHERE", fix: expect.any(String) } });
  });
});

it("sessarc backup writes one private file, whole", async () => {
  const home = await makeTempDir();
  write(home, 0, "hello");
  await runCommand(["import"], home);
  const file = join(home, "kept.tar");
  const { code, stdout } = await runCommand(["backup", file, "--json"], home);
  expect([code, JSON.parse(stdout)]).toEqual([0, { path: file, bytes: statSync(file).size }]);
  expect(statSync(file).mode & 0o077).toBe(0);
  const shown = await runCommand(["show", "last", "--data-dir", await unpack(file)], home);
  expect(shown.stdout).toContain("hello");
});

it("tar takes long and foreign names", async () => {
  const name = `skills/${"ü".repeat(40)}/${"long/".repeat(40)}文.md`;
  const body = Buffer.from("body");
  const tar = join(await makeTempDir(), "one.tar");
  writeFileSync(
    tar,
    Buffer.concat([tarHeader({ name, size: 4, mtime: 1e12 }), body, tarPadding(4), new Uint8Array(1024)]),
  );
  expect(
    execFileSync("tar", ["tf", tar, "--quoting-style=literal"], { env: { ...process.env, LC_ALL: "C.UTF-8" } })
      .toString()
      .trim(),
  ).toBe(name);
});

it("what a killed backup left goes with the next one; that of one still running stays", async () => {
  const t = await createTestKernel({ plugins: plugins() });
  await t.close();
  const folder = await makeTempDir();
  const left = (pid: number) => join(folder, `.~sessarc-backup-${hostname().replace(/[^\w-]/g, "_")}-${pid}.tmp`);
  const gone = spawnSync(process.execPath, ["-e", ""]).pid;
  for (const pid of [gone, process.ppid]) writeFileSync(left(pid), "half");
  const { code } = await runCommand(["backup", join(folder, "all.tar")], t.home);
  expect(code).toBe(0);
  expect(readdirSync(folder).sort()).toEqual([basename(left(process.ppid)), "all.tar"].sort());
});
