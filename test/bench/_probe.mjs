/**
 * Loaded into the measured service (`--import`): answers over IPC what its process holds, after a collection, and the longest turn of its event
 * loop since it was asked last. Turns are measured by the processor's clock (Linux): other work on the machine makes only the wall's longer.
 */
import { openSync, readSync } from "node:fs";
import { writeHeapSnapshot } from "node:v8";
import { isMainThread } from "node:worker_threads";

// Worker threads are given the same flags.
if (isMainThread) listen();

function listen() {
  const clock = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const bytes = Buffer.alloc(64);
  /** ms of processor time of the main thread. Asked 250 times a second: one call of the system each. */
  const cpu = () => Number(bytes.latin1Slice(0, readSync(clock, bytes, 0, 64, 0)).split(" ")[0]) / 1e6;
  let last = cpu();
  let longest = 0;
  const look = () => {
    const now = cpu();
    longest = Math.max(longest, now - last);
    last = now;
  };
  // Comes in between any two turns that are longer than this.
  setInterval(look, 4).unref();
  process.on("message", ({ ask, path }) => {
    if (ask === "turn") {
      look();
      process.send(longest);
      longest = 0;
      return;
    }
    globalThis.gc?.();
    if (ask === "snapshot") writeHeapSnapshot(path);
    const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
    const resources = {};
    for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
    process.send({ heapUsed, external, arrayBuffers, rss, resources });
  });
  // Nothing of this keeps the service from ending.
  process.channel.unref();
}
