import { type ChildProcess, execSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { lutimes, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acquireLock, type LockInfo, readLock } from "../../core/storage/lock.ts";
import { ownIdentity } from "../../core/storage/process-identity.ts";
import { childScript } from "../scripts.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "sessarc-lock-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const file = () => join(dir, "lock.json");
const leave = async (info: Partial<LockInfo>) => {
  const lock = { ...(await ownIdentity()), startedAt: "2026-11-20T10:00:00.000Z", token: "left", ...info };
  await writeFile(file(), JSON.stringify(lock));
};
/** A pid that was in use a moment ago. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  return child.pid as number;
}

describe("acquireLock", () => {
  it.runIf(process.platform === "linux")("comes back from where no folder can be made, with the path", async () => {
    // Node's recursive mkdir turns for ever there.
    await expect(acquireLock("/proc/sessarc/archive")).rejects.toMatchObject({
      code: "STORAGE_READ_ONLY",
      params: { path: "/proc/sessarc/archive/lock.json" },
    });
  });

  it("names the owner to a second start, and is free after release", async () => {
    const lock = await acquireLock(dir);
    await lock.update({ port: 41730, url: "http://127.0.0.1:41730/" });
    expect(await readLock(dir)).toMatchObject({ pid: process.pid, port: 41730, url: "http://127.0.0.1:41730/" });
    await expect(acquireLock(dir)).rejects.toMatchObject({
      code: "ARCHIVE_LOCKED",
      params: { pid: process.pid, url: "http://127.0.0.1:41730/" },
    });
    await lock.release();
    await lock.release();
    expect(await readLock(dir)).toBeUndefined();
    expect(await readdir(dir)).toEqual([]);
    await (await acquireLock(dir)).release();
  });

  it.runIf(process.platform === "linux")("takes over from a process that ended and is not awaited", async () => {
    // The shell becomes a program that awaits no child.
    const parent = spawn("sh", ["-c", "read line <&3 & echo $!; exec cat"], {
      stdio: ["pipe", "pipe", "ignore", "pipe"],
    });
    const pid = await new Promise<number>((resolve) => {
      parent.stdout?.on("data", (said: Buffer) => resolve(Number(said.toString())));
    });
    const fields = async () => {
      const text = await readFile(`/proc/${pid}/stat`, "utf8");
      return text.slice(text.lastIndexOf(")") + 2).split(" ");
    };
    await leave({ pid, ticks: (await fields())[19] });
    expect(await readLock(dir)).toMatchObject({ pid });
    // Before that it would await its child.
    await expect.poll(() => readFile(`/proc/${parent.pid}/comm`, "utf8")).toBe("cat\n");
    parent.stdio[3]?.destroy();
    await expect.poll(async () => (await fields())[0]).toBe("Z");
    expect(await readLock(dir)).toBeUndefined();
    await (await acquireLock(dir)).release();
    parent.kill();
  });

  it("makes the data directory for its owner alone", async () => {
    const fresh = join(dir, "a/b");
    const lock = await acquireLock(fresh);
    if (process.platform !== "win32") {
      expect((await stat(fresh)).mode & 0o777).toBe(0o700);
      expect((await stat(join(fresh, "lock.json"))).mode & 0o777).toBe(0o600);
    }
    await lock.release();
  });

  it("takes over from a process that is gone", async () => {
    await leave({ pid: await deadPid() });
    expect(await readLock(dir)).toBeUndefined();
    const lock = await acquireLock(dir);
    expect((await readLock(dir))?.token).toBe(lock.info.token);
    expect(await readdir(dir)).toEqual(["lock.json"]);
    await lock.release();
  });

  it.skipIf(process.platform !== "linux")(
    "takes over after a reboot, and when the pid now belongs to another process",
    async () => {
      await leave({ boot: "another boot" });
      await (await acquireLock(dir)).release();
      await leave({ pid: process.ppid, ticks: "1" });
      await (await acquireLock(dir)).release();
    },
  );

  it.skipIf(process.platform !== "linux")(
    "believes an owner it cannot see as long as that gives signs of life",
    async () => {
      await leave({ boot: "another machine", host: `not-${hostname()}`, pid: 1 });
      await expect(acquireLock(dir)).rejects.toMatchObject({ code: "ARCHIVE_LOCKED" });
      const old = new Date(Date.now() - 120_000);
      await utimes(file(), old, old);
      await (await acquireLock(dir)).release();
    },
  );

  it("gets past an empty or garbled lock file of a crash", async () => {
    for (const text of ["", "{", "null", "[1]"]) {
      await writeFile(file(), text);
      const old = new Date(Date.now() - 10_000);
      await utimes(file(), old, old);
      await (await acquireLock(dir)).release();
    }
  });

  it.skipIf(process.platform === "win32").each([
    ["a folder", "mkdir lock.json"],
    ["a pipe", "mkfifo lock.json"],
    ["a link to itself", "ln -s lock.json lock.json"],
  ])("gets past %s in the lock's place, which nothing waits for; who held it takes it back", async (_, make) => {
    execSync(make, { cwd: dir });
    await lutimes(file(), 1, 1);
    const lock = await acquireLock(dir);
    await rm(file());
    execSync(make, { cwd: dir });
    await lutimes(file(), 1, 1);
    await lock.prove();
    expect(await readLock(dir)).toMatchObject({ token: lock.info.token });
    await lock.release();
  });

  it.skipIf(process.platform === "win32")("reports that a link to itself is in the directory's place", async () => {
    const folder = join(dir, "archive");
    const lock = await acquireLock(folder);
    await rm(folder, { recursive: true });
    execSync("ln -s archive archive", { cwd: dir });
    await expect(lock.prove()).rejects.toMatchObject({ code: "STORAGE_REPLACED" });
    await lock.release();
  });

  it("gets past a start that died while it was taking over", async () => {
    const pid = await deadPid();
    await leave({ pid });
    await writeFile(`${file()}.left`, JSON.stringify({ ...(await ownIdentity()), pid, startedAt: "", token: "claim" }));
    const lock = await acquireLock(dir);
    await lock.release();
    expect((await readdir(dir)).filter((name) => name.endsWith(".json"))).toEqual([]);
  });

  it("does not remove a lock that is no longer its own", async () => {
    const lock = await acquireLock(dir);
    await leave({ pid: process.pid, token: "other" });
    await lock.release();
    expect(existsSync(file())).toBe(true);
  });

  it("says what is wrong with a directory that cannot be written", async () => {
    await writeFile(join(dir, "plain"), "");
    await expect(acquireLock(join(dir, "plain"))).rejects.toThrow(/EEXIST|ENOTDIR/);
  });
});

describe("starts that race", () => {
  it("exactly one of many gets a stale lock, ten times over", async () => {
    const script = await childScript("storage/lock-child");
    const home = join(dir, "home");
    const racers: Racer[] = [];
    try {
      for (let i = 0; i < 5; i++) racers.push(new Racer(script, home));
      await Promise.all(racers.map((racer) => racer.line()));
      const pid = await deadPid();
      for (let round = 0; round < 10; round++) {
        await writeFile(
          join(home, "lock.json"),
          JSON.stringify({ ...(await ownIdentity()), pid, startedAt: "", token: `dead${round}` }),
        );
        for (const racer of racers) racer.send("acquire");
        const answers = await Promise.all(racers.map((racer) => racer.line()));
        expect(answers.filter((answer) => answer === "got")).toHaveLength(1);
        expect(answers.filter((answer) => answer === "ARCHIVE_LOCKED")).toHaveLength(4);
        for (const racer of racers) racer.send("release");
        await Promise.all(racers.map((racer) => racer.line()));
      }
      expect(await readdir(home)).toEqual([]);
    } finally {
      for (const racer of racers) racer.process.kill();
    }
  });
});

/** A child process spoken to line by line. */
class Racer {
  readonly process: ChildProcess;
  readonly #lines: string[] = [];
  #wake = () => {};
  #rest = "";

  constructor(script: readonly string[], home: string) {
    this.process = spawn(process.execPath, [...script, home], { stdio: ["pipe", "pipe", "inherit"] });
    this.process.stdout?.on("data", (data: Buffer) => {
      const lines = (this.#rest + data.toString()).split("\n");
      this.#rest = lines.pop() ?? "";
      this.#lines.push(...lines);
      this.#wake();
    });
  }
  send(word: string): void {
    this.process.stdin?.write(`${word}\n`);
  }
  async line(): Promise<string> {
    while (this.#lines.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#lines.shift() as string;
  }
}

it("keeps the file readable by a person", async () => {
  const lock = await acquireLock(dir, { port: 1 });
  expect(await readFile(file(), "utf8")).toContain('"port": 1');
  await lock.release();
});
