/** Clients that go away at any moment leave nothing behind. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import live from "../../plugins/live/index.ts";
import { makeTempDir, serveTest } from "../_setup.ts";
import { prompt } from "./_sse.ts";

const key = (n: number) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;

async function start(sessions: number) {
  const home = await makeTempDir();
  const log = (n: number) => join(home, ".claude/projects/-w-app", `${key(n)}.jsonl`);
  mkdirSync(dirname(log(0)), { recursive: true });
  for (let n = 0; n < sessions; n++) writeFileSync(log(n), prompt(0));
  const served = await serveTest({
    home,
    flags: { sync: false },
    plugins: [archive(), claude(), live({ heartbeatMs: 50 })],
  });
  await served.kernel.fetch("/api/import", { method: "POST", body: '{"all":true}' });
  const ask = (path: string): Socket => {
    const socket = connect(served.port, "127.0.0.1");
    socket.on("error", () => {});
    onTestFinished(() => void socket.destroy());
    socket.write(`GET /api${path} HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\n\r\n`);
    return socket;
  };
  return { served, log, ask, live: served.kernel.inject("live") };
}
const descriptors = () => (process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0);

it("clients that go away at any moment leave no feed, no watcher and no descriptor", async () => {
  const { served, ask, live } = await start(10);
  const first = ask(`/sessions/claude-code:${key(0)}/live`);
  await new Promise((resolve) => first.once("data", resolve));
  first.destroy();
  await expect.poll(() => live.status()).toEqual([]);
  const before = descriptors();
  for (let round = 0; round < 3; round++) {
    const sockets = Array.from({ length: 50 }, (_, n) => ask(`/sessions/claude-code:${key(n % 10)}/live`));
    // Some before their request is read, some while it is answered, some after.
    for (const [n, socket] of sockets.entries())
      setTimeout(() => (n % 2 ? socket.resetAndDestroy() : socket.destroy()), (n * 7) % 40);
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve))));
  }
  await expect.poll(() => live.status()).toEqual([]);
  await expect.poll(() => served.kernel.closing.aborted || descriptors() <= before + 2).toBe(true);
});
