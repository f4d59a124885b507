/**
 * What one member's floods cost the others of a team, and the server's memory:
 *   node test/bench/team-floods.mjs [postgres://… | folder for PGlite] [flood,flood…]
 * Starts `dist/cli.mjs team serve` with a heap of 320 MiB on an empty database. While one member floods it, another one pushes small sessions and
 * searches; printed are p50, p95 and the slowest of both, what the flood was answered, and the most resident memory during the flood.
 * Exits 1 when the server ends, or a push or search of the other member fails.
 */
import { spawn } from "node:child_process";
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const folder = mkdtempSync(join(tmpdir(), "sessarc-bench-floods-"));
const database = process.argv[2] || join(folder, "database");
const ONLY = process.argv[3]?.split(",");
/** MiB. */
const HEAP = 320;
/** A flood goes on for at least so long, so that the others are measured, and is given up after the longest. */
const LEAST_MS = 8_000;
const MOST_MS = 90_000;
const ADDRESS = "http://team.bench";
const cli = fileURLToPath(new URL("../../dist/cli.mjs", import.meta.url));

const server = spawn(
  process.execPath,
  [
    ...[`--max-old-space-size=${HEAP}`, cli, "team", "serve", "--port", "0", "--database", database],
    ...["--address", ADDRESS, "--blobs", join(folder, "blobs"), "--data-dir", join(folder, "node")],
  ],
  { stdio: ["ignore", "pipe", "inherit"] },
);
let ended = false;
server.once("exit", () => {
  ended = true;
});

/** MiB of the server that are in memory: now, and the most since `reset`. */
const memory = { most: 0 };
function rss() {
  try {
    const now = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
    memory.most = Math.max(memory.most, now);
    return now;
  } catch {
    return 0;
  }
}
setInterval(rss, 50).unref();

let base = "";
async function ask(method, path, { token, json, bytes, signal } = {}) {
  const answer = await fetch(`${base}${path}`, {
    method,
    signal,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(json && { "content-type": "application/json" }),
      ...(bytes && { "content-type": "application/gzip" }),
    },
    body: json ? JSON.stringify(json) : bytes,
  });
  const text = await answer.text();
  return { status: answer.status, body: text.startsWith("{") ? JSON.parse(text) : text };
}

async function must(...request) {
  const { status, body } = await ask(...request);
  if (status !== 200) throw new Error(`${request[0]} ${request[1]}: ${status} ${JSON.stringify(body)}`);
  return body;
}

async function joinBy(link, name) {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const invite = link.slice(link.indexOf("#") + 1);
  const json = { invite, name, machine: name, publicKey: publicKey.export({ format: "jwk" }).x };
  const joined = await must("POST", "/team/api/join", { json });
  const member = { token: "", space: joined.spaces.find(({ kind }) => kind === "team").id };
  member.renew = async () => {
    const at = new Date().toISOString();
    const nonce = randomBytes(16).toString("base64url");
    const text = ["sessarc-team-token", ADDRESS, joined.device, at, nonce].join("\n");
    const signature = sign(null, Buffer.from(text), privateKey).toString("base64url");
    const request = { device: joined.device, at, nonce, signature };
    member.token = (await must("POST", "/team/api/token", { json: request })).token;
  };
  await member.renew();
  return member;
}

const hashOf = (bytes) => createHash("sha256").update(bytes).digest("hex");
const tokens = { input: 1, output: 1, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 };
const summary = { title: "a session", startedAt: "2026-01-01T00:00:00Z", endedAt: "2026-01-01T00:00:00Z", usage: {} };
let count = 0;
const manifestOf = (rest = {}) => ({
  version: 1,
  id: `codex:s${count++}`,
  tool: "codex",
  toolLabel: "Codex",
  project: { kind: "repository", name: "bench", key: "commit:bench" },
  name: null,
  summary,
  replies: [],
  events: [],
  earlier: [],
  raw: [],
  born: Date.parse(summary.startedAt),
  ...rest,
});

