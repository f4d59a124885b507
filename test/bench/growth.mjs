/**
 * `node test/bench/growth.mjs [--sizes 1200,12000,120000]`: what an archive costs as it grows. Each row is measured on archives of all
 * sizes, one after another; CPU of the service beside the wall clock, because other work on the machine makes only the clock slow.
 * Exits 1 when an answer is wrong, never for a slow one.
 */
import { appendFileSync, readFileSync, rmSync, statSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { appended, makeCatalogue } from "./_catalogue.mjs";
import { percentile, start, usageOf } from "./_service.mjs";

const { values } = parseArgs({ options: { sizes: { type: "string", default: "1200,12000,120000" } } });
const sizes = values.sizes.split(",").map(Number);
const ROUNDS = 5;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const table = new Map();
const wrong = [];
const put = (what, size, text) => {
  const row = table.get(what) ?? new Map();
  table.set(what, row.set(size, text));
};

async function measure(size) {
  const { home, data, log, id, catalogBytes } = await makeCatalogue(size);
  put("catalogue", size, `${(catalogBytes / 2 ** 20).toFixed(1)} MB`);
  const times = [];
  let service;
  for (let i = 0; i < 3; i++) {
    await service?.stop();
    service = await start(home, data);
    await fetch(`${service.url}/api/status`).then((response) => response.text());
    times.push(performance.now() - service.started);
    if (i === 0) put("CPU to the first answer", size, `${(usageOf(service.pid).cpu * 1000).toFixed(0)} ms`);
  }
  put("start to first answer", size, `${percentile(times, 50).toFixed(0)} ms`);
  const { url, pid } = service;
  const call = async (path, init) => {
    const response = await fetch(`${url}/api${path}`, init);
    const body = await response.json();
    if (!response.ok) wrong.push(`${size} ${path}: ${JSON.stringify(body).slice(0, 200)}`);
    return body;
  };
  /** Median of the clock and CPU a call, after one that is not counted. */
  const cost = async (what, path, rounds = ROUNDS) => {
    await call(typeof path === "string" ? path : path(0));
    const clock = [];
    const before = usageOf(pid).cpu;
    for (let i = 1; i <= rounds; i++) {
      const began = performance.now();
      await call(typeof path === "string" ? path : path(i));
      clock.push(performance.now() - began);
    }
    const cpu = ((usageOf(pid).cpu - before) * 1000) / rounds;
    put(what, size, `${percentile(clock, 50).toFixed(0)} (${cpu.toFixed(0)}) ms`);
  };
  /** Until what goes on by itself is done: the first look at all logs, the figures, what a search has turned around. Answers its CPU. */
  const quiet = async () => {
    const began = usageOf(pid).cpu;
    for (let calm = 0, cpu = began; calm < 3; cpu = usageOf(pid).cpu) {
      await sleep(3_000);
      calm = usageOf(pid).cpu - cpu < 0.15 ? calm + 1 : 0;
    }
    return ((usageOf(pid).cpu - began) * 1000).toFixed(0);
  };
  put("CPU until it rests", size, `${await quiet()} ms`);
  put("idle memory", size, `${usageOf(pid).rss.toFixed(0)} MiB`);
  await call("/sync/pause", { method: "POST" });
  // Home's figures are kept until something changes: another zone is another question.
  const zones = ["UTC", "Europe/Berlin", "Asia/Tokyo", "America/New_York", "Asia/Kolkata", "Europe/London"];
  await cost("first page of sessions", "/sessions?limit=50");
  await cost("projects", "/projects?git=0");
  const first = performance.now();
  await call("/search?q=zyzzogeton");
  put("first search", size, `${(performance.now() - first).toFixed(0)} ms`);
  put("CPU of what it turns around, once", size, `${await quiet()} ms`);
  await cost(
    "search of a frequent word",
    (i) => `/search?q=${["error", "plugin", "cache", "token", "merge", "schema"][i]}`,
  );
  await cost("search of a word that is nowhere", (i) => `/search?q=zyzzogeton${i}`);
  await cost("insights, 30 days, asked first", (i) => `/insights?days=30&tz=${zones[i]}`);
  await cost("insights, all, asked first", (i) => `/insights?tz=${zones[i]}`);
  await cost("insights, again", "/insights?days=30");
  await cost("usage by day, asked first", (i) => `/usage?tz=${zones[i]}`);
  const clock = [];
  let cpu = 0;
  for (let i = 0; i <= 6; i++) {
    appendFileSync(log, appended(i));
    const before = usageOf(pid).cpu;
    const began = performance.now();
    const { outcome } = await call(`/sessions/${encodeURIComponent(id)}/sync`, { method: "POST" });
    if (outcome !== "imported") wrong.push(`${size}: a line was not imported: ${outcome}`);
    if (i === 0)
      put("first sync of one line (replies of all are read)", size, `${(performance.now() - began).toFixed(0)} ms`);
    else {
      clock.push(performance.now() - began);
      cpu += (usageOf(pid).cpu - before) * 1000;
    }
  }
  put("sync of one line", size, `${percentile(clock, 50).toFixed(0)} (${(cpu / clock.length).toFixed(0)}) ms`);
  put("memory after all that", size, `${usageOf(pid).rss.toFixed(0)} MiB`);
  put("journal", size, `${(statSync(join(data, "catalog.journal")).size / 1024).toFixed(0)} KB`);
  const before = usageOf(pid).cpu;
  const began = performance.now();
  let after = before;
  const watch = setInterval(() => {
    try {
      after = usageOf(pid).cpu;
    } catch {
      // It has ended.
    }
  }, 20);
  await service.stop();
  clearInterval(watch);
  put(
    "close, with its snapshot",
    size,
    `${(performance.now() - began).toFixed(0)} (${((after - before) * 1000).toFixed(0)}) ms`,
  );
  rmSync(home, { recursive: true, force: true });
}

for (const size of sizes) await measure(size);
const head = ["", ...sizes.map((size) => `${size} sessions`)];
const lines = [head, ...[...table].map(([what, row]) => [what, ...sizes.map((size) => row.get(size) ?? "")])];
const widths = head.map((_, i) => Math.max(...lines.map((line) => line[i].length)));
for (const line of lines)
  process.stdout.write(
    `${line.map((cell, i) => (i ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join("  ")}\n`,
  );
process.stdout.write(
  `clock (CPU of the service); node ${process.version}, load ${loadavg()
    .map((n) => n.toFixed(1))
    .join(" ")}, ${readFileSync("/proc/cpuinfo", "utf8").match(/processor/g)?.length} cores\n`,
);
for (const line of wrong) process.stdout.write(`WRONG: ${line}\n`);
process.exit(wrong.length > 0 ? 1 : 0);
