/**
 * `npm run bench -- --home DIR`: import, search, usage and start on a generated home (its `manifest.json` is the oracle).
 * Prints a table with the limits; exits 1 when a figure is wrong, never for a slow one: read the load beside it.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CLI, diskOf, environment, percentile, printTable, report, scratch, start, usageOf } from "./_service.mjs";

const { values } = parseArgs({ options: { home: { type: "string" }, keep: { type: "string" } } });
if (!values.home) {
  process.stderr.write("usage: npm run bench -- --home DIR   (a home made by the corpus generator)\n");
  process.exit(2);
}
const home = values.home;
const manifest = JSON.parse(readFileSync(join(home, "manifest.json"), "utf8"));
const wrong = [];
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function timed(url, init, again = init === undefined) {
  const began = performance.now();
  try {
    const response = await fetch(url, init);
    const body = await response.json();
    return { ms: performance.now() - began, body, status: response.status };
  } catch (error) {
    // A kept connection that the service closed as it was used again: on a busy machine between any two questions.
    if (!again || error.cause?.code !== "UND_ERR_SOCKET") throw error;
    return timed(url, init, false);
  }
}

async function startUp() {
  const empty = scratch("empty-home");
  const times = [];
  for (let i = 0; i < 5; i++) {
    const service = await start(empty, scratch("empty-data"));
    await fetch(`${service.url}/api/status`).then((response) => response.text());
    times.push(performance.now() - service.started);
    await service.stop();
  }
  report("start to first answer, empty home (median of 5)", percentile(times, 50), "ms", 300);
}

async function importing(dataDir) {
  const service = await start(home, dataDir);
  await fetch(`${service.url}/api/scan`).then((response) => response.text());
  const before = usageOf(service.pid);
  const latencies = [];
  let running = true;
  const probe = (async () => {
    while (running) {
      const next = performance.now() + 20;
      latencies.push((await timed(`${service.url}/api/sessions?limit=1`)).ms);
      await sleep(Math.max(0, next - performance.now()));
    }
  })();
  const done = await timed(`${service.url}/api/import`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"all":true}',
  });
  running = false;
  await probe;
  const after = usageOf(service.pid);
  report("import, wall", done.ms / 1000, "s", 3.5);
  report("import, CPU of all threads", after.cpu - before.cpu, "s", 6);
  report("import, peak memory", after.peak, "MiB", 220);
  report("a request every 20 ms during it, p99", percentile(latencies, 99), "ms", 50);
  const again = [];
  for (let i = 0; i < 5; i++)
    again.push(
      (
        await timed(`${service.url}/api/import`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: '{"all":true}',
        })
      ).ms / 1000,
    );
  report("unchanged re-import (median of 5)", percentile(again, 50), "s", 0.15);
  if (done.body.failed.length > 0) wrong.push(`failed: ${JSON.stringify(done.body.failed.slice(0, 3))}`);
  await totals(service.url);
  await search(service.url);
  await reading(service.url);
  await sleep(5000);
  const idle = usageOf(service.pid);
  await sleep(5000);
  report("idle CPU after the import", ((usageOf(service.pid).cpu - idle.cpu) / 5) * 100, "%", 1);
  await service.stop();
  report("on disk", diskOf(dataDir) / 2 ** 20, "MiB", 60);
}

/** Sums every session's own tokens and compares them with the oracle. */
async function totals(url) {
  const sums = {};
  for (let cursor; ; ) {
    const { body } = await timed(`${url}/api/sessions?limit=1000${cursor ? `&cursor=${cursor}` : ""}`);
    for (const session of body.sessions) {
      for (const [model, tokens] of Object.entries(session.usage)) {
        sums[model] ??= {};
        for (const [field, n] of Object.entries(tokens)) sums[model][field] = (sums[model][field] ?? 0) + n;
      }
    }
    cursor = body.nextCursor;
    if (!cursor) break;
  }
  const expected = { ...manifest.claude.perModel };
  for (const [model, u] of Object.entries(manifest.codex.perModel)) {
    expected[model] = {
      input: u.input - u.cachedInput,
      output: u.output,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheRead: u.cachedInput,
    };
  }
  for (const [model, tokens] of Object.entries(expected)) {
    for (const [field, n] of Object.entries(tokens))
      if (sums[model]?.[field] !== n) wrong.push(`${model}.${field}: ${sums[model]?.[field]} instead of ${n}`);
  }
  report("token totals against the oracle", wrong.length, "wrong", 0);
}

