/** Loaded into the measured service (`--import`): answers what its process holds, after a collection, when it is asked over IPC. */
import { writeHeapSnapshot } from "node:v8";
import { isMainThread } from "node:worker_threads";

// Worker threads are given the same flags.
if (isMainThread) listen();

function listen() {
  process.on("message", ({ ask, path }) => {
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
