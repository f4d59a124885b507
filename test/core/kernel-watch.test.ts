import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import fs, { mkdir, rm, utimes, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FileChange } from "sessarc";
import { describe, expect, it, onTestFinished } from "vitest";
import { FolderPoll } from "../../core/kernel/poll-folders.ts";
import { type WatchOptions, watchRoot } from "../../core/kernel/watch.ts";
import { deferred, makeTempDir } from "../_setup.ts";
import { createTestKernel } from "../kernel.ts";
import { childScript } from "../scripts.ts";

/** Watches and answers a function that waits until `enough` accepts the changes seen so far. */
async function watch(root: string, options: Partial<WatchOptions> = {}) {
  const calls: FileChange[][] = [];
  const errors: unknown[] = [];
  let check = () => {};
  const stop = await watchRoot(
    root,
    (changes) => {
      calls.push(changes);
      check();
    },
    { settleMs: 20, pollMs: 20, onError: (error) => void errors.push(error), ...options },
  );
  onTestFinished(stop);
  const until = (enough: (changes: FileChange[]) => boolean) => {
    const done = deferred();
    check = () => (enough(calls.flat()) ? done.resolve() : undefined);
    check();
    return done.promise;
  };
  return { calls, errors, stop, until };
}

const has = (type: FileChange["type"], path: string) => (changes: FileChange[]) =>
  changes.some((it) => it.type === type && it.path === path);

/** A name space of our own whose number of watchers is 0: no other process on this machine is affected. */
const STARVED = 'echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"';
const starve = (command: string[]) => ["unshare", ["-Ur", "sh", "-c", STARVED, "sh", ...command]] as const;
const canStarve = process.platform === "linux" && spawnSync(...starve(["true"])).status === 0;

it.skipIf(!canStarve)("looks now and then when the system has no watcher left, and hangs nowhere", async () => {
  const root = await makeTempDir();
  const script = await childScript("core/watch-child");
  const [command, args] = starve([process.execPath, ...script, root]);
  expect(execFileSync(command, [...args], { encoding: "utf8" })).toBe("error WATCH_FAILED\ncreate a\n");
});

describe.each([
  ["events", {}],
  ["polling", { poll: true }],
] as const)("watch by %s", (_, mode) => {
  it("tells created, changed and deleted files, in folders that came later too", async () => {
    const root = await makeTempDir();
    const file = join(root, "sub", "a.jsonl");
    const w = await watch(root, mode);
    await mkdir(join(root, "sub"));
    await writeFile(file, "1");
    await w.until(has("create", file));
    const before = w.calls.length;
    await writeFile(file, "1\n2");
    await w.until(() =>
      w.calls
        .slice(before)
        .flat()
        .some(({ type, path }) => type !== "delete" && path === file),
    );
    await rm(file);
    await w.until(has("delete", file));
    expect(w.errors).toEqual([]);
  });

  it("reports changes of files in a root that was named with a slash at its end", async () => {
    const root = await makeTempDir();
    const file = join(root, "a.jsonl");
    await writeFile(file, "1");
    const w = await watch(`${root}/`, mode);
    appendFileSync(file, "2");
    await w.until(has("update", file));
  });

  it("passes on nothing after it was stopped", async () => {
    const root = await makeTempDir();
    const stopped = await watch(root, mode);
    const other = await watch(root, mode);
    await stopped.stop();
    await writeFile(join(root, "late"), "1");
    await other.until(has("create", join(root, "late")));
    expect(stopped.calls).toEqual([]);
  });
});

it("reports all that is made at once in folders of folders, and of what changes there later", async () => {
  const root = await makeTempDir();
  const w = await watch(root);
  // As a tool does that begins a day, nothing in between.
  const files = Array.from({ length: 100 }, (_, n) => join(root, `${n}`, "11", "22", "log.jsonl"));
  for (const file of files) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "1");
    await nextTurn();
  }
  await w.until((changes) => files.every((file) => has("create", file)(changes)));
  // What is written right after a file was made is reported as its creation.
  const areUpdated = () => {
    for (const file of files) appendFileSync(file, "2");
    return files.every((file) => has("update", file)(w.calls.flat()));
  };
  await expect.poll(areUpdated, { interval: 200 }).toBe(true);
  expect(w.errors).toEqual([]);
});

it("reports ten thousand files that come at once", async () => {
  const root = await makeTempDir();
  const w = await watch(root);
  const files = Array.from({ length: 10_000 }, (_, n) => join(root, `${n % 100}`, `${n}.jsonl`));
  for (let n = 0; n < 100; n++) mkdirSync(join(root, `${n}`));
  for (const file of files) writeFileSync(file, "1");
  const missing = new Set(files);
  await w.until((changes) => {
    for (const { path } of changes) missing.delete(path);
    return missing.size === 0;
  });
  expect(w.errors).toEqual([]);
});

