/**
 * `node test/bench/live.mjs`: live tailing, causality and auto-sync on a generated home of 10,000 logs and one long session.
 * Prints a table with the limits; exits 1 when a figure is wrong, never for a slow one: read the load beside it.
 */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { percentile, printTable, report, scratch, start, usageOf } from "./_service.mjs";

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const home = scratch("live-home");
const dir = (name) => join(home, ".claude/projects", name);
const began = Date.now() - 3_600_000;
const wrong = [];
const line = (n, content, role = "assistant") =>
  `${JSON.stringify({ type: role, uuid: `u${n}`, timestamp: new Date(began + n * 100).toISOString(), cwd: "/w/app", message: { id: `m${n}`, role, model: "m", content } })}\n`;

const LONG = "bbbbbbbb-0000-4000-8000-000000000000";
const LIVE = "cccccccc-0000-4000-8000-000000000000";
mkdirSync(dir("-w-app"), { recursive: true });
const rows = [];
const filler = "const value = compute(input, options); // words of a file that was read\n".repeat(12);
for (let i = 0; rows.length < 20_000; i++) {
  const file = `/w/app/src/part${i % 40}/file${(i * 7) % 400}.ts`;
  const [name, input, result] =
    i % 8 === 0
      ? ["Edit", { file_path: file, old_string: "a", new_string: "b" }, "done"]
      : i % 8 < 4
        ? ["Read", { file_path: file }, filler]
        : i % 8 === 4
          ? [
              "Grep",
              { pattern: `word${i}`, path: "/w/app" },
              Array.from({ length: 20 }, (_, k) => `src/part${k}/file${(i + k) % 400}.ts:1: x`).join("\n"),
            ]
          : ["Bash", { command: `cat src/part${i % 40}/file${i % 400}.ts | head -20` }, filler];
  rows.push(line(rows.length, [{ type: "tool_use", id: `t${i}`, name, input }]));
  rows.push(line(rows.length, [{ type: "tool_result", tool_use_id: `t${i}`, content: result }], "user"));
}
writeFileSync(join(dir("-w-app"), `${LONG}.jsonl`), rows.join(""));
const live = join(dir("-w-app"), `${LIVE}.jsonl`);
writeFileSync(live, line(0, [{ type: "text", text: "start" }]));
for (let i = 0; i < 10_000; i++) {
  if (i % 100 === 0) mkdirSync(dir(`-w-p${i / 100}`), { recursive: true });
  writeFileSync(
    join(dir(`-w-p${Math.floor(i / 100)}`), `aaaaaaaa-0000-4000-8000-${String(i).padStart(12, "0")}.jsonl`),
    line(0, [{ type: "text", text: `log ${i}` }]),
  );
}

const service = await start(home, scratch("live-data"));
const json = (path, init) => fetch(`${service.url}/api${path}`, init).then((response) => response.json());
const imported = await json("/import", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: '{"all":true}',
});
if (imported.failed.length > 0) wrong.push(`failed: ${JSON.stringify(imported.failed.slice(0, 2))}`);

/** Follows the live session; `onEvent` hears each message. */
function follow(onEvent) {
  return new Promise((resolve) => {
    const request = get(`${service.url}/api/sessions/claude-code:${LIVE}/live`, { agent: false }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
        for (let at = text.indexOf("\n\n"); at >= 0; at = text.indexOf("\n\n")) {
          const data = /^data: (.*)$/m.exec(text.slice(0, at))?.[1];
          text = text.slice(at + 2);
          if (!data) continue;
          const frame = JSON.parse(data);
          if (frame.type === "messages") for (const event of frame.events) onEvent(event);
          else resolve(() => request.destroy());
        }
      });
      response.on("error", () => {});
    });
    request.on("error", () => {});
  });
}

async function latency(clients, label, limit) {
  const written = new Map();
  const times = [];
  let heard = 0;
  const stops = [];
  for (let i = 0; i < clients; i++) {
    stops.push(
      await follow((event) => {
        const at = written.get(event.text);
        if (at === undefined) return;
        heard++;
        times.push(performance.now() - at);
      }),
    );
  }
  const cpu = usageOf(service.pid).cpu;
  for (let i = 0; i < 200; i++) {
    const text = `${label} ${i}`;
    written.set(text, performance.now());
    appendFileSync(live, line(i + 1, [{ type: "text", text }]));
    await sleep(50);
  }
  await sleep(500);
  report(`${label}: byte on disk to frame, p50`, percentile(times, 50), "ms");
  report(`${label}: byte on disk to frame, p95`, percentile(times, 95), "ms", limit);
  report(`${label}: CPU`, (usageOf(service.pid).cpu - cpu) * 10, "%");
  if (heard !== 200 * clients) wrong.push(`${label}: heard ${heard} of ${200 * clients}`);
  for (const stop of stops) stop();
}
await latency(1, "one client, 20 lines/s", 80);
await latency(100, "100 clients, 20 lines/s", 80);

let running = true;
const delays = [];
const probe = (async () => {
  while (running) {
    const at = performance.now();
    await json("/live/status");
    delays.push(performance.now() - at);
    await sleep(5);
  }
})();
await sleep(100);
const timed = async () => {
  const at = performance.now();
  const text = await fetch(`${service.url}/api/sessions/claude-code:${LONG}/causality`).then((response) =>
    response.text(),
  );
  return { ms: performance.now() - at, text };
};
delays.length = 0;
const first = await timed();
running = false;
await probe;
const again = await timed();
const answer = JSON.parse(first.text);
if (answer.changes.length !== 1_250) wrong.push(`${answer.changes.length} changes instead of 1250`);
report("causality of 20,000 messages, first call", first.ms, "ms", 120);
report("  other requests meanwhile, worst", Math.max(...delays), "ms", 50);
report("  again", again.ms, "ms");
report("  answer", first.text.length / 2 ** 20, "MiB");

await sleep(12_000);
const { sync } = await json("/status");
if (sync.mode !== "watching") wrong.push(`sync is ${sync.mode}`);
const idle = usageOf(service.pid);
await sleep(10_000);
const later = usageOf(service.pid);
report("idle CPU, 10,000 logs watched", (later.cpu - idle.cpu) * 10, "%", 1);
report("idle memory", later.rss, "MiB");
await service.stop();
printTable();
for (const text of wrong) process.stdout.write(`WRONG: ${text}\n`);
process.exit(wrong.length > 0 ? 1 : 0);
