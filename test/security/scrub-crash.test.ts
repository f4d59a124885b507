/**
 * A scrub, and its undo, killed before any call that changes the disk, and on a disk that is full: each log is as it was or wholly without the
 * secrets, its copy is there, the next scrub ends what was begun, and an undo puts the first bytes back.
 */
import { cp, mkdir, readdir, readFile, rename, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claudeCode from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import security, {
  type LeakPage,
  type Scrubbed,
  type ScrubState,
  type Unscrubbed,
} from "../../plugins/security/index.ts";
import { makeTempDir } from "../_setup.ts";
import { LONG } from "../rounds.ts";
import { childScript, runKilled } from "../scripts.ts";
import { fillDisk, mountSmall } from "../small-disk.ts";
import { letters } from "./_samples.ts";

const FIRST = `ghp_${letters(36, 901)}`;
const SECOND = `ghp_${letters(36, 902)}`;
const KEYS = ["aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"];
const CODEX = "bbbbbbbb-0000-4000-8000-000000000003";
const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();
/** Some 40 KB, so that a full disk takes only a part. */
const LONG_TEXT = letters(40_000, 903);

const pathsOf = (home: string) => [
  ...KEYS.map((key) => join(home, ".claude/projects/-w-app", `${key}.jsonl`)),
  join(home, `.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${CODEX}.jsonl`),
];
const toText = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

function claudeLog(key: string): string {
  const row = (n: number, type: string, content: unknown) => ({
    ...{ sessionId: key, cwd: "/w/app", timestamp: at(n), type, uuid: `${type}${n}` },
    message: { role: type, content },
  });
  return toText([
    row(0, "user", `deploy with ${FIRST} please`),
    row(1, "user", `and with ${SECOND}: ${LONG_TEXT}`),
    row(2, "assistant", [{ type: "text", text: `I take ${FIRST} and ${SECOND}` }]),
  ]);
}

function codexLog(): string {
  const meta = { id: CODEX, timestamp: at(0), cwd: "/w/app", originator: "codex_cli_rs", cli_version: "0.50.0" };
  const say = (n: number, text: string) => ({
    ...{ timestamp: at(n), type: "response_item" },
    payload: { type: "message", role: "user", content: [{ type: "input_text", text }] },
  });
  return toText([
    { timestamp: at(0), type: "session_meta", payload: meta },
    say(1, `use ${SECOND}`),
    say(2, `and ${FIRST}`),
  ]);
}

const without = (text: string, values: readonly string[]) =>
  values.reduce((rest, value) => rest.replaceAll(value, "*".repeat(value.length)), text);

/** Bytes that are left on a full disk. */
const LEFT = [0, 8_192, 40_960, 65_536, 98_304, 131_072, 262_144, 524_288];

/** Logs as they were written, with one secret removed, and with both. */
const STATES = [...KEYS.map(claudeLog), codexLog()].map((text) => ({
  whole: text,
  first: without(text, [FIRST]),
  second: without(text, [SECOND]),
  clean: without(text, [FIRST, SECOND]),
}));

const HALF = ["first", "second"];

const start = (home: string): Promise<TestKernel> =>
  createTestKernel({ home, plugins: [archive(), claudeCode(), codex(), security()] });
const scrub = (t: TestKernel) => t.send<Scrubbed>("POST", "/api/security/scrub", { originals: true });
const undo = (t: TestKernel) => t.send<Unscrubbed>("POST", "/api/security/scrub/undo");
const backupsOf = async (t: TestKernel) => (await t.json<ScrubState>("/api/security/scrub")).backups;

/** A home with the logs, imported, and both secrets marked as revoked; `isBegun`: the first one is removed already. */
async function makeHome(home: string, isBegun: boolean): Promise<void> {
  const day = new Date(Date.now() - 86_400_000);
  for (const [i, path] of pathsOf(home).entries()) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, STATES[i]?.whole ?? "");
    await utimes(path, day, day);
  }
  const t = await start(home);
  await t.send("POST", "/api/import", { all: true });
  await t.kernel.inject("importer").prepare();
  const revoke = async (id: string | undefined) =>
    expect((await t.send("POST", "/api/security/leaks/mark", { state: "rotated", ids: [id] })).status).toBe(200);
  const { leaks } = await t.json<LeakPage>("/api/security/leaks?whole=1&possible=1");
  expect(leaks).toHaveLength(2);
  if (isBegun) {
    await revoke(leaks[0]?.id);
    expect((await scrub(t)).body.originals).toHaveLength(3);
    for (const [i, text] of (await readAll(home)).entries()) expect(HALF).toContain(isOneOf(text, STATES[i]));
  }
  // A secret that was removed is in the inbox no more.
  for (const { id } of leaks.slice(isBegun ? 1 : 0)) await revoke(id);
  await t.close();
}

const readAll = (home: string) => Promise.all(pathsOf(home).map((path) => readFile(path, "utf8")));
const isOneOf = (text: string | undefined, states: (typeof STATES)[number] | undefined) =>
  Object.entries(states ?? {}).find(([, one]) => one === text)?.[0];

