/** One member's floods: what a push may hold is limited and named, nothing is read that is refused, and the others' pushes go on beside it. */
import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Manifest } from "../../plugins/team/index.ts";
import { LIMITS } from "../../plugins/team/server/ingest/limits.ts";
import { createQueue } from "../../plugins/team/server/ingest/queue.ts";
import { createPlaces } from "../../plugins/team/server/places.ts";
import {
  ADDRESS,
  ask,
  invite,
  joinOwner,
  type Machine,
  makeSession,
  PORT,
  startServer,
  type TestServer,
  type TestSession,
} from "./node.ts";
import { engines } from "./postgres.ts";

const tokens = { input: 1, output: 1, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 };

/** A session whose messages are these lines, in pieces of a MiB. */
function ofLines(
  id: string,
  lines: readonly string[],
  options: Partial<Parameters<typeof makeSession>[0]> = {},
): TestSession {
  const session = makeSession({ id, texts: ["x"], ...options });
  const names: string[] = [];
  let text = "";
  const cut = () => {
    const bytes = Buffer.from(text);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    session.chunks.set(sha256, bytes);
    names.push(sha256);
    text = "";
  };
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length > 1_000_000) cut();
  }
  if (text !== "") cut();
  session.manifest.events = names;
  return session;
}

/** More than is imported together with other pushes. */
const MANY = 20_000;
const messages = (count: number, word: string) =>
  Array.from({ length: count }, (_, i) =>
    JSON.stringify({ kind: i % 2 ? "assistant" : "user", text: `${word} ${i}`, id: `m${i}` }),
  );