async function putChunk({ token }, bytes) {
  const sha256 = hashOf(bytes);
  await must("PUT", `/team/api/blobs/${sha256}`, { token, bytes: gzipSync(bytes) });
  return sha256;
}
const send = ({ token, space }, manifest, signal) =>
  ask("POST", "/team/api/sessions", { token, json: { space, manifest }, signal });
const times = (name, n) => Array.from({ length: n }, () => name);
const all = (n, work) => Promise.all(Array.from({ length: n }, (_, i) => work(i)));

/** Each prepares itself, and answers what runs while the others are measured. */
const FLOODS = {
  quiet: () => async () => [],
  "one chunk 20,000 times, 20 at once": async (eve) => {
    const name = await putChunk(eve, Buffer.alloc(2 * 2 ** 20, "a"));
    return () => all(20, () => send(eve, manifestOf({ events: times(name, 20_000) })));
  },
  "100 bombs of 16 MiB at once": ({ token }) => {
    const bytes = gzipSync(Buffer.alloc(16 * 2 ** 20));
    return () => all(100, (i) => ask("PUT", `/team/api/blobs/${hashOf(Buffer.from(`${i}`))}`, { token, bytes }));
  },
  "100 chunks of 2 MiB at once": ({ token }) => {
    const chunks = Array.from({ length: 10 }, () => Buffer.from(randomBytes(2 ** 20).toString("hex")));
    const packed = chunks.map((bytes) => ({ sha256: hashOf(bytes), bytes: gzipSync(bytes, { level: 1 }) }));
    return () =>
      all(100, (i) => ask("PUT", `/team/api/blobs/${packed[i % 10].sha256}`, { token, bytes: packed[i % 10].bytes }));
  },
  "480,000 empty messages": async (eve) => {
    const name = await putChunk(eve, Buffer.from('{"kind":"user","text":""}\n'.repeat(80_000)));
    return async () => [await send(eve, manifestOf({ events: times(name, 6) }))];
  },
  "200 MiB of messages": async (eve) => {
    const names = [];
    for (let i = 0; i < 10; i++) names.push(await putChunk(eve, textChunk(i)));
    return async () => [await send(eve, manifestOf({ events: names.flatMap((name) => times(name, 10)) }))];
  },
  "8,000 quarter-hours": async (eve) => {
    const slots = Object.fromEntries(
      Array.from({ length: 8_000 }, (_, i) => [
        new Date(Date.UTC(2024, 0, 1) + i * 900_000).toISOString().slice(0, 16),
        { m: tokens },
      ]),
    );
    const usage = { m: { ...tokens, input: 8_000, output: 8_000 } };
    return async () => [await send(eve, manifestOf({ summary: { ...summary, slots, usage } }))];
  },
  "8,000 models, 20 at once": (eve) => {
    const usage = Object.fromEntries(Array.from({ length: 8_000 }, (_, i) => [`model-${i}`, tokens]));
    return () => all(20, () => send(eve, manifestOf({ summary: { ...summary, usage } })));
  },
  "30,000 replies": async (eve) => {
    const row = (i) => JSON.stringify([1e9 + i, 1_900_000, "m", 1, 1, 0, 0, 0]);
    const names = [];
    for (let n = 0; n < 3; n++) {
      const rows = Array.from({ length: 10_000 }, (_, i) => row(n * 10_000 + i));
      names.push(await putChunk(eve, Buffer.from(`${rows.join("\n")}\n`)));
    }
    return async () => [await send(eve, manifestOf({ replies: names }))];
  },
  "50 large pushes that are cut": async (eve) => {
    const name = await putChunk(eve, textChunk(1));
    const cut = (i) => send(eve, manifestOf({ events: times(name, 100) }), AbortSignal.timeout(500 + i * 50));
    return () => all(50, (i) => cut(i).catch(() => ({ status: "cut" })));
  },
  "40 searches at once":
    ({ token }) =>
    () =>
      all(40, (i) => ask("GET", `/api/search?q=${encodeURIComponent(`"socket index ${i}"`)}`, { token })),
};

