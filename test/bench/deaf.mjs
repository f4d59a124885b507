/**
 * `node test/bench/deaf.mjs`: readers that do not read. 20 live streams of a log that grows, 20 answers of a whole long session, then 1,000
 * clients that go away without a word: memory, descriptors, sockets, watchers before, while and after. Exits 1 when something is left.
 */
import { appendFileSync, mkdirSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { printTable, report, scratch, start } from "./_service.mjs";

const MIB = 2 ** 20;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const home = scratch("deaf-home");
const folder = join(home, ".claude/projects/-w-app");
const key = (n) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;
const id = (n) => `claude-code:${key(n)}`;
const [LONG, LIVE] = [1, 2];
const began = Date.now() - 3_600_000;
let made = 0;
function lines(session, count, size) {
  const rows = Array.from({ length: count }, () => {
    const n = made++;
    const content = [{ type: "text", text: `${n} ${"const value = compute(input, options); ".repeat(size)}` }];
    const message = { id: `m${n}`, role: "assistant", model: "m", content };
    const timestamp = new Date(began + n * 50).toISOString();
    return `${JSON.stringify({ type: "assistant", uuid: `u${n}`, timestamp, cwd: "/w/app", message })}\n`;
  });
  appendFileSync(join(folder, `${key(session)}.jsonl`), rows.join(""));
}
mkdirSync(folder, { recursive: true });
lines(LONG, 20_000, 50);
lines(LIVE, 10, 1);

const service = await start(home, scratch("deaf-data"), [], { probed: true });
const { port } = new URL(service.url);
const json = (path, init) => fetch(`${service.url}/api${path}`, init).then((response) => response.json());
const posted = { method: "POST", headers: { "content-type": "application/json" }, body: '{"all":true}' };
await json("/import", posted);

/** Asks, and reads nothing of the answer. */
function deaf(path) {
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`GET /api${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  socket.pause();
  return socket;
}
/** Resolves when the service's memory has not changed for a second: all has come that is coming. */
async function settled() {
  for (let before = 0, same = 0; same < 4; ) {
    const { heapUsed, external } = await service.held();
    same = Math.abs(heapUsed + external - before) < MIB / 4 ? same + 1 : 0;
    before = heapUsed + external;
    await sleep(250);
  }
}
const wrong = [];
async function sample(what) {
  await settled();
  const held = await service.held();
  const { watchers } = await json("/live/status");
  const fds = readdirSync(`/proc/${service.pid}/fd`).length;
  const kept = [held.heapUsed, held.external].map((bytes) => (bytes / MIB).toFixed(1)).join(" + ");
  report(
    what,
    `${(held.rss / MIB).toFixed(0)} MiB, kept ${kept}; ${watchers.length} followed, ${fds} descriptors, ${held.resources.TCPSocketWrap ?? 0} sockets, ${held.resources.FSEventWrap ?? 0} watchers`,
    "",
  );
  return { kept: (held.heapUsed + held.external) / MIB, fds, followed: watchers.length, held };
}

// The first of everything loads code that stays.
await json(`/sessions/${id(LONG)}/messages`);
const warm = deaf(`/sessions/${id(LIVE)}/live`);
lines(LIVE, 1, 1);
await sleep(1_000);
warm.destroy();
const before = await sample("before");
const streams = Array.from({ length: 20 }, () => deaf(`/sessions/${id(LIVE)}/live?after=0`));
const answers = Array.from({ length: 20 }, () => deaf(`/sessions/${id(LONG)}/messages`));
for (let i = 0; i < 40; i++) {
  lines(LIVE, 250, 50);
  await sleep(50);
}
const during = await sample("20 live streams (10,000 lines written) and 20 answers of 40 MB, unread");
for (const socket of [...streams, ...answers]) socket.destroy();
const after = await sample("all of them gone");
for (let i = 0; i < 1_000; i += 50) {
  const some = Array.from({ length: 50 }, (_, n) =>
    deaf(`/sessions/${id(n % 2 ? LIVE : LONG)}/${n % 3 ? "live" : "messages"}`),
  );
  await Promise.all(some.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
  await sleep(20);
  for (const socket of some) socket.destroy();
}
const away = await sample("after 1,000 clients that went away");
report("each unread stream or answer holds", (during.kept - before.kept) / 40, "MiB", 1);
report("left by them", after.kept - before.kept, "MiB", 8);
report("left by the 1,000", away.kept - after.kept, "MiB", 8);
if (away.followed > 0) wrong.push(`${away.followed} sessions are still followed`);
if (away.fds > before.fds + 3) wrong.push(`${away.fds - before.fds} descriptors are left`);
printTable();
for (const line of wrong) process.stdout.write(`WRONG: ${line}\n`);
await service.stop();
process.exit(wrong.length > 0 ? 1 : 0);