describe.each(engines())("floods of a member on $name", (engine) => {
  let server: TestServer;
  let owner: Machine;
  let eve: Machine;
  let mika: Machine;

  beforeAll(async () => {
    server = await startServer(engine);
    owner = await joinOwner(server);
    eve = await invite(owner, "Eve");
    mika = await invite(owner, "Mika");
  });
  afterAll(() => server?.close());

  const put = (sha256: string, bytes: Buffer) => eve.ask("PUT", `/team/api/blobs/${sha256}`, gzipSync(bytes));
  const send = (manifest: object, machine = eve) =>
    machine.ask("POST", "/team/api/sessions", { space: machine.team, manifest });
  const toHash = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

  it("16 MiB in 16 KB are not inflated: a chunk holds at most 2 MiB", async () => {
    const bytes = Buffer.alloc(16 * 2 ** 20, "a");
    const answer = await put(toHash(bytes), bytes);
    expect([answer.status, answer.body.code]).toEqual([422, "TEAM_BLOB_WRONG"]);
    expect(answer.body.fix).toContain("2 MiB");
    const whole = Buffer.alloc(2 * 2 ** 20, "a");
    expect((await put(toHash(whole), whole)).status).toBe(200);
  });

  it.each<[string, string, (one: string, summary: Manifest["summary"]) => Partial<Manifest>]>([
    ["one chunk of text named 20,000 times", "chunks", (one) => ({ events: times(one, 20_000) })],
    ["one chunk of text named 300 times", "MiB of messages and replies", (one) => ({ events: times(one, 300) })],
    ["one chunk of replies named 300 times", "MiB of messages and replies", (one) => ({ replies: times(one, 300) })],
    ["earlier texts of the same chunk", "MiB of messages and replies", (one) => ({ earlier: [times(one, 300)] })],
    ["25,000 quarter-hours", "quarter-hours", (_, summary) => ({ summary: { ...summary, slots: quarters(25_000) } })],
    ["8,000 models", "models", (_, summary) => ({ summary: { ...summary, usage: models(8_000) } })],
    [
      "a model for each quarter-hour",
      "models",
      (_, summary) => ({ summary: { ...summary, slots: quarters(101, (i) => `m${i}`) } }),
    ],
    [
      "5,000 different chunks",
      "chunks",
      () => ({ raw: Array.from({ length: 5_000 }, (_, i) => toHash(Buffer.from(String(i)))) }),
    ],
  ])("%s are refused before anything is read, and the error names the limit", async (name, what, change) => {
    const bytes = Buffer.alloc(2 * 2 ** 20, "a");
    expect((await put(toHash(bytes), bytes)).status).toBe(200);
    const plain = makeSession({ id: `codex:${name.replaceAll(/\W/g, "-")}`, texts: [] }).manifest;
    const manifest = { ...plain, events: [toHash(bytes)], ...change(toHash(bytes), plain.summary) };
    // A chunk that was read would be missing.
    const path = join(server.folder, "blobs", "files", "team", "blob", toHash(bytes).slice(0, 2), toHash(bytes));
    await rm(path);
    const answer = await send(manifest);
    expect([answer.status, answer.body.code]).toEqual([422, "TEAM_SESSION_TOO_LARGE"]);
    expect(answer.body.message).toContain(what);
    expect(answer.body.message).toContain(String(LIMITS[what as keyof typeof LIMITS]));
    expect(await server.rows("select session from team_session where machine = ?", [eve.machine])).toEqual([]);
    expect((await put(toHash(bytes), bytes)).status).toBe(200);
  });

  it("80,000 empty messages in a chunk that is named 7 times are more messages than a session may have", async () => {
    const bytes = Buffer.from('{"kind":"user","text":""}\n'.repeat(80_000));
    expect((await put(toHash(bytes), bytes)).status).toBe(200);
    const { manifest } = makeSession({ id: "codex:empty", texts: [] });
    const answer = await send({ ...manifest, events: Array.from({ length: 7 }, () => toHash(bytes)) });
    expect([answer.status, answer.body.code]).toEqual([422, "TEAM_SESSION_TOO_LARGE"]);
    expect(answer.body.message).toContain("560000 messages");
  });

  it.each<[keyof typeof LIMITS, (i: number) => object]>([
    ["names of tools", (i) => ({ kind: "tool_use", text: "", tool_name: `tool-${i}` })],
    ["models", (i) => ({ kind: "assistant", text: "", model: `model-${i}` })],
  ])("more %s in its messages end the reading there", async (what, line) => {
    const lines = Array.from({ length: LIMITS[what] + 1 }, (_, i) => JSON.stringify(line(i)));
    const answer = await eve.push(ofLines(`codex:many-${what.replaceAll(" ", "-")}`, lines));
    expect([answer.status, answer.body.code]).toEqual([422, "TEAM_SESSION_TOO_LARGE"]);
    expect(answer.body.message).toContain(`${LIMITS[what] + 1} ${what}`);
  });

  it("a line that never ends is left out and counted, not joined", async () => {
    const endless = Buffer.alloc(2 * 2 ** 20, "a");
    const last = Buffer.from(`a"}\n${JSON.stringify({ kind: "user", text: "the capybara after it" })}\n`);
    const session = makeSession({ id: "codex:endless", texts: [] });
    for (const bytes of [endless, last]) session.chunks.set(toHash(bytes), bytes);
    session.manifest.events = [...Array.from({ length: 20 }, () => toHash(endless)), toHash(last)];
    expect((await eve.push(session)).body).toMatchObject({ outcome: "imported" });
    const [row] = await server.rows<{ skipped: string; message_count: number }>(
      "select skipped, message_count from session where id = ?",
      [`codex:${eve.machine}~endless`],
    );
    expect([row?.message_count, JSON.parse(row?.skipped ?? "{}")]).toEqual([1, { lines: 1, unknown: {} }]);
  });

  it("a large session is read beside the others: a push that began after it is answered before it", async () => {
    const order: string[] = [];
    const note = (name: string) => (answer: { status: number }) => void order.push(`${name} ${answer.status}`);
    const large = ofLines("codex:large", messages(3 * MANY, "heron"));
    await eve.push({ ...large, manifest: { ...large.manifest, id: "codex:first", events: [] } });
    const all = [send(large.manifest).then(note("large"))];
    await expect
      .poll(async () => (await server.rows("select 1 from team_session where session like '%~large'")).length)
      .toBe(1);
    all.push(mika.push(makeSession({ id: "codex:small", texts: ["an egret"] })).then(note("small")));
    await Promise.all(all);
    expect(order).toEqual(["small 200", "large 200"]);
    expect(JSON.stringify((await mika.ask("GET", "/api/search?q=egret")).body)).toContain("an egret");
    expect(JSON.stringify((await mika.ask("GET", '/api/search?q="heron 59999"')).body)).toContain("heron 59999");
  });

  it("a large session that grows, moves and is withdrawn is as any other; each reply counts once", async () => {
    const count = async () =>
      (await mika.ask<{ totals: { tokens: { output: number } } }>("GET", "/api/usage?by=model")).body.totals.tokens
        .output;
    const before = await count();
    const options = { replies: [[9_001, 70] as const, [9_002, 5] as const], title: "the first title" };
    const first = ofLines("codex:grows", messages(MANY, "ibis"), options);
    expect((await eve.push(first)).body).toMatchObject({ outcome: "imported" });
    expect((await eve.push(first)).body).toMatchObject({ outcome: "unchanged" });
    expect((await mika.push(makeSession({ id: "codex:shares", texts: ["x"], replies: [[9_001, 70]] }))).status).toBe(
      200,
    );
    expect(await count()).toBe(before + 75);
    const more = ofLines("codex:grows", messages(MANY + 500, "ibis"), options);
    expect((await eve.push(more)).body).toMatchObject({ outcome: "imported" });
    const id = `codex:${eve.machine}~grows`;
    const shown = async (machine: Machine) =>
      (await machine.ask<{ session?: { messageCount: number } }>("GET", `/api/sessions/${encodeURIComponent(id)}`)).body
        .session?.messageCount;
    expect(await shown(mika)).toBe(MANY + 500);
    expect(await count()).toBe(before + 75);
    expect((await eve.push(more, eve.mine)).body).toMatchObject({ outcome: "imported" });
    expect([await shown(mika), await shown(eve)]).toEqual([undefined, MANY + 500]);
    const gone = await eve.ask<{ removed: { id: string }[] }>("POST", "/team/api/withdraw", { ids: ["codex:grows"] });
    expect(gone.body.removed.map((one) => one.id)).toEqual(["codex:grows"]);
    expect(await server.everywhere(id)).toEqual(["team_change", "team_withdrawn", "tombstone"]);
    expect(await count()).toBe(before + 70);
  });

  it("the replies of a large session are counted beside the others when a session that has them, too, is withdrawn", async () => {
    const count = async () =>
      (await mika.ask<{ totals: { tokens: { output: number } } }>("GET", "/api/usage?by=model")).body.totals.tokens
        .output;
    const before = await count();
    await mika.push(makeSession({ id: "codex:older", texts: ["x"], replies: [[9_101, 30]], born: 1_000 }));
    await eve.push(ofLines("codex:younger", messages(MANY, "crane"), { replies: [[9_101, 30]] }));
    expect(await count()).toBe(before + 30);
    await mika.ask("POST", "/team/api/withdraw", { ids: ["codex:older"] });
    await expect.poll(count).toBe(before + 30);
    expect(await server.rows("select session from team_session where recount = 1")).toEqual([]);
  });

  it("a push whose machine is gone ends its reading, stores nothing, and comes with the next one", async () => {
    const session = ofLines("codex:aborted", messages(2 * MANY, "stilt"));
    for (const [sha256, bytes] of session.chunks) await put(sha256, bytes);
    const gone = new AbortController();
    const request = new Request(`${ADDRESS}/team/api/sessions`, {
      method: "POST",
      headers: {
        host: `127.0.0.1:${PORT}`,
        authorization: `Bearer ${eve.token}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ space: eve.team, manifest: session.manifest }),
      signal: gone.signal,
    });
    const answer = Promise.resolve(server.node.app.fetch(request));
    await expect
      .poll(async () => (await server.rows("select 1 from team_session where session like '%~aborted'")).length)
      .toBe(1);
    gone.abort();
    // The machine is gone and reads no answer.
    await answer;
    await expect
      .poll(() => server.rows("select code from team_access where status = 499"))
      .toEqual([{ code: "CLIENT_GONE" }]);
    const [row] = await server.rows<{ digest: string }>(
      "select digest from team_session where session like '%~aborted'",
    );
    expect(row?.digest).toBe("");
    expect(await server.transcripts(`codex:${eve.machine}~aborted`)).toBe(0);
    expect((await eve.push(session)).body).toMatchObject({ outcome: "imported" });
  });

  it("a hundred bombs and manifests at once leave the server answering, each with its error", async () => {
    const bomb = gzipSync(Buffer.alloc(16 * 2 ** 20));
    const { manifest } = makeSession({ id: "codex:many", texts: [] });
    const slots = { ...manifest, summary: { ...manifest.summary, slots: quarters(20_000, (i) => `m${i}`) } };
    const answers = await Promise.all([
      ...Array.from({ length: 100 }, (_, i) => eve.ask("PUT", `/team/api/blobs/${toHash(Buffer.from(`${i}`))}`, bomb)),
      ...Array.from({ length: 10 }, () => send(slots)),
      mika.ask("GET", "/api/sessions"),
    ]);
    const codes = new Map<unknown, number>();
    for (const { status, body } of answers)
      codes.set(`${status} ${body.code}`, (codes.get(`${status} ${body.code}`) ?? 0) + 1);
    expect(Object.fromEntries(codes)).toEqual({
      "422 TEAM_BLOB_WRONG": 100,
      "422 TEAM_SESSION_TOO_LARGE": 10,
      "200 undefined": 1,
    });
  });

  it("many questions of one person at once are answered some at a time, and another person's come in between", async () => {
    const order: string[] = [];
    const all = Array.from({ length: 40 }, () =>
      eve.ask("GET", "/api/search?q=heron").then(() => void order.push("eve")),
    );
    all.push(mika.ask("GET", "/api/search?q=egret").then(() => void order.push("mika")));
    await Promise.all(all);
    expect(order.indexOf("mika")).toBeLessThan(20);
    expect(order).toHaveLength(41);
  });

  it("nothing failed inside", async () => {
    expect(server.log).toEqual([]);
    expect((await ask(server.node, "GET", "/readyz")).status).toBe(200);
  });
});

const times = (sha256: string, count: number) => Array.from({ length: count }, () => sha256);
const models = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`model-${i}`, tokens]));
const quarters = (count: number, model: (i: number) => string = () => "m") =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      new Date(Date.UTC(2024, 0, 1) + i * 900_000).toISOString().slice(0, 16),
      { [model(i)]: tokens },
    ]),
  );

describe("places", () => {
  it("are limited for each person and for all; people are called in turns; who gives up leaves the line", async () => {
    const places = createPlaces(3, 2);
    const inside: string[] = [];
    const leaves: (() => void)[] = [];
    const enter = (name: string, signal?: AbortSignal) =>
      places.enter(name.slice(0, 1), signal).then((leave) => {
        inside.push(name);
        leaves.push(leave);
      });
    const settled = () => new Promise((resolve) => setImmediate(resolve));
    const gone = new AbortController();
    const all = ["a1", "a2", "a3"].map((name) => enter(name));
    const given = enter("a4", gone.signal).catch((error: unknown) => error);
    all.push(enter("a5"), enter("b1"), enter("b2"), enter("c1"));
    await settled();
    expect(inside).toEqual(["a1", "a2", "b1"]);
    gone.abort(new Error("gone"));
    expect(String(await given)).toContain("gone");
    expect(places.waiting).toBe(4);
    leaves[0]?.();
    leaves[0]?.();
    await settled();
    expect(inside).toHaveLength(4);
    for (let i = 1; i < 7; i++) {
      leaves[i]?.();
      await settled();
    }
    await Promise.all(all);
    expect(new Set(inside)).toEqual(new Set(["a1", "a2", "a3", "a5", "b1", "b2", "c1"]));
    expect(inside.indexOf("c1")).toBeLessThan(inside.indexOf("a5"));
    expect(places.waiting).toBe(0);
  });
});

describe("the queue of imports", () => {
  it("takes people in turns and each one's jobs in their order; a person who is held waits alone", () => {
    const queue = createQueue<{ person: string; n: number }>();
    for (let n = 0; n < 3; n++) queue.add({ person: "a", n });
    queue.add({ person: "b", n: 10 });
    queue.add({ person: "b", n: 11 });
    const take = () => {
      const job = queue.take();
      return job && `${job.person}${job.n}`;
    };
    expect([take(), take()]).toEqual(["a0", "b10"]);
    queue.hold("a");
    expect([take(), take()]).toEqual(["b11", undefined]);
    queue.free("a");
    expect([take(), take(), take()]).toEqual(["a1", "a2", undefined]);
    expect(queue.size).toBe(0);
  });
});
