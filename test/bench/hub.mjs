/**
 * `node test/bench/hub.mjs`: what the hub costs on one call over calling the server directly, how much it carries, and what 10,000
 * calls leave behind. A ladder of ways to the same tool says where it goes. Prints a table with the limits; exits 1 when an answer is
 * wrong or something is left, never for a slow one.
 */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { Agent, request } from "node:http";
import { officialClient, overPipes, plainHttp, rawClient, SERVER } from "./_hub-ways.mjs";
import { percentile, printTable, report, scratch, start, usageOf } from "./_service.mjs";

const wrong = [];
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const hello = { name: "echo", arguments: { text: "hello" } };
const throughHub = { ...hello, name: "echo__echo" };

const service = await start(scratch("hub-home"), scratch("hub-data"));
await fetch(`${service.url}/api/mcp/services`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ id: "echo", command: process.execPath, args: [SERVER] }),
});
const pipes = overPipes();
await pipes.hello();
const [answering, relaying] = await Promise.all([plainHttp("answer"), plainHttp("relay")]);
const [toAnswering, toRelaying, toHub] = await Promise.all(
  [answering, relaying, service].map(({ url }) => rawClient(url, agent)),
);
const officialDirect = await officialClient(answering.url);
const officialHub = await officialClient(service.url);

/** What a request costs before the hub has anything to do with it. */
const nothing = () =>
  new Promise((resolve, reject) => {
    const outgoing = request(`${service.url}/api/mcp/status`, { agent }, (answer) =>
      answer.resume().on("end", resolve),
    );
    outgoing.on("error", reject);
    outgoing.end();
  });

async function call(ask, params) {
  const { result } = await ask("tools/call", params);
  if (result?.content?.[0]?.text !== "hello") wrong.push(`an answer was ${JSON.stringify(result)}`);
}

/** Each with the processes that work for it beside the client. */
const ways = [
  { name: "the tool itself, over its pipes", pid: pipes.pid, run: () => call(pipes.ask, hello) },
  { name: "a tool that is an HTTP server", pid: answering.pid, run: () => call(toAnswering, hello) },
  { name: "a bare relay: HTTP, then the pipes", pid: relaying.pid, run: () => call(toRelaying, hello) },
  { name: "the service: GET /api/mcp/status", pid: service.pid, run: nothing },
  { name: "the hub: ping", pid: service.pid, run: () => toHub("ping") },
  { name: "the hub: the call", pid: service.pid, run: () => call(toHub, throughHub) },
  { name: "the SDK's client, HTTP server", pid: answering.pid, run: () => call(officialDirect.ask, hello) },
  { name: "the SDK's client, hub", pid: service.pid, run: () => call(officialHub.ask, throughHub) },
].map((way) => ({ ...way, rounds: [], cpu: 0, calls: 0 }));

async function times(run, count) {
  const all = [];
  for (let i = 0; i < count; i++) {
    const started = performance.now();
    await run();
    all.push(performance.now() - started);
  }
  return all;
}

const ROUND = 250;
// Code that has just been loaded is interpreted: the first calls of a service's life, then those of one that has been used.
for (const way of ways) way.first = percentile(await times(way.run, ROUND), 50);
for (let round = 0; round < 12; round++) for (const way of ways) await times(way.run, ROUND);
// In turns, so that all see the same load of the machine.
for (let round = 0; round < 8; round++)
  for (const way of ways) {
    const before = usageOf(way.pid).cpu;
    way.rounds.push(percentile(await times(way.run, ROUND), 50));
    way.cpu += usageOf(way.pid).cpu - before;
    way.calls += ROUND;
  }
for (const way of ways) {
  way.p50 = percentile(way.rounds, 50);
  way.best = Math.min(...way.rounds);
  report(way.name, way.p50, "ms");
  report("  quietest round", way.best, "ms");
  report("  its first 250", way.first, "ms");
  report("  processor time", (way.cpu / way.calls) * 1e6, "us");
}
const [direct, directHttp, relay, , , hub, sdkDirect, sdkHub] = ways;
const limit = Math.max(0.8, 3 * direct.p50);
report("COST OVER THE PIPES", hub.p50 - direct.p50, "ms", limit);
report("  quietest round", hub.best - direct.best, "ms", limit);
report("  the first 250", hub.first - direct.first, "ms");
report("COST OVER AN HTTP SERVER", hub.p50 - directHttp.p50, "ms", limit);
report("  with the SDK's client", sdkHub.p50 - sdkDirect.p50, "ms", limit);
report("COST OVER A BARE RELAY", hub.p50 - relay.p50, "ms");

async function perSecond(count, atOnce) {
  let left = count;
  const began = performance.now();
  const one = async () => {
    while (left-- > 0) await call(toHub, throughHub);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return count / ((performance.now() - began) / 1000);
}
const busy = [];
const idle = usageOf(service.pid).cpu;
for (let i = 0; i < 3; i++) busy.push(await perSecond(1_500, 50));
const best = Math.max(...busy);
report("50 at once", best, "calls/s");
report("  processor time", ((usageOf(service.pid).cpu - idle) / 4_500) * 1e6, "us");
if (best < 1_500) report("  (at least 1,500 calls/s on a quiet machine)", "", "");

const childrenOf = (pid) =>
  execFileSync("ps", ["-eo", "pid,ppid"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => Number(line.trim().split(/\s+/)[1]) === pid).length;
const settled = async () => {
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const files = readdirSync(`/proc/${service.pid}/fd`).length;
  return { ...usageOf(service.pid), children: childrenOf(service.pid), files };
};
const before = await settled();
await perSecond(10_000, 20);
const after = await settled();
report("memory before 10,000 calls", before.rss, "MiB");
report("memory after", after.rss, "MiB", before.rss * 1.25 + 20);
report("processes", after.children, "", before.children);
report("open files", after.files, "", before.files + 4);
if (after.children > before.children) wrong.push("a process was left behind");

await Promise.all([officialDirect.stop(), officialHub.stop()]);
for (const process of [pipes, answering, relaying]) process.stop();
agent.destroy();
await service.stop();
printTable();
for (const what of new Set(wrong)) process.stdout.write(`WRONG: ${what}\n`);
process.exitCode = wrong.length > 0 ? 1 : 0;
