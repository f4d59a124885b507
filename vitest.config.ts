import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import Sequencer from "./test/_sequence.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Our packages by name, as their sources. */
export const alias = [
  { find: /^sessarc$/, replacement: here("core/index.ts") },
  { find: /^sessarc\/(adapter|terminal)$/, replacement: `${here("core")}/$1/index.ts` },
  { find: /^sessarc\/test$/, replacement: here("test/published.ts") },
  { find: /^sessarc\/plugins$/, replacement: here("plugins/index.ts") },
  { find: /^sessarc\/plugins\/(.+)$/, replacement: `${here("plugins")}/$1/index.ts` },
];

export default defineConfig({
  resolve: { alias },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/_global.ts"],
    sequence: { sequencer: Sequencer },
    // One more than cores: a test waits now and then, for a page or a process.
    maxWorkers: availableParallelism() + 1,
    // Tests leave nothing behind in their process: it is kept, which saves loading the whole service for each file.
    isolate: false,
    // Limits end what hangs; no test is to meet one on a busy machine.
    testTimeout: process.env.SESSARC_TEST_LONG === "1" ? 1_800_000 : 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
  },
});
