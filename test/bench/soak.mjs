/**
 * `node test/bench/soak.mjs [minutes] [pause]`: ten minutes of appends, sync, searches, pages, live streams that come and go, and readers that do not
 * read. Prints memory, descriptors and answers as it goes; exits 1 when something answered wrongly, never for a figure.
 */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { descriptorsOf, printTable, report, scratch, start, usageOf } from "./_service.mjs";

const MINUTES = Number(process.argv[2] ?? 10);
/** ms between two rounds; 0 is what takes least time. */
const PAUSE = Number(process.argv[3] ?? 100);
const SESSIONS = 300;
const home = scratch("soak-home");
const folder = join(home, ".claude/projects/-w-app");
const keyOf = (n) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;
const idOf = (n) => `claude-code:${keyOf(n)}`;
const began = Date.now() - 3_600_000;
let made = 0;
function line(text) {
  const n = made++;
  const message = { id: `m${n}`, role: "assistant", model: "claude-haiku-4-5", content: [{ type: "text", text }] };
  const usage = { input_tokens: 10, output_tokens: 20 };
  const timestamp = new Date(began + n * 50).toISOString();
  return `${JSON.stringify({ type: "assistant", uuid: `u${n}`, timestamp, cwd: "/w/app", requestId: `r${n}`, message: { ...message, usage } })}\n`;
}
const words = (n) => `needle${n % 50} ${"const value = compute(input, options); ".repeat(20)}`;
const append = (n, lines = 1) =>
  appendFileSync(join(folder, `${keyOf(n)}.jsonl`), Array.from({ length: lines }, () => line(words(made))).join(""));

mkdirSync(folder, { recursive: true });
for (let n = 0; n < SESSIONS; n++) writeFileSync(join(folder, `${keyOf(n)}.jsonl`), "");
for (let n = 0; n < SESSIONS; n++) append(n, 40);
const data = scratch("soak-data");
const service = await start(home, data, [], { probed: true });
const post = { method: "POST", headers: { "content-type": "application/json" }, body: '{"all":true}' };
await (await fetch(`${service.url}/api/import`, post)).json();

const answers = { ok: 0, wrong: 0 };
const wrong = [];
async function ask(path) {
  const response = await fetch(`${service.url}/api${path}`);
  const text = await response.text();
  if (response.ok) answers.ok++;
  else {
    answers.wrong++;
    wrong.push(`${response.status} ${path}: ${text.slice(0, 200)}`);
  }
}
/** A connection that asks and never reads. */
function deaf(path) {
  const { port } = new URL(service.url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`GET /api${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  socket.pause();
  return socket;
}

const descriptors = () => readdirSync(`/proc/${service.pid}/fd`).length;
const threads = () => /Threads:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, "utf8"))?.[1] ?? "?";
const MIB = 2 ** 20;
/** Bytes that the archive itself has become: what it holds of it in memory grows along. */
const catalogue = () =>
  readdirSync(data)
    .filter((name) => name.startsWith("catalog."))
    .reduce((sum, name) => sum + statSync(join(data, name)).size, 0);
const samples = [];
async function sample(minute) {
  const before = usageOf(service.pid).rss;
  const held = await service.held(
    process.env.SNAPSHOTS && join(process.env.SNAPSHOTS, `soak-${samples.length}.heapsnapshot`),
  );
  const one = {
    minute,
    rss: before,
    fds: descriptors(),
    ok: answers.ok,
    wrong: answers.wrong,
    held,
    data: catalogue(),
  };
  samples.push(one);
  const shown = [
    `${minute.toFixed(1)} min`,
    `${one.rss.toFixed(0)} MiB`,
    `heap ${(held.heapUsed / MIB).toFixed(1)}, external ${(held.external / MIB).toFixed(1)} (buffers ${(held.arrayBuffers / MIB).toFixed(1)})`,
    `catalogue ${(one.data / MIB).toFixed(1)}`,
    `${one.fds} descriptors`,
    `${threads()} threads`,
  ];
  process.stdout.write(`${shown.join("  ")}  ${one.ok} answers, ${one.wrong} wrong\n`);
}

const started = performance.now();
const minute = () => (performance.now() - started) / 60_000;
let next = 0.5;
const atStart = descriptorsOf(service.pid);
await sample(0);
for (let turn = 0; minute() < MINUTES; turn++) {
  for (let n = 0; n < 5; n++) append((turn * 7 + n * 31) % SESSIONS, n === 0 ? 20 : 1);
  const sockets = Array.from({ length: 3 }, (_, n) =>
    deaf(n === 0 ? `/sessions/${idOf(turn % SESSIONS)}/messages` : `/sessions/${idOf((turn + n) % SESSIONS)}/live`),
  );
  await Promise.all([
    ask(`/search?q=needle${turn % 50}&limit=20`),
    ask(`/search?q=needle${(turn * 3) % 50}+compute`),
    ask(`/sessions?limit=50`),
    ask(`/sessions/${idOf(turn % SESSIONS)}/messages?limit=100`),
    ask("/usage"),
    turn % 5 === 0 ? ask("/insights") : undefined,
  ]);
  if (turn % 20 === 0)
    await fetch(`${service.url}/api/sync?wait=1`, { method: "POST" }).then((response) => response.text());
  if (PAUSE > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE));
  for (const socket of sockets) socket.destroy();
  if (minute() >= next) {
    await sample(minute());
    next += 0.5;
  }
}
await sample(minute());
const { watchers } = await (await fetch(`${service.url}/api/live/status`)).json();
const half = samples.slice(Math.floor(samples.length / 2));
const [first, last] = [half[0], half.at(-1)];
report("memory at the end", last.rss, "MiB");
const minutes = Math.max(0.1, last.minute - first.minute);
const [least, most] = [Math.min, Math.max].map((pick) => pick(...half.map((one) => one.rss)).toFixed(0));
report("memory in the second half", `${least} to ${most}`, "MiB");
const kept = ({ held }) => (held.heapUsed + held.external) / MIB;
report("kept after a collection grows by", (kept(last) - kept(first)) / minutes, "MiB/min", 1);
for (const part of ["heapUsed", "external", "arrayBuffers"])
  report(`  ${part}, collected`, (last.held[part] - first.held[part]) / MIB / minutes, "MiB/min");
report("  the catalogue on disk", (last.data - first.data) / MIB / minutes, "MiB/min");
report("descriptors at the start", samples[0].fds, "");
report("descriptors at the end", last.fds, "");
report("answers", answers.ok, "");
report("wrong answers", answers.wrong, "", 0);
report("feeds left", watchers.length, "", 3);
report("lines appended", made - SESSIONS * 40, "");
printTable();
process.stdout.write(`descriptors at the start: ${atStart}\n           at the end: ${descriptorsOf(service.pid)}\n`);
for (const one of wrong.slice(0, 10)) process.stdout.write(`${one}\n`);
await service.stop();
process.exit(answers.wrong > 0 ? 1 : 0);
