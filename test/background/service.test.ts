/** The service without a terminal, as real processes of the built package. */
import { spawn } from "node:child_process";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { acquireLock } from "../../core/storage/lock.ts";
import { makeTempDir } from "../_setup.ts";
import { builtPackage, type Ran, ROOT, runCli } from "../built.ts";

beforeAll(builtPackage);

interface Status {
  running: boolean;
  url: string | null;
  pid: number | null;
  version: string | null;
  background: boolean;
  restarts: { how: string; reason: string }[];
  ended: { how: string; reason: string } | null;
  status: { storage: { sessions: number }; process: { memoryBytes: number; restarts: unknown[] } } | null;
}

async function background() {
  const home = await makeTempDir();
  const run = (...args: string[]) => runCli(args, home);
  onTestFinished(async () => {
    await run("stop");
  });
  return { home, run, status: async () => JSON.parse((await run("status", "--json")).stdout) as Status };
}

it("starts in the background, is found by every command, and ends on stop", async () => {
  const { run, status } = await background();
  expect((await run("status")).code).toBe(3);
  const started = await run("start", "--port", "0");
  expect(started).toMatchObject({ code: 0, stderr: "" });
  expect(started.stdout).toMatch(/^sessarc runs at http:\/\/127\.0\.0\.1:\d+\/ \(pid \d+\)\n$/);
  const { pid, background: is, status: live } = await status();
  expect(is).toBe(true);
  expect(live?.process.restarts).toEqual([]);
  const again = await run("start");
  expect(again.stdout).toContain(`already runs`);
  expect(again.stdout).toContain(`(pid ${pid})`);
  const text = (await run("status")).stdout;
  expect(text).toMatch(
    /^service +http.*\nversion .*\nsessions +0, .*\nuses .*\nruns in +the background\n(?:.*\n)*login +does not start at login/,
  );
  expect((await run("logs")).stdout).toMatch(/sessarc ready at http/);
  expect((await run("stop")).stdout).toBe("Stopped\n");
  expect(await status()).toMatchObject({ running: false, ended: null });
  expect((await run("stop")).stdout).toBe("No service runs\n");
});

it("starts again after it was killed, and reports it", async () => {
  const { run, status } = await background();
  await run("start", "--port", "0");
  const before = await status();
  process.kill(before.pid ?? 0, "SIGKILL");
  await expect.poll(async () => (await status()).pid, { timeout: 120_000 }).not.toBe(before.pid);
  await expect.poll(async () => (await status()).running, { timeout: 120_000 }).toBe(true);
  const after = await status();
  expect(after.restarts).toMatchObject([{ how: "signal SIGKILL" }]);
  expect(after.status?.process.restarts).toHaveLength(1);
  expect((await run("status")).stdout).toMatch(/restarted .*signal SIGKILL/);
  expect((await run("restart")).stdout).toMatch(/^sessarc runs at/);
  expect((await status()).restarts).toEqual([]);
});

it("says why it does not start, and does not try again what cannot help", async () => {
  const { home, run, status } = await background();
  const config = join(home, "wrong.mjs");
  await writeFile(config, "export default { prot: 1 }");
  const started = await run("start", "--config", config);
  expect(started.code).toBe(1);
  expect(started.stderr).toContain("prot");
  const busy = await run("start", "--host", "192.0.2.1");
  expect(busy.code).toBe(1);
  expect(busy.stderr).toMatch(/The service did not start: .*192\.0\.2\.1/s);
  expect(await status()).toMatchObject({ running: false });
});

it("two data directories have a service each", async () => {
  const { home, run, status } = await background();
  const other = ["--data-dir", join(home, "other")];
  onTestFinished(async () => {
    await run("stop", ...other);
  });
  await run("start", "--port", "0");
  await run("start", "--port", "0", ...other);
  const second = JSON.parse((await run("status", "--json", ...other)).stdout) as Status;
  const first = await status();
  expect([first.running, second.running]).toEqual([true, true]);
  expect(first.url).not.toBe(second.url);
  await run("stop");
  expect((JSON.parse((await run("status", "--json", ...other)).stdout) as Status).running).toBe(true);
});

it("is started again by the next command of a newer package", async () => {
  const { home, run, status } = await background();
  await run("start", "--port", "0");
  const before = await status();
  const cli = await newerPackage(join(home, "newer"));
  const ran = await runOther(cli, ["sessions", "--json"], home);
  expect(ran.stderr).toContain(`The service was of sessarc ${before.version}; it was started again with 99.0.0.`);
  const after = await status();
  expect(after).toMatchObject({ running: true, version: "99.0.0", background: true });
  // An older package leaves it alone.
  await run("sessions");
  expect((await status()).pid).toBe(after.pid);
});

