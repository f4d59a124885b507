import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import Sequencer from "./test/_sequence.ts";
import { alias } from "./test/alias.ts";
import { V8_FLAGS } from "./test/flags.mjs";

export default defineConfig({
  resolve: { alias },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/_global.ts"],
    sequence: { sequencer: Sequencer },
    // One more than cores: a test waits now and then, for a page or a process. Each loads the service and starts a browser of its own: with two more
    // a run takes as long on two cores, and 6 % more of the processor's time.
    maxWorkers: availableParallelism() + 1,
    // Tests leave nothing behind in their process: it is kept, which saves loading the whole service for each file.
    isolate: false,
    execArgv: V8_FLAGS,
    // What was transformed is kept from run to run, by its text.
    experimental: { fsModuleCache: true },
    // Limits end what hangs; no test is to meet one on a busy machine.
    testTimeout: process.env.SESSARC_TEST_LONG === "1" ? 1_800_000 : 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
  },
});