/** Every log is one of the states that the work may leave, and where it is not the first one its copy is whole. */
async function checkLogs(t: TestKernel, home: string, may: readonly string[]): Promise<void> {
  const backups = await backupsOf(t);
  for (const [i, text] of (await readAll(home)).entries()) {
    const path = pathsOf(home)[i] ?? "";
    const state = isOneOf(text, STATES[i]);
    expect(may, path).toContain(state);
    if (state === "whole") continue;
    const copy = backups.find((one) => one.path === path);
    expect(await readFile(copy?.backup ?? "no copy", "utf8"), path).toBe(STATES[i]?.whole);
  }
}

/** Nothing of a scrub is left beside the logs, and no copy that is not listed. */
async function checkRest(t: TestKernel, home: string): Promise<void> {
  for (const folder of new Set(pathsOf(home).map(dirname)))
    expect((await readdir(folder)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  const listed = (await backupsOf(t)).map(({ backup }) => backup);
  const folder = t.kernel.storage.path("scrub");
  const found = (await readdir(folder).catch(() => [])).map((name) => join(folder, name));
  expect(listed).toEqual(expect.arrayContaining(found));
}

/** From whatever state: an undo first, or the scrub to its end, then the first bytes are back. */
async function checkBoth(home: string, may: readonly string[], undoFirst: boolean): Promise<void> {
  const t = await start(home);
  await checkLogs(t, home, may);
  if (undoFirst) {
    expect((await undo(t)).body.left).toEqual([]);
    expect(await readAll(home)).toEqual(STATES.map(({ whole }) => whole));
    await checkRest(t, home);
  }
  const { status, body } = await scrub(t);
  expect([status, body.left], JSON.stringify(body)).toEqual([200, []]);
  expect(await readAll(home)).toEqual(STATES.map(({ clean }) => clean));
  await checkLogs(t, home, ["clean"]);
  await checkRest(t, home);
  expect((await undo(t)).body).toEqual({ restored: pathsOf(home).sort(), left: [] });
  expect(await readAll(home)).toEqual(STATES.map(({ whole }) => whole));
  await checkRest(t, home);
  await t.close();
}

let child: readonly string[];
beforeAll(async () => {
  child = await childScript("security/scrub-child");
});

/** A home that is made once and filled again in the same place, since the archive names the logs by their paths. */
async function makeAgain(isBegun: boolean): Promise<{ home: string; again(): Promise<string> }> {
  const folder = await makeTempDir();
  const [home, kept] = [join(folder, "home"), join(folder, "kept")];
  await makeHome(home, isBegun);
  await rename(home, kept);
  await mkdir(home);
  const again = async () => {
    for (const name of await readdir(home)) await rm(join(home, name), { recursive: true, force: true });
    await cp(kept, home, { recursive: true, preserveTimestamps: true });
    return home;
  };
  return { home, again };
}

/** Of the calls, spread evenly; in the long run each. */
const ROUNDS = LONG ? Number.POSITIVE_INFINITY : 6;

describe.each([
  ["scrub", false, ["whole", "clean"]],
  ["scrub", true, [...HALF, "clean"]],
  ["undo", true, [...HALF, "whole"]],
] as const)("a kill during the %s (one secret was removed before: %s)", (work, isBegun, may) => {
  it("leaves each log as it was or wholly changed, and both ways go on from there", async () => {
    const { again } = await makeAgain(isBegun);
    const calls = (await runKilled(child, { home: await again(), killAt: 0, work })) ?? 0;
    expect(calls).toBeGreaterThan(0);
    const step = Math.max(1, calls / ROUNDS);
    for (let round = 0; Math.floor(round * step) < calls; round++) {
      const killAt = Math.floor(round * step) + 1;
      const home = await again();
      expect(await runKilled(child, { home, killAt, work }), `call ${killAt} of ${calls}`).toBeUndefined();
      await checkBoth(home, may, round % 2 === 0);
    }
  });
});

it.each([false, true])(
  "a disk that is full during a scrub leaves each log as it was or wholly changed (one secret was removed before: %s; needs the right to mount)",
  async (isBegun) => {
    const { home, again } = await makeAgain(isBegun);
    const unmount = mountSmall(home, "24m");
    if (!unmount) return;
    onTestFinished(unmount);
    const filler = join(home, "full");
    const may = [...(isBegun ? HALF : ["whole"]), "clean"];
    let refused = 0;
    for (const [i, left] of LEFT.entries()) {
      const t = await start(await again());
      await t.json("/api/sessions");
      fillDisk(filler);
      await truncate(filler, Math.max(0, (await stat(filler)).size - left));
      const { status } = await scrub(t);
      expect([200, 507]).toContain(status);
      if (status === 507) refused++;
      await rm(filler);
      t.errors.splice(0);
      await checkLogs(t, home, may);
      await checkRest(t, home);
      await t.close();
      await checkBoth(home, may, i % 2 === 0);
    }
    expect(refused).toBeGreaterThan(0);
  },
);
