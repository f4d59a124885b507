/** What a request began with is there until it ends; damage is left out, reported and repaired. */
import { execSync } from "node:child_process";
import { getEventListeners } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkTranscripts } from "../../plugins/archive/catalogue/check.ts";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { LONG } from "../rounds.ts";

const start = () => createTestKernel({ plugins: [archive(), claude()] });
const toKey = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;
const toId = (n: number) => `claude-code:${toKey(n)}`;
const row = (n: number, text: string) =>
  `${JSON.stringify({ type: "user", uuid: `u${n}`, timestamp: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(), message: { role: "user", content: text } })}\n`;

let clock = Date.now() / 1000 - 86_400 * 30;
function write(t: TestKernel, n: number, text: string): void {
  const path = join(t.home, ".claude/projects/-w-app", `${toKey(n)}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  utimesSync(path, ++clock, clock);
}
const importAll = (t: TestKernel) => t.send("POST", "/api/import", { all: true });
interface Found {
  results: { session: { id: string } }[];
  damaged: number;
}

const LOGS = LONG ? 30 : 4;

it("searches answer all through a re-import of what they look at", async () => {
  const t = await start();
  const logs = Array.from({ length: LOGS }, (_, n) => row(0, `needle ${n}`) + row(1, `edition 0 of ${n}`));
  for (const [n, text] of logs.entries()) write(t, n, text);
  await importAll(t);
  for (let edition = 1; edition <= (LONG ? 2 : 1); edition++) {
    for (const [n, text] of logs.entries()) write(t, n, text + row(1 + edition, `edition ${edition} of ${n}`));
    let running = true;
    const run = importAll(t).finally(() => {
      running = false;
    });
    while (running) {
      const { status, body } = await t.send<Found>("GET", "/api/search?q=needle&limit=100");
      expect([status, body.results?.length, body.damaged]).toEqual([200, LOGS, 0]);
    }
    await run;
  }
});

it("a slow reader of a long session gets all of it while the session is replaced", async () => {
  const t = await start();
  const rows = Array.from({ length: 3_000 }, (_, n) => row(n, `text ${n} ${"words ".repeat(40)}`));
  write(t, 1, rows.join(""));
  await importAll(t);
  const response = await t.fetch(`/api/sessions/${toId(1)}/messages`);
  const reader = response.body?.getReader();
  if (!reader) throw new Error("no body");
  const chunks = [(await reader.read()).value ?? new Uint8Array()];
  write(t, 1, rows.slice(0, 10).join(""));
  await importAll(t);
  await t.send("DELETE", `/api/sessions/${toId(1)}`);
  for (let step = await reader.read(); !step.done; step = await reader.read()) chunks.push(step.value);
  const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: object[] };
  expect(messages).toHaveLength(3_000);
  // The last reader is gone: so are the files.
  await expect.poll(() => t.kernel.storage.transcripts.keys()).toEqual([]);
});

it("responses that no client reads hold a block each, and nothing once their readers are gone", async () => {
  const t = await start();
  write(t, 1, Array.from({ length: 3_000 }, (_, n) => row(n, `text ${n} ${"words ".repeat(250)}`)).join(""));
  await importAll(t);
  const { stats } = t.kernel.storage.transcripts;
  const whole = async () => {
    const before = stats.inflated;
    await (await t.fetch(`/api/sessions/${toId(1)}/messages`)).text();
    return stats.inflated - before;
  };
  const chunks = await whole();
  expect(chunks).toBeGreaterThan(60);
  const before = stats.inflated;
  const unread = await Promise.all(Array.from({ length: 20 }, () => t.fetch(`/api/sessions/${toId(1)}/messages`)));
  // One that is read to its end gives the others all the time they would need.
  await whole();
  expect((stats.inflated - before - chunks) / unread.length).toBeLessThanOrEqual(8);
  await t.send("DELETE", `/api/sessions/${toId(1)}`);
  expect(await t.kernel.storage.transcripts.keys()).not.toEqual([]);
  await Promise.all(unread.map(({ body }) => body?.cancel()));
  await expect.poll(() => t.kernel.storage.transcripts.keys()).toEqual([]);
});

function partFiles(t: TestKernel): string[] {
  const dir = join(t.home, "data/transcripts");
  return readdirSync(dir).flatMap((folder) => readdirSync(join(dir, folder)).map((name) => join(dir, folder, name)));
}

const onWindows = process.platform === "win32";
const harms = {
  missing: (path: string) => rmSync(path),
  cut: (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 20)),
  "flipped in the middle": (path: string) => writeFileSync(path, readFileSync(path).fill(0xff, 4, 12)),
  "a folder": (path: string) => [rmSync(path), mkdirSync(path)],
  ...(!onWindows && {
    "a pipe": (path: string) => execSync(`rm ${path} && mkfifo ${path}`),
    "a link to itself": (path: string) => [rmSync(path), symlinkSync(path, path)],
  }),
};
/** What only a user may put in a folder's place: its logs are read again once it is gone. */
const blocked = {
  "in a folder that became a file": (path: string) => [
    rmSync(dirname(path), { recursive: true }),
    writeFileSync(dirname(path), ""),
  ],
  ...(!onWindows && {
    "in a folder that became a link": (path: string) => [
      renameSync(dirname(path), `${dirname(path)}-`),
      symlinkSync(`${dirname(path)}-`, dirname(path)),
    ],
  }),
};
it.each([
  ...Object.entries(harms).map(([name, harm]) => [name, harm, "it is repaired from its log"] as const),
  ...Object.entries(blocked).map(([name, harm]) => [name, harm, "its session alone stays damaged"] as const),
])("a transcript that is %s: search goes on without it and reports it; $2", async (_, harm, end) => {
  const t = await start();
  // The first prompt is the title, which the catalogue keeps: it is found without the transcript.
  write(t, 1, row(0, "first prompt") + row(1, "needle one"));
  await importAll(t);
  const [path = ""] = partFiles(t);
  write(t, 2, row(0, "first prompt") + row(2, "needle two"));
  await importAll(t);
  harm(path);
  const found = await t.json<Found>("/api/search?q=needle");
  expect(found.results.map((one) => one.session.id)).toEqual([toId(2)]);
  expect(found.damaged).toBe(1);
  await t.kernel.inject("importer").idle();
  const isRepaired = end === "it is repaired from its log";
  const then = await t.json<Found>("/api/search?q=needle");
  expect(then.results.map((one) => one.session.id).sort()).toEqual(isRepaired ? [toId(1), toId(2)] : [toId(2)]);
  expect(then.damaged).toBe(isRepaired ? 0 : 1);
});

it("where a file took the place of all transcripts, searches answer and count each session as damaged", async () => {
  const t = await start();
  write(t, 1, row(1, "needle one"));
  write(t, 2, row(2, "needle two"));
  await importAll(t);
  rmSync(join(t.home, ".claude/projects/-w-app"), { recursive: true });
  rmSync(join(t.home, "data/transcripts"), { recursive: true });
  writeFileSync(join(t.home, "data/transcripts"), "");
  const found = await t.fetch("/api/search?q=two");
  // The catalogue still has the title, which is the first prompt.
  const byTitle = { session: { id: toId(2) }, matches: [] };
  expect([found.status, await found.json()]).toMatchObject([200, { results: [byTitle], damaged: 2 }]);
  const report = await t.json<{ checks: { name: string; status: string }[] }>("/api/doctor");
  expect(report.checks).toContainEqual(expect.objectContaining({ name: "transcripts", status: "fail" }));
});

it("a damaged transcript without a log is reported by status and doctor", async () => {
  const t = await start();
  write(t, 1, row(0, "first prompt") + row(1, "needle one"));
  await importAll(t);
  rmSync(partFiles(t)[0] ?? "");
  rmSync(join(t.home, ".claude/projects/-w-app"), { recursive: true });
  const report = await t.json<{ checks: { name: string; status: string; detail: string }[] }>("/api/doctor");
  expect(report.checks).toContainEqual(expect.objectContaining({ name: "transcripts", status: "fail" }));
  await t.kernel.inject("importer").idle();
  expect(await t.json("/api/status")).toMatchObject({ storage: { damaged: 1 } });
  expect((await t.fetch(`/api/sessions/${toId(1)}`)).status).toBe(200);
  // Nothing was found in what could be read: that is no "at least 0".
  expect(await t.json("/api/search?q=needle")).toMatchObject({ total: { sessions: 0, relation: "eq" }, damaged: 1 });
  expect(await t.json("/api/search/total?q=needle")).toMatchObject({ sessions: 0, relation: "eq", damaged: 1 });
  write(t, 2, row(1, "needle two"));
  await importAll(t);
  expect(await t.json("/api/search?q=needle")).toMatchObject({ total: { sessions: 1, relation: "gte" }, damaged: 1 });
});

it("after delete and import again nothing kept answers the old text", async () => {
  const t = await start();
  write(t, 1, row(1, "old needle"));
  await importAll(t);
  expect((await t.json<Found>("/api/search?q=needle")).results).toHaveLength(1);
  const before = await t.kernel.inject("archive/open").row(toId(1));
  await t.send("DELETE", `/api/sessions/${toId(1)}`);
  write(t, 1, row(1, "new thread"));
  await t.json("/api/scan");
  await t.send("POST", "/api/import", { sessions: [toId(1)] });
  expect((await t.json<Found>("/api/search?q=needle")).results).toHaveLength(0);
  expect((await t.json<Found>("/api/search?q=thread")).results).toHaveLength(1);
  expect((await t.kernel.inject("archive/open").row(toId(1))).generation).toBeGreaterThan(before.generation);
});

it("of two searches at once none is stale", async () => {
  const t = await start();
  write(t, 1, row(1, "first needle"));
  await importAll(t);
  await t.json("/api/search?q=needle");
  appendFileSync(join(t.home, ".claude/projects/-w-app", `${toKey(1)}.jsonl`), row(2, "second needle"));
  write(t, 2, row(3, "third needle"));
  await importAll(t);
  const answers = await Promise.all([1, 2, 3].map(() => t.json<Found>("/api/search?q=needle")));
  expect(answers.map((answer) => answer.results.length)).toEqual([2, 2, 2]);
});

it("requests of this process leave no listener behind", async () => {
  const t = await start();
  write(t, 1, row(1, "needle one"));
  await importAll(t);
  for (let n = 0; n < 30; n++) await t.json("/api/search?q=needle");
  expect(getEventListeners(t.kernel.closing, "abort").length).toBeLessThan(5);
});

describe("a transcript with a flipped bit, before anybody read it", () => {
  async function damage(t: TestKernel): Promise<string> {
    write(t, 1, row(1, "needle one"));
    await importAll(t);
    const path = partFiles(t)[0] ?? "";
    writeFileSync(path, readFileSync(path).fill(0xff, 4, 12));
    return path;
  }
  const whole = async (t: TestKernel) =>
    (await t.fetch(`/api/sessions/${toId(1)}/messages`)).text().then((text) => text.includes("needle one"));

  it.each([
    ["session sync", (t: TestKernel) => t.send("POST", `/api/sessions/${toId(1)}/sync`)],
    ["import by name", (t: TestKernel) => t.send("POST", "/api/import", { sessions: [toId(1)] })],
    ["the doctor with --fix", (t: TestKernel) => checkTranscripts(t.kernel, true)],
  ] as const)("%s repairs it", async (_, repair) => {
    const t = await start();
    await damage(t);
    await t.json("/api/scan");
    await repair(t);
    expect(await whole(t)).toBe(true);
  });

  it("importing again repairs what an earlier process found", async () => {
    const home = await makeTempDir();
    const t = await createTestKernel({ home, plugins: [archive(), claude()] });
    const path = await damage(t);
    const log = join(t.home, ".claude/projects");
    renameSync(log, `${log}-away`);
    expect(await checkTranscripts(t.kernel, true)).toMatchObject({ status: "fail" });
    await t.close();
    renameSync(`${log}-away`, log);
    const again = await createTestKernel({ home, plugins: [archive(), claude()] });
    await importAll(again);
    expect(await whole(again)).toBe(true);
    expect(partFiles(again)).not.toEqual([path]);
  });
});
