/**
 * `node test/bench/growth.mjs [--sizes 1200,12000,120000]`: what an archive costs as it grows. Each row is measured on archives of all
 * sizes, one after another; CPU of the service beside the wall clock, because other work on the machine makes only the clock slow.
 * A first start makes what a service keeps beside the catalogue (`index/`); the rows are those of a later one. `turn` is the longest turn of the
 * event loop by the processor's clock. Exits 1 when an answer is wrong, never for a slow one.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { appended, makeCatalogue } from "./_catalogue.mjs";
import { CLI, environment, percentile, start, usageOf } from "./_service.mjs";

const { values } = parseArgs({ options: { sizes: { type: "string", default: "1200,12000,120000" } } });
const sizes = values.sizes.split(",").map(Number);
const ROUNDS = 5;
/** An idle service looks every five seconds whether it can return memory, and does so twice: `core/cli/rest.ts`. */
const REST_MS = 20_000;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const table = new Map();
const wrong = [];
const put = (what, size, text) => {
  const row = table.get(what) ?? new Map();
  table.set(what, row.set(size, text));
};

/** ms of processor time of all threads that a process has now. */
function msOf(pid) {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`))
    try {
      sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "latin1").split(" ")[0]) / 1e6;
    } catch {
      // It has ended.
    }
  return sum;
}

async function measure(size) {
  const { home, data, log, id, catalogBytes } = await makeCatalogue(size);
  put("catalogue", size, `${(catalogBytes / 2 ** 20).toFixed(1)} MB`);
  /**
   * Until background work is done: the first check of all logs, the figures, what a search has turned around. Answers its CPU.
   * At rest what remains is the probe's, some percent of a slow processor.
   */
  const quiet = async ({ pid }) => {
    const began = usageOf(pid).cpu;
    for (let calm = 0, cpu = began; calm < 3; cpu = usageOf(pid).cpu) {
      await sleep(3_000);
      calm = usageOf(pid).cpu - cpu < 0.25 ? calm + 1 : 0;
    }
    return ((usageOf(pid).cpu - began) * 1000).toFixed(0);
  };
  let service = await start(home, data);
  put("CPU of what is made beside it, once", size, `${await quiet(service)} ms`);
  await service.stop();
  // Without the probe, whose timer keeps the process from counting as idle: then it never returns what its start took.
  service = await start(home, data);
  await quiet(service);
  await sleep(REST_MS);
  put("idle memory", size, `${usageOf(service.pid).rss.toFixed(0)} MiB`);
  const times = [];
  for (let i = 0; i < 3; i++) {
    await service.stop();
    service = await start(home, data, [], { probed: true });
    await fetch(`${service.url}/api/status`).then((response) => response.text());
    times.push(performance.now() - service.started);
    if (i === 0) put("CPU to the first answer", size, `${(usageOf(service.pid).cpu * 1000).toFixed(0)} ms`);
  }
  const turn = async () => `turn ${(await service.longestTurn()).toFixed(0)}`;
  // Its turn is the loading of the program: no client can connect yet.
  put("start to first answer", size, `${percentile(times, 50).toFixed(0)} ms, ${await turn()}`);
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
    const cpu = [];
    for (let i = 1; i <= rounds; i++) {
      const [began, before] = [performance.now(), msOf(pid)];
      await call(typeof path === "string" ? path : path(i));
      clock.push(performance.now() - began);
      cpu.push(msOf(pid) - before);
    }
    put(what, size, `${percentile(clock, 50).toFixed(0)} (${percentile(cpu, 50).toFixed(1)}) ms, ${await turn()}`);
  };
  put("CPU until it rests", size, `${await quiet(service)} ms, ${await turn()}`);
  await call("/sync/pause", { method: "POST" });
  // Home's figures are kept until something changes: another zone is another question.
  const zones = ["UTC", "Europe/Berlin", "Asia/Tokyo", "America/New_York", "Asia/Kolkata", "Europe/London"];
  await cost("first page of sessions", "/sessions?limit=50");
  await cost("projects", "/projects?git=0");
  const first = performance.now();
  await call("/search?q=zyzzogeton");
  put("first search", size, `${(performance.now() - first).toFixed(0)} ms, ${await turn()}`);
  await quiet(service);
  await turn();
  await cost(
    "search of a frequent word",
    (i) => `/search?q=${["error", "plugin", "cache", "token", "merge", "schema"][i]}`,
  );
  await cost("search of a word that is nowhere", (i) => `/search?q=zyzzogeton${i}`);
  await cost("insights, 30 days, asked first", (i) => `/insights?days=30&tz=${zones[i]}`);
  await cost("insights, all, asked first", (i) => `/insights?tz=${zones[i]}`);
  await cost("insights, again", "/insights?days=30");
  await cost("usage by day, asked first", (i) => `/usage?tz=${zones[i]}`);
  for (const by of ["project", "model", "tool", "kind"])
    await cost(`usage by ${by}, asked first`, (i) => `/usage?by=${by}&tz=${zones[i]}`);
  const month = [new Date(Date.now() - 40 * 86_400_000), new Date(Date.now() - 10 * 86_400_000)];
  const [from, to] = month.map((time) => time.toISOString().slice(0, 10));
  await cost("usage by project, a month, asked first", (i) => `/usage?by=project&from=${from}&to=${to}&tz=${zones[i]}`);
  await cost("insights, 365 days, asked first", (i) => `/insights?days=365&tz=${zones[i]}`);
  await cost("usage by day of one project, asked first", (i) => `/usage?tz=${zones[i]}&project=project-3`);
  await cost("usage by day of one tool, asked first", (i) => `/usage?tz=${zones[i]}&tool=claude-code`);
  await cost("usage by day of one kind, asked first", (i) => `/usage?tz=${zones[i]}&kind=main`);
  await cost("usage by session, the 100 dearest, asked first", (i) => `/usage?by=session&limit=100&tz=${zones[i]}`);
  await cost("usage by session, all rows, asked first", (i) => `/usage?by=session&tz=${zones[i]}`, 1);
  await cost("sessions of the last 30 days", "/sessions?days=30");
  await cost(
    "sessions of a word, asked first",
    (i) => `/sessions?q=${["error", "rare", "plugin", "route", "user", "none"][i]}`,
  );
  await call("/prices", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "claude-sonnet-4-5", input: 4, output: 20 }),
  });
  const priced = async (what, path) => {
    await turn();
    const before = msOf(pid);
    await call(path);
    put(what, size, `(${(msOf(pid) - before).toFixed(0)}) ms, ${await turn()}`);
  };
  await priced("usage by model after a price was set", "/usage?by=model");
  await priced("the 100 dearest after that", "/usage?by=session&limit=100");
  await priced("sessions by cost after that", "/sessions?sort=cost");
  const clock = [];
  let cpu = 0;
  for (let i = 0; i <= 6; i++) {
    appendFileSync(log, appended(i));
    const before = usageOf(pid).cpu;
    const began = performance.now();
    const { outcome } = await call(`/sessions/${encodeURIComponent(id)}/sync`, { method: "POST" });
    if (outcome !== "imported") wrong.push(`${size}: a line was not imported: ${outcome}`);
    if (i === 0) put("first sync of one line", size, `${(performance.now() - began).toFixed(0)} ms, ${await turn()}`);
    else {
      clock.push(performance.now() - began);
      cpu += (usageOf(pid).cpu - before) * 1000;
    }
  }
  put("sync of one line", size, `${percentile(clock, 50).toFixed(0)} (${(cpu / clock.length).toFixed(0)}) ms`);
  await cost("search after a sync", (i) => `/search?q=${["route", "client", "user", "value", "branch", "review"][i]}`);
  put("memory after all that", size, `${usageOf(pid).rss.toFixed(0)} MiB`);
  put("log", size, `${(statSync(join(data, "catalog.db-wal")).size / 1024).toFixed(0)} KB`);
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
  const run = spawnSync(process.execPath, ["--import", SAYS, CLI, "usage"], {
    env: environment(home, data),
    encoding: "utf8",
  });
  if (run.status !== 0) wrong.push(`${size}: sessarc usage: ${run.stderr}`);
  else put("sessarc usage, no service", size, run.stderr.trim().split("\n").at(-1) ?? "");
  rmSync(home, { recursive: true, force: true });
}

/** Loaded into a command: says at its end what it took. */
const SAYS = `data:text/javascript,${encodeURIComponent(`process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  process.stderr.write("(" + Math.round((userCPUTime + systemCPUTime) / 1000) + ") ms, " + Math.round(maxRSS / 1024) + " MiB\\n");
});`)}`;

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
