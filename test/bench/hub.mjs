/**
 * `node test/bench/hub.mjs`: what the hub costs on one call over calling the server directly, how much it carries, and what 10,000
 * calls leave behind. Prints a table with the limits; exits 1 when an answer is wrong or something is left, never for a slow one.
 */
import { execFileSync, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { percentile, printTable, report, scratch, start, usageOf } from "./_service.mjs";

const SERVER = fileURLToPath(new URL("../mcp-hub/echo-server.mjs", import.meta.url));
const wrong = [];
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** The server itself over its pipes: one line out, one line in. */
function direct() {
  const child = spawn(process.execPath, [SERVER], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  let next = 0;
  return {
    ask: (method, params) =>
      new Promise((resolve) => {
        const id = ++next;
        waiting.set(id, resolve);
        child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      }),
    stop: () => child.kill(),
  };
}

/** A raw client of the endpoint: the SDK's own would be half of what is measured. */
async function client(url) {
  let session;
  let next = 0;
  const send = (message) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify({ jsonrpc: "2.0", ...message });
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "content-length": Buffer.byteLength(body),
        ...(session ? { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" } : {}),
      };
      const outgoing = request(`${url}/mcp`, { method: "POST", agent, headers }, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        answer.on("end", () => {
          session ??= answer.headers["mcp-session-id"];
          const data = text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "{}");
          resolve(JSON.parse(data));
        });
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  const clientInfo = { name: "bench", version: "1" };
  await send({
    id: ++next,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
  });
  await send({ method: "notifications/initialized" });
  return (method, params) => send({ id: ++next, method, params });
}

async function callsOf(ask, count, atOnce, name) {
  const times = [];
  let left = count;
  const began = performance.now();
  const one = async () => {
    while (left-- > 0) {
      const started = performance.now();
      const { result } = await ask("tools/call", { name, arguments: { text: "hello" } });
      times.push(performance.now() - started);
      if (result?.content?.[0]?.text !== "hello") wrong.push(`an answer was ${JSON.stringify(result)}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return {
    p50: percentile(times, 50),
    p99: percentile(times, 99),
    perSecond: count / ((performance.now() - began) / 1000),
  };
}

const childrenOf = (pid) =>
  execFileSync("ps", ["-eo", "pid,ppid"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => Number(line.trim().split(/\s+/)[1]) === pid).length;
const filesOf = (pid) => readdirSync(`/proc/${pid}/fd`).length;

const server = direct();
await server.ask("initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "b", version: "1" },
});
const service = await start(scratch("hub-home"), scratch("hub-data"));
const json = (path, init) =>
  fetch(`${service.url}/api${path}`, { headers: { "content-type": "application/json" }, ...init }).then((it) =>
    it.json(),
  );
await json("/mcp/services", {
  method: "POST",
  body: JSON.stringify({ id: "echo", command: process.execPath, args: [SERVER] }),
});
const ask = await client(service.url);
/** What a request costs before the hub has anything to do with it. */
const plain = () =>
  new Promise((resolve, reject) => {
    const outgoing = request(`${service.url}/api/mcp/status`, { agent }, (answer) => {
      answer.resume().on("end", () => resolve({ result: { content: [{ text: "hello" }] } }));
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
const names = { direct: "echo", hub: "echo__echo" };
await callsOf(server.ask, 300, 1, names.direct);
await callsOf(ask, 300, 1, names.hub);

// In turns, so that both see the same load of the machine.
const alone = [];
const through = [];
const http = [];
for (let i = 0; i < 6; i++) {
  alone.push(await callsOf(server.ask, 250, 1, names.direct));
  http.push(await callsOf(plain, 250, 1, ""));
  through.push(await callsOf(ask, 250, 1, names.hub));
}
const median = (rounds) =>
  percentile(
    rounds.map(({ p50 }) => p50),
    50,
  );
const base = median(alone);
report("direct, one at a time, p50", base, "ms");
report("a request to the service that asks nothing, p50", median(http), "ms");
report("through the hub, p50", median(through), "ms");
report("cost of the hub", median(through) - base, "ms", Math.max(0.8, 3 * base));
report(
  "cost of the hub, quietest round",
  Math.min(...through.map(({ p50 }) => p50)) - Math.min(...alone.map(({ p50 }) => p50)),
  "ms",
);
const busy = [];
for (let i = 0; i < 3; i++) busy.push(await callsOf(ask, 1_500, 50, names.hub));
const best = Math.max(...busy.map(({ perSecond }) => perSecond));
report("50 at once", best, "calls/s");
if (best < 1_500) report("  (at least 1,500 calls/s on a quiet machine)", "", "");

const settled = async () => {
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  return { ...usageOf(service.pid), children: childrenOf(service.pid), files: filesOf(service.pid) };
};
await callsOf(ask, 3_000, 20, names.hub);
const before = await settled();
await callsOf(ask, 10_000, 20, names.hub);
const after = await settled();
report("memory before 10,000 calls", before.rss, "MiB");
report("memory after", after.rss, "MiB", before.rss * 1.25 + 20);
report("processes", after.children, "", before.children);
report("open files", after.files, "", before.files + 4);
if (after.children > before.children) wrong.push("a process was left behind");
server.stop();
agent.destroy();
await service.stop();
printTable();
for (const what of new Set(wrong)) process.stdout.write(`WRONG: ${what}\n`);
process.exitCode = wrong.length > 0 ? 1 : 0;
