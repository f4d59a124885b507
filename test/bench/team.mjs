/**
 * p95 of a team server's search at N sessions, with clients that push and search at once:
 *   node test/bench/team.mjs [sessions] [postgres://… | folder for PGlite] [clients] [nodes]
 * Starts `dist/cli.mjs team serve` on an empty database, as many nodes on it as asked (PGlite: one); clients take the nodes by turns.
 * Ten devices join at most, because a server lets no more join in a minute; further clients use a device together with another.
 * Exits 1 when a session is lost or counted twice, never for a slow answer.
 */
import { spawn } from "node:child_process";
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const COUNT = Number(process.argv[2] ?? 2_000);
const folder = mkdtempSync(join(tmpdir(), "sessarc-bench-team-"));
const database = process.argv[3] ?? join(folder, "database");
const CLIENTS = Number(process.argv[4] ?? 8);
const NODES = Number(process.argv[5] ?? 1);
/** What people see of both nodes; machines sign it. */
const ADDRESS = "http://team.bench";
const WORDS =
  "cache parser retry socket index token ledger window stream branch commit replay sandbox widget border".split(" ");
const cli = fileURLToPath(new URL("../../dist/cli.mjs", import.meta.url));

const servers = [];

/** Starts a node; answers its address and, for the first of a database, the owner's link. */
async function startNode(name) {
  const folders = ["--blobs", join(folder, "blobs"), "--data-dir", join(folder, name)];
  const server = spawn(
    process.execPath,
    [cli, "team", "serve", "--port", "0", "--database", database, "--address", ADDRESS, ...folders],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  servers.push(server);
  return new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (chunk) => {
      text += chunk;
      const listening = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
      const link = /team join (\S+#\S+)/.exec(text)?.[1];
      if (listening && (link || servers.length > 1)) resolve({ address: listening, link });
    });
    server.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
}

const nodes = [];
let turn = 0;

/** Every request goes to the next node, as a balancer sends it. */
async function ask(method, path, { token, json, bytes } = {}) {
  const answer = await fetch(`${nodes[turn++ % nodes.length]}${path}`, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(json && { "content-type": "application/json" }),
      ...(bytes && { "content-type": "application/gzip" }),
    },
    body: json ? JSON.stringify(json) : bytes,
  });
  const body = await answer.json();
  if (!answer.ok) throw new Error(`${method} ${path}: ${JSON.stringify(body)}`);
  return body;
}

async function joinBy(invitation) {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const invite = invitation.slice(invitation.indexOf("#") + 1);
  const x = publicKey.export({ format: "jwk" }).x;
  const joined = await ask("POST", "/team/api/join", {
    json: { invite, name: "bench", machine: "bench", publicKey: x },
  });
  const at = new Date().toISOString();
  const nonce = randomBytes(16).toString("base64url");
  const text = ["sessarc-team-token", ADDRESS, joined.device, at, nonce].join("\n");
  const signature = sign(null, Buffer.from(text), privateKey).toString("base64url");
  const { token } = await ask("POST", "/team/api/token", { json: { device: joined.device, at, nonce, signature } });
  return { token, space: joined.spaces.find(({ kind }) => kind === "team").id };
}

const pick = (n) => WORDS[n % WORDS.length];

async function push({ token, space }, n) {
  const at = new Date(Date.UTC(2026, 0, 1) + n * 600_000).toISOString();
  const texts = Array.from(
    { length: 6 },
    (_, i) => `${pick(n + i)} ${pick(n * 7 + i)} number ${n} message ${i} ${pick(n * 13 + i)}`,
  );
  const lines = texts.map((one, seq) => JSON.stringify({ seq, kind: seq % 2 ? "assistant" : "user", text: one, at }));
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  await ask("PUT", `/team/api/blobs/${sha256}`, { token, bytes: gzipSync(bytes) });
  const project = `project-${n % 40}`;
  const manifest = {
    version: 1,
    id: `codex:s${n}`,
    tool: "codex",
    toolLabel: "Codex",
    project: { kind: "repository", name: project, key: `commit:${project}` },
    name: null,
    summary: { title: `Session ${n}`, startedAt: at, endedAt: at, usage: {} },
    replies: [],
    events: [sha256],
    earlier: [],
    raw: [],
    born: Date.parse(at),
  };
  await ask("POST", "/team/api/sessions", { token, json: { space, manifest } });
}

const p = (times, part) =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;

async function search(client, times, n) {
  const began = performance.now();
  const found = await ask("GET", `/api/search?q=${encodeURIComponent(`"${pick(n)} ${pick(n * 7)}"`)}`, client);
  times.push(performance.now() - began);
  return found;
}

try {
  const first = await startNode("node-0");
  nodes.push(first.address);
  const owner = await joinBy(first.link);
  for (let n = 1; n < NODES; n++) nodes.push((await startNode(`node-${n}`)).address);
  const devices = [owner];
  while (devices.length < CLIENTS && devices.length < 10) {
    const { link: next } = await ask("POST", "/team/api/invites", {
      token: owner.token,
      json: { scopes: ["push", "read"] },
    });
    devices.push(await joinBy(next));
  }
  const clients = Array.from({ length: CLIENTS }, (_, n) => devices[n % devices.length]);
  const began = performance.now();
  const meanwhile = [];
  let next = 0;
  await Promise.all(
    clients.map(async (client) => {
      for (let n = next++; n < COUNT; n = next++) {
        await push(client, n);
        if (n % 20 === 0) await search(client, meanwhile, n);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const quiet = [];
  for (let n = 0; n < 100; n++) await search(owner, quiet, n * 3);
  const { total } = await ask("GET", "/api/sessions?limit=1", owner);
  console.log(
    `${total} of ${COUNT} sessions in ${seconds.toFixed(0)} s (${(COUNT / seconds).toFixed(0)} a second), ${clients.length} clients, ${NODES} nodes`,
  );
  console.log(
    `search while pushing: p50 ${p(meanwhile, 0.5).toFixed(0)} ms, p95 ${p(meanwhile, 0.95).toFixed(0)} ms (${meanwhile.length})`,
  );
  console.log(
    `search afterwards:    p50 ${p(quiet, 0.5).toFixed(0)} ms, p95 ${p(quiet, 0.95).toFixed(0)} ms (${quiet.length})`,
  );
  if (total !== COUNT) process.exitCode = 1;
} finally {
  for (const server of servers) server.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