const WORDS = "cache parser retry socket index token ledger window stream branch commit replay sandbox widget".split(
  " ",
);
function textChunk(seed) {
  let text = "";
  for (let i = 0; text.length < 2 * 2 ** 20 - 2_000; i++) {
    const words = Array.from(
      { length: 120 },
      (_, j) => `${WORDS[(i * 7 + j * j + seed) % WORDS.length]}${(i * j) % 997}`,
    );
    text += `${JSON.stringify({ kind: i % 2 ? "assistant" : "user", text: words.join(" ") })}\n`;
  }
  return Buffer.from(text);
}

const p = (list, part) =>
  Math.round(list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * part))] ?? 0);
const shown = (list) => `p50 ${p(list, 0.5)} p95 ${p(list, 0.95)} most ${p(list, 1)} (${list.length})`;

async function measured(mika, isOver) {
  const pushes = [];
  const searches = [];
  const failures = [];
  const timed = async (list, work) => {
    const began = performance.now();
    await work().catch((error) => failures.push(String(error)));
    list.push(performance.now() - began);
  };
  while (!isOver() && !ended) {
    await timed(pushes, async () => {
      const text = JSON.stringify({ kind: "user", text: `a heron number ${count} ${WORDS[count % WORDS.length]}` });
      const { token, space } = mika;
      const events = [await putChunk(mika, Buffer.from(`${text}\n`))];
      await must("POST", "/team/api/sessions", { token, json: { space, manifest: manifestOf({ events }) } });
    });
    await timed(searches, () => must("GET", "/api/search?q=heron", mika));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { pushes, searches, failures };
}

try {
  const link = await new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (chunk) => {
      text += chunk;
      base = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0] ?? base;
      const found = /team join (\S+#\S+)/.exec(text)?.[1];
      if (found) resolve(found);
    });
    server.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  const owner = await joinBy(link, "owner");
  const invited = async (name) => {
    const { link: next } = await must("POST", "/team/api/invites", {
      token: owner.token,
      json: { scopes: ["push", "read"] },
    });
    return joinBy(next, name);
  };
  const eve = await invited("eve");
  const mika = await invited("mika");
  console.log(`${Math.round(rss())} MiB after start; ms`);
  for (const [name, flood] of Object.entries(FLOODS)) {
    if (ONLY && name !== "quiet" && !ONLY.some((one) => name.includes(one))) continue;
    await Promise.all([eve.renew(), mika.renew()]);
    const run = await flood(eve);
    memory.most = rss();
    const began = performance.now();
    let answers;
    const running = run().then(
      (given) => {
        answers = given;
      },
      (error) => {
        answers = [{ status: `${error} ${error.cause ?? ""}` }];
      },
    );
    const isOver = () => {
      const ms = performance.now() - began;
      return (answers !== undefined && ms > LEAST_MS) || ms > MOST_MS;
    };
    const { pushes, searches, failures } = await measured(mika, isOver);
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    const codes = new Map();
    for (const { status, body } of answers ?? []) {
      const code = `${status}${body?.code ? ` ${body.code}` : ""}`;
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    console.log(
      `${name}: ${seconds} s, ${answers ? [...codes].map(([code, n]) => `${n} × ${code}`).join(", ") : "no answer yet"}`,
    );
    console.log(`  push ${shown(pushes)}; search ${shown(searches)}; ${Math.round(memory.most)} MiB at most`);
    if (failures.length > 0 || ended) {
      process.exitCode = 1;
      console.log(`  FAILED: ${ended ? "the server ended; " : ""}${failures[0] ?? ""} (${failures.length})`);
    }
    if (ended) break;
    await Promise.race([running, new Promise((resolve) => setTimeout(resolve, MOST_MS))]);
  }
} finally {
  server.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
