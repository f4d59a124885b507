#!/usr/bin/env node
/** The `sessarc` command: the process around `main`. */
import module from "node:module";
import { constants } from "node:os";

// Node 22.8 and later keep compiled code from start to start; what is imported from here on is served from there.
(module as { enableCompileCache?: () => unknown }).enableCompileCache?.();
const [{ processIo }, { main }] = await Promise.all([import("./cli/io.ts"), import("./cli/main.ts")]);

/** What has not closed after a signal by then is left: all that was acknowledged is on disk. */
const LIMIT_MS = 10_000;
function giveUp(): void {
  process.stderr.write("sessarc: something does not close; ended all the same\n");
  // Not `exit`: that waits for threads, and one of them may be what hangs.
  process.kill(process.pid, "SIGKILL");
}

const stop = new AbortController();
let askedAt = 0;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    // The first asks for an orderly end, the second insists. `npm start` hands a Ctrl-C on that the terminal sent already: that is one.
    if (askedAt === 0) {
      askedAt = Date.now();
      setTimeout(giveUp, LIMIT_MS).unref();
    } else if (Date.now() - askedAt > 1_000) process.exit(128 + constants.signals[signal]);
    stop.abort();
  });
}
// `sessarc usage | head` closes the pipe early, which is not a failure. After a terminal closes, the service still closes in order.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE" && stream === process.stdout) process.exit(0);
    if (error.code !== "EIO" && error.code !== "EPIPE") throw error;
  });

let isDone = false;
process.on("exit", (code) => {
  // Nothing is left that could wake the process, and the command has not ended: Node would say nothing.
  if (isDone || code !== 13) return;
  process.stderr.write("error The command waits for something that never comes, and was ended\n");
  process.stderr.write("      `sessarc plugins` names plugins that fail; --debug shows stacks.\n");
  process.exitCode = 1;
});
process.exitCode = await main(processIo(stop.signal));
isDone = true;
// The command is done. A timer or a socket that a plugin left open does not keep the process: output is written, then it ends.
for (const stream of [process.stdout, process.stderr]) await new Promise((resolve) => stream.write("", resolve));
setTimeout(() => process.exit(), 1_000).unref();