it.skipIf(process.platform !== "linux")(
  "reports a folder that was moved away, made again under its name, or moved in",
  async () => {
    const root = await makeTempDir();
    const elsewhere = await makeTempDir();
    const at = (path: string) => join(root, path);
    mkdirSync(at("a/b"), { recursive: true });
    writeFileSync(at("a/b/log"), "1");
    const w = await watch(root);
    renameSync(at("a"), join(elsewhere, "a"));
    await w.until(has("delete", at("a")));
    mkdirSync(at("a/b"), { recursive: true });
    writeFileSync(at("a/b/log"), "2");
    await w.until(has("create", at("a/b/log")));
    renameSync(join(elsewhere, "a"), at("c"));
    await w.until(has("create", at("c/b/log")));
    rmSync(at("a"), { recursive: true });
    mkdirSync(at("a"));
    writeFileSync(at("a/new"), "3");
    await w.until(has("create", at("a/new")));
    const before = w.calls.length;
    appendFileSync(at("a/new"), "4");
    await w.until(() =>
      w.calls
        .slice(before)
        .flat()
        .some(({ path }) => path === at("a/new")),
    );
    expect(w.errors).toEqual([]);
  },
);

it("polls a root that could not be checked when the polling began", async () => {
  const root = await makeTempDir();
  const file = join(root, "a.jsonl");
  await writeFile(file, "1");
  const { stat } = fs;
  let asked = 0;
  fs.stat = ((...args: Parameters<typeof stat>) => {
    const away = Object.assign(new Error("ESTALE: stale file handle"), { code: "ESTALE" });
    return args[0] === root && ++asked === 2 ? Promise.reject(away) : stat(...args);
  }) as typeof stat;
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.stat = stat;
    syncBuiltinESMExports();
  });
  const w = await watch(root, { poll: true });
  expect(asked).toBe(2);
  await w.until(has("create", file));
});

it("lets others in while it reports that a large folder went", async () => {
  const root = await makeTempDir();
  mkdirSync(join(root, "a"));
  for (let n = 0; n < 40; n++) writeFileSync(join(root, "a", `${n}`), "1");
  let turn = 0;
  let went = 0;
  const turns = new Set<number>();
  const poll = new FolderPoll(root, () => {
    if (went++ === 0) void others();
    turns.add(turn);
    for (const since = performance.now(); performance.now() - since < 1; );
  });
  async function others() {
    for (; went < 40; turn++) await nextTurn();
  }
  await poll.begin();
  rmSync(join(root, "a"), { recursive: true });
  await poll.round();
  expect(went).toBe(40);
  expect(turns.size).toBeGreaterThan(2);
});

/** Counts what the system is asked of files and folders. */
function countStats(): { readonly asked: number } {
  const { stat } = fs;
  let asked = 0;
  fs.stat = ((...args: Parameters<typeof stat>) => {
    asked++;
    return stat(...args);
  }) as typeof stat;
  syncBuiltinESMExports();
  onTestFinished(() => {
    fs.stat = stat;
    syncBuiltinESMExports();
  });
  return {
    get asked() {
      return asked;
    },
  };
}

describe("polling a large tree", () => {
  const FILES = 4_000;
  const path = (root: string, n: number) => join(root, `${n % 5}`, `${n}.jsonl`);

  it("costs the same each round, sees what is written lately in the next, and all else within what it says", async () => {
    const root = await makeTempDir();
    for (let n = 0; n < 5; n++) await mkdir(join(root, `${n}`));
    for (let n = 0; n < FILES; n += 100)
      await Promise.all(Array.from({ length: 100 }, (_, i) => writeFile(path(root, n + i), "1")));
    const cold = path(root, 7);
    await utimes(cold, 1_000, 1_000);
    const lately = path(root, 8);
    await utimes(lately, new Date(Date.now() + 60_000), new Date(Date.now() + 60_000));
    const stats = countStats();
    const rounds: number[] = [];
    let last = 0;
    let promised = 0;
    let next = () => {};
    const w = await watch(root, {
      poll: true,
      pollShare: 1,
      settleMs: 0,
      onPolling({ reason, recentMs, allMs }) {
        expect(reason).toBeNull();
        promised = Math.ceil(allMs / recentMs);
        rounds.push(stats.asked - last);
        last = stats.asked;
        next();
      },
    });
    const whole = () =>
      new Promise<void>((resolve) => {
        next = resolve;
      });
    const roundsUntil = async (type: FileChange["type"], file: string) => {
      await whole(); // the round that is under way may have passed it
      const begun = rounds.length;
      await w.until(has(type, file));
      return rounds.length - begun;
    };
    appendFileSync(lately, "2");
    expect(await roundsUntil("update", lately)).toBeLessThanOrEqual(1);
    writeFileSync(path(root, FILES), "1");
    expect(await roundsUntil("create", path(root, FILES))).toBeLessThanOrEqual(1);
    appendFileSync(cold, "2");
    expect(await roundsUntil("update", cold)).toBeLessThanOrEqual(promised + 1);
    // Now it is one of those that changed lately.
    appendFileSync(cold, "3");
    w.calls.length = 0;
    expect(await roundsUntil("update", cold)).toBeLessThanOrEqual(1);
    rmSync(cold);
    expect(await roundsUntil("delete", cold)).toBeLessThanOrEqual(1);
    const [begin, ...others] = rounds;
    expect(begin).toBeGreaterThanOrEqual(FILES);
    expect(Math.max(...others)).toBeLessThan(FILES / 2);
    expect(w.errors).toEqual([]);
  });
});