it("is one a data directory, however many are started: at login, in each login shell, by hand", async () => {
  const { home, run, status } = await background();
  const data = join(home, ".local/share/sessarc");
  await mkdir(data, { recursive: true });
  const supervise = () => runFile([join(ROOT, "dist/supervise.mjs"), data, "--port", "0"], home);
  const all = [1, 2, 3, 4].map(supervise);
  await expect.poll(async () => (await status()).running).toBe(true);
  const ended: unknown[] = [];
  for (const one of all) void one.then(({ code, stderr }) => ended.push([code, stderr]));
  await expect.poll(() => ended).toEqual([1, 2, 3].map(() => [0, ""]));
  const before = await readFile(join(data, "service.json"), "utf8");
  expect(await supervise()).toMatchObject({ code: 0, stderr: "" });
  expect((await run("start")).stdout).toContain("already runs");
  expect(await readFile(join(data, "service.json"), "utf8")).toBe(before);
  expect(await status()).toMatchObject({ running: true, background: true, restarts: [], ended: null });
  expect((await run("stop")).stdout).toBe("Stopped\n");
  await Promise.all(all);
  expect(await status()).toMatchObject({ running: false, ended: null });
});

it("waits for a command that has the archive open, and starts when that ends", async () => {
  const { home, run, status } = await background();
  const data = join(home, ".local/share/sessarc");
  const command = await acquireLock(data);
  const started = run("start", "--port", "0");
  await expect.poll(() => readFile(join(data, "service.log"), "utf8").catch(() => "")).toMatch(/open/);
  await command.release();
  expect((await started).stdout).toMatch(/^sessarc runs at/);
  expect(await status()).toMatchObject({ running: true, restarts: [] });
});

it("a start while the supervisor pauses after a crash begins at once", async () => {
  const { home, run, status } = await background();
  await run("start", "--port", "0");
  const log = join(home, ".local/share/sessarc/service.log");
  // The second pause is four seconds, the third sixteen.
  for (let n = 0; n < 3; n++) {
    const { pid } = await status();
    process.kill(pid ?? 0, "SIGKILL");
    await expect.poll(async () => (await readFile(log, "utf8")).split("it starts again in").length).toBe(n + 2);
    if (n < 2) await expect.poll(async () => (await status()).running, { timeout: 120_000 }).toBe(true);
  }
  expect((await run("start", "--port", "0")).stdout).toMatch(/^sessarc runs at/);
  expect(await status()).toMatchObject({ running: true, restarts: [] });
});

/** The built package under another version; answers its command line. */
/** The version as the build may quote it. */
const withVersion = (text: string, before: string, after: string): string =>
  text.replaceAll(`"${before}"`, `"${after}"`).replaceAll(`\`${before}\``, `\`${after}\``);

async function newerPackage(folder: string): Promise<string> {
  const modules = join(folder, "node_modules");
  const own = join(modules, "sessarc");
  await mkdir(own, { recursive: true });
  for (const name of await readdir(join(ROOT, "node_modules")))
    if (!name.startsWith(".")) await symlink(join(ROOT, "node_modules", name), join(modules, name));
  await cp(join(ROOT, "dist"), join(own, "dist"), { recursive: true });
  const manifest = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { version: string };
  await writeFile(join(own, "package.json"), JSON.stringify({ ...manifest, version: "99.0.0" }));
  for (const name of await readdir(join(own, "dist"), { recursive: true })) {
    if (!name.endsWith(".mjs")) continue;
    const path = join(own, "dist", name);
    const text = await readFile(path, "utf8");
    const next = withVersion(text, manifest.version, "99.0.0");
    if (next !== text) await writeFile(path, next);
  }
  return join(own, "dist", "cli.mjs");
}

const runOther = (cli: string, args: readonly string[], home: string) => runFile([cli, ...args], home);

function runFile(words: readonly string[], home: string): Promise<Ran> {
  const env = { PATH: process.env.PATH ?? "", HOME: home, USERPROFILE: home, TMPDIR: home, TZ: "UTC" };
  const child = spawn(process.execPath, words, { env, cwd: home, stdio: ["ignore", "pipe", "pipe"] });
  return new Promise((resolve, reject) => {
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
