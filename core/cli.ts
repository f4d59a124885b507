#!/usr/bin/env node
/** The `sessarc` command: the process around `main`. */
import { processIo } from "./cli/io.ts";
import { main } from "./cli/main.ts";

const stop = new AbortController();
let asked = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // The first asks for an orderly end, the second insists.
    if (asked) process.exit(signal === "SIGINT" ? 130 : 143);
    asked = true;
    stop.abort();
  });
}
// `sessarc usage | head` closes the pipe early: that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

process.exitCode = await main(processIo(stop.signal));