async function search(url) {
  const words =
    "error session plugin function return file config value the import test server message cache handler parse client user commit token".split(
      " ",
    );
  const needles = Object.entries(manifest.needles);
  for (const [needle, { sessions }] of needles) {
    const found = new Set();
    // A page ends after two seconds, which a busy machine needs for a few hundred sessions.
    for (let cursor = "", more = true; more; more = cursor !== "") {
      const q = encodeURIComponent(`"${needle}"`);
      const { body } = await timed(`${url}/api/search?limit=1000&q=${q}${cursor && `&cursor=${cursor}`}`);
      for (const { session } of body.results) found.add(session.id.replace(/^claude-code:/, "").split(":")[0]);
      cursor = body.nextCursor ? encodeURIComponent(body.nextCursor) : "";
    }
    const missing = sessions.filter((id) => !found.has(id));
    if (missing.length > 0 || found.size !== new Set(sessions).size)
      wrong.push(`search ${needle}: ${found.size} of ${sessions.length} sessions`);
  }
  const often = [];
  for (let round = 0; round < 5; round++)
    for (const word of [...words, ...needles.map(([needle]) => needle)])
      often.push((await timed(`${url}/api/search?q=${encodeURIComponent(word)}`)).ms);
  report("search, median", percentile(often, 50), "ms", 5);
  report("search, p95", percentile(often, 95), "ms", 20);
  for (const [what, needle, limit] of [
    ["three ideographs", "検索針", 40],
    ["three letters that are rare", "qzj", 200],
  ]) {
    const { body } = await timed(`${url}/api/search?q=${encodeURIComponent(needle)}`);
    report(`chunks checked for ${what}, of ${body.stats.chunks}`, body.stats.candidates, "chunks", limit);
  }
  const rare = await timed(`${url}/api/search/total?q=quixotrillium`);
  if (rare.body.sessions !== new Set(manifest.needles.quixotrillium.sessions).size)
    wrong.push("total of quixotrillium");
  report("total of a rare word", rare.ms, "ms", 25);
  const frequent = await longest(url, () => timed(`${url}/api/search/total?q=the`));
  report("total of the word the", frequent.answer.ms, "ms", 400);
  report("longest wait of others meanwhile", frequent.wait, "ms", 50);
  const fresh = [];
  const unasked = vocabulary(words);
  await sleep(100); // making them took seconds: connections that the service closed meanwhile are noticed first
  for (const word of unasked) fresh.push((await timed(`${url}/api/search?q=${word}`)).ms);
  report("60 words never asked before, median", percentile(fresh, 50), "ms", 8);
  report("60 words never asked before, p95", percentile(fresh, 95), "ms", 25);
}

/** Asks a small question every 5 ms while `ask` runs: the longest wait is the longest turn of the event loop, and what the machine adds. */
async function longest(url, ask) {
  let running = true;
  let wait = 0;
  const probe = (async () => {
    while (running) {
      wait = Math.max(wait, (await timed(`${url}/api/import/status`)).ms);
      await sleep(5);
    }
  })();
  const answer = await ask();
  running = false;
  await probe;
  return { answer, wait };
}

/** What a long session, a rare kind of message and the doctor cost, and how long others wait meanwhile. */
async function reading(url) {
  const [session] = (await timed(`${url}/api/sessions?sort=messages&limit=1`)).body.sessions;
  const path = `${url}/api/sessions/${encodeURIComponent(session.id)}/messages`;
  const all = [];
  let waited = 0;
  for (let i = 0; i < 5; i++) {
    const { answer, wait } = await longest(url, () => timed(path));
    all.push(answer.ms);
    waited = Math.max(waited, wait);
  }
  report(`all ${session.messageCount} messages of a session (median of 5)`, percentile(all, 50), "ms");
  report("longest wait of others meanwhile", waited, "ms", 50);
  for (const [what, asked] of [
    ["a page of a rare kind", `${path}?kinds=note&limit=20`],
    ["a search of two letters", `${url}/api/search?q=zq`],
    ["the doctor", `${url}/api/doctor`],
  ]) {
    const { wait } = await longest(url, () => timed(asked));
    report(`longest wait of others during ${what}`, wait, "ms", 50);
  }
}

/** 60 words of the logs, rare ones as likely as frequent ones, the same each time. */
function vocabulary(asked) {
  const root = join(home, ".claude/projects");
  const logs = readdirSync(root, { recursive: true })
    .filter((path) => path.endsWith(".jsonl"))
    .sort();
  const found = new Set();
  for (let i = 0; i < logs.length; i += 10) {
    const text = readFileSync(join(root, logs[i]), "utf8");
    for (const [word] of text.matchAll(/(?<![\w\\+/])[a-z]{3,14}(?![\w+/])/g)) found.add(word);
  }
  const all = [...found].filter((word) => !asked.includes(word));
  return Array.from({ length: 60 }, (_, i) => all[Math.floor(((i * 0.6180339887) % 1) * all.length)]);
}

