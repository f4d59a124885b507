/**
 * `node test/bench/sync.mjs`: one line appended to a 50 MB log, then a sync, twenty times: time, bytes of the log, and bytes the process
 * read from all files (/proc/PID/io). Exits 1 when a message is missing, never for a slow figure.
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { percentile, printTable, report, scratch, start } from "./_service.mjs";

const ROUNDS = 20;
const SIZE = 50 * 2 ** 20;
const home = scratch("sync-home");
const folder = join(home, ".claude/projects/-w-app");
const id = "aaaaaaaa-0000-4000-8000-000000000000";
const path = join(folder, `${id}.jsonl`);
const began = Date.now() - 3_600_000;

const row = (n, text) =>
  `${JSON.stringify({
    type: n % 2 ? "assistant" : "user",
    uuid: `u${n}`,
    timestamp: new Date(began + n).toISOString(),
    cwd: "/w/app",
    requestId: `r${n}`,
    message: {
      id: `m${n}`,
      role: n % 2 ? "assistant" : "user",
      model: "claude-sonnet-4-5",
      content: [{ type: "text", text }],
      ...(n % 2 && { usage: { input_tokens: 10, output_tokens: n % 90, cache_read_input_tokens: 1000 } }),
    },
  })}\n`;

mkdirSync(folder, { recursive: true });
let messages = 0;
for (let bytes = 0, rows = []; bytes < SIZE; rows = []) {
  while (rows.length < 500)
    rows.push(row(messages, `message ${messages++} ${"words of a file that was read ".repeat(60)}`));
  const text = rows.join("");
  appendFileSync(path, text);
  bytes += text.length;
}
for (let i = 1; i < 1000; i++)
  writeFileSync(join(folder, `aaaaaaaa-0000-4000-8000-${String(i).padStart(12, "0")}.jsonl`), row(0, `log ${i}`));

const service = await start(home, scratch("sync-data"));
const call = async (method, path, body) => {
  const init = { method, headers: { "content-type": "application/json" }, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${service.url}/api${path}`, init);
  const answer = await response.json();
  if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return answer;
};
const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${service.pid}/io`, "utf8"))?.[1]);

await call("POST", "/import", { all: true });
await call("POST", "/sync/pause");
const wrong = [];
/** KB of the log itself, as the import counts them. */
const ofLog = [];
for (const [what, ask] of [
  ["POST /sessions/:id/sync", () => call("POST", `/sessions/claude-code:${id}/sync`)],
  ["POST /sync, 1,000 logs", () => call("POST", "/sync?wait=1")],
]) {
  const times = [];
  const bytes = [];
  for (let round = 0; round < ROUNDS; round++) {
    appendFileSync(path, row(messages, `message ${messages++}`));
    const before = bytesRead();
    const started = performance.now();
    const answer = await ask();
    if (answer.bytes !== undefined) ofLog.push(answer.bytes / 1024);
    times.push(performance.now() - started);
    bytes.push((bytesRead() - before) / 1024);
    const { session } = await call("GET", `/sessions/claude-code:${id}`);
    if (session.messageCount !== messages) wrong.push(`${session.messageCount} messages instead of ${messages}`);
  }
  report(`${what}: median`, percentile(times, 50), "ms", 50);
  report(`${what}: slowest of ${ROUNDS}`, percentile(times, 100), "ms");
  report(`${what}: read of all files, its cursor included, median`, percentile(bytes, 50), "KB");
  report(`${what}: the same, most`, percentile(bytes, 100), "KB");
}
report("of the log itself, most", percentile(ofLog, 100), "KB", 100);
await service.stop();
printTable();
for (const line of new Set(wrong)) process.stdout.write(`WRONG: ${line}\n`);
process.exit(wrong.length > 0 ? 1 : 0);