it("gives up learning a large tree when what asked for it closes", async () => {
  const root = await makeTempDir();
  for (let n = 0; n < 300; n++) writeFileSync(join(root, `${n}`), "1");
  const closing = new AbortController();
  const stats = countStats();
  const watching = watch(root, { poll: true, signal: closing.signal });
  closing.abort();
  await watching;
  expect(stats.asked).toBeLessThan(10);
});

describe("settling", () => {
  it("names each path once per call, and a file that never rests is not held back for ever", async () => {
    const root = await makeTempDir();
    const file = join(root, "busy");
    const w = await watch(root, { settleMs: 60_000, maxWaitMs: 50 });
    await writeFile(file, "1");
    await writeFile(file, "12");
    await w.until((changes) => changes.length > 0);
    expect(w.calls[0]).toEqual([{ type: expect.stringMatching(/create|update/), path: file }]);
  });

  it("never runs two calls at once, and stopping waits for the one that runs", async () => {
    const root = await makeTempDir();
    const started = deferred();
    const go = deferred();
    let running = 0;
    let finished = false;
    const stop = await watchRoot(
      root,
      async () => {
        expect(++running).toBe(1);
        started.resolve();
        await go.promise;
        running--;
        finished = true;
      },
      { settleMs: 1, onError: () => {} },
    );
    await writeFile(join(root, "a"), "1");
    await started.promise;
    const stopping = stop();
    go.resolve();
    await stopping;
    expect(finished).toBe(true);
  });

  it("goes on after a listener threw, and tells", async () => {
    const root = await makeTempDir();
    const errors = deferred<unknown>();
    const again = deferred();
    let calls = 0;
    const stop = await watchRoot(
      root,
      () => {
        if (++calls === 1) throw new Error("first");
        again.resolve();
      },
      { settleMs: 1, onError: (error) => errors.resolve(error) },
    );
    onTestFinished(stop);
    await writeFile(join(root, "a"), "1");
    expect(await errors.promise).toMatchObject({ message: "first" });
    await writeFile(join(root, "b"), "1");
    await again.promise;
  });
});

describe.each([
  ["events", {}],
  ["polling", { poll: true }],
] as const)("watch of a file by %s", (_, mode) => {
  it("reports what is written to it and to the log of a database beside it, and nothing else of its folder", async () => {
    const root = await makeTempDir();
    const file = join(root, "a.db");
    await writeFile(file, "1");
    const w = await watch(file, mode);
    await writeFile(join(root, "other"), "1");
    await writeFile(`${file}-wal`, "1");
    const beside = "poll" in mode ? file : `${file}-wal`;
    await w.until(has("update", beside));
    appendFileSync(file, "2");
    await w.until((changes) => changes.filter(({ path }) => path === file).length > ("poll" in mode ? 1 : 0));
    await w.stop();
    const paths = new Set(w.calls.flat().map(({ path }) => path));
    expect([...paths].sort()).toEqual([...new Set([file, beside])]);
  });
});

describe("kernel.watch", () => {
  it("stops with the kernel", async () => {
    const t = await createTestKernel();
    const seen = deferred<FileChange[]>();
    await t.kernel.watch(t.home, (changes) => seen.resolve(changes));
    await writeFile(join(t.home, "log"), "1");
    expect(await seen.promise).toContainEqual({ type: "create", path: join(t.home, "log") });
    await t.close();
  });

  it("refuses what is not there", async () => {
    const t = await createTestKernel();
    await expect(t.kernel.watch(join(t.home, "none"), () => {})).rejects.toMatchObject({ code: "WATCH_FAILED" });
  });

  it("ends with the kernel also where it began while that closed", async () => {
    const t = await createTestKernel({ plugins: [] });
    const seen: FileChange[] = [];
    const begun = [0, 1].map(() => t.kernel.watch(t.home, (changes) => void seen.push(...changes)));
    const closed = t.kernel.close();
    begun.push(t.kernel.watch(t.home, (changes) => void seen.push(...changes)));
    await Promise.all([closed, ...begun]);
    await writeFile(join(t.home, "later"), "");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(seen).toEqual([]);
    await t.close();
  });
});