/** What a user asks first after a start, and the same once more. */
async function firsts(url) {
  const [longest] = (await timed(`${url}/api/sessions?sort=messages&limit=1`)).body.sessions;
  for (const [what, path] of [
    ["page of sessions", "sessions?limit=50"],
    ["search", "search?q=plugin"],
    ["page of the longest session", `sessions/${encodeURIComponent(longest.id)}/messages?limit=100`],
    ["causality of it", `sessions/${encodeURIComponent(longest.id)}/causality`],
  ]) {
    const [first, second] = [await timed(`${url}/api/${path}`), await timed(`${url}/api/${path}`)];
    report(`${what}, first after a start`, first.ms, "ms");
    report(`${what}, second`, second.ms, "ms");
  }
}

async function existing(dataDir) {
  const env = environment(home, dataDir);
  const times = [];
  let memory = 0;
  let line = { ms: Number.NaN, nothing: Number.NaN };
  for (let i = 0; i < 3; i++) {
    const service = await start(home, dataDir);
    await fetch(`${service.url}/api/status`).then((response) => response.text());
    times.push(performance.now() - service.started);
    if (i === 0) await firsts(service.url);
    if (i === 1)
      report(
        "total of the word the, asked before that start",
        (await timed(`${service.url}/api/search/total?q=the`)).ms,
        "ms",
        100,
      );
    if (i === 2) {
      await sleep(25_000); // V8 gives back what starting took, in two rounds of 8 s
      memory = usageOf(service.pid).rss;
      line = beside(env, CLI, "statusline");
    }
    await service.stop();
  }
  report("start to first answer on that archive (median of 3)", percentile(times, 50), "ms", 350);
  report("idle memory", memory, "MiB", 95);
  for (const [where, { ms, nothing }] of [
    ["from the running service", line],
    ["without a service", beside(env, CLI, "statusline")],
  ]) {
    report(`status line ${where}, beside node -e 0 (medians of 9, in turn)`, ms / nothing, "×");
    report(`status line ${where}, more than node -e 0`, ms - nothing, "ms", 60);
  }
  const five = (...args) => Array.from({ length: 5 }, () => measured(env, ...args));
  const median = (runs, key) =>
    percentile(
      runs.map((run) => run[key]),
      50,
    );
  const nothing = five("-e", "0");
  const usage = five(CLI, "usage");
  report("node -e 0, whole process (median of 5)", median(nothing, "ms"), "ms");
  report("node -e 0, CPU", median(nothing, "cpu"), "s");
  report("sessarc usage, whole process (median of 5)", median(usage, "ms"), "ms", 350);
  report("sessarc usage, CPU", median(usage, "cpu"), "s");
  report("sessarc usage --stateless, CPU", measured(env, CLI, "usage", "--stateless").cpu, "s", 2.2);
}

/** Median ms of node with `args` and of `node -e 0`, in turn: what else the machine does slows both. */
function beside(env, ...args) {
  const runs = Array.from({ length: 9 }, () => [measured(env, ...args).ms, measured(env, "-e", "0").ms]);
  const [ms, nothing] = [0, 1].map((at) =>
    percentile(
      runs.map((run) => run[at]),
      50,
    ),
  );
  return { ms, nothing };
}

/** What an assistant passes to its status line; other commands do not read it. */
const STATUS_INPUT = '{"model":{"display_name":"Opus"}}';

/** Node with `args`: wall time in ms and processor time in s, its threads included. */
function measured(env, ...args) {
  const began = performance.now();
  const run = spawnSync("/usr/bin/env", ["bash", "-c", 'time "$0" "$@" > /dev/null', process.execPath, ...args], {
    env: { ...env, TIMEFORMAT: "%U %S" },
    encoding: "utf8",
    input: STATUS_INPUT,
  });
  const ms = performance.now() - began;
  if (run.status !== 0) wrong.push(`${args.join(" ")} ended with ${run.status}: ${run.stderr}`);
  const [user, system] = (/([\d.]+) ([\d.]+)\s*$/.exec(run.stderr) ?? []).slice(1).map(Number);
  return { ms, cpu: (user ?? Number.NaN) + (system ?? 0) };
}

process.stdout.write(`node ${process.version}, ${execFileSync("uname", ["-sm"], { encoding: "utf8" })}`);
const dataDir = values.keep ?? scratch("data");
await startUp();
await importing(dataDir);
await existing(dataDir);
printTable();
for (const line of wrong) process.stdout.write(`WRONG: ${line}\n`);
process.exit(wrong.length > 0 ? 1 : 0);
