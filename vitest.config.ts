import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import Sequencer from "./test/_sequence.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^sessarc$/, replacement: here("core/index.ts") },
      { find: /^sessarc\/(adapter|terminal)$/, replacement: `${here("core")}/$1/index.ts` },
      { find: /^sessarc\/test$/, replacement: here("test/published.ts") },
      { find: /^sessarc\/plugins$/, replacement: here("plugins/index.ts") },
      { find: /^sessarc\/plugins\/(.+)$/, replacement: `${here("plugins")}/$1/index.ts` },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/_global.ts"],
    sequence: { sequencer: Sequencer },
    // All cores: vitest would leave one idle, which of two is half.
    maxWorkers: Math.max(2, availableParallelism()),
    // Limits end what hangs; no test is to meet one on a busy machine.
    testTimeout: process.env.SESSARC_TEST_LONG === "1" ? 900_000 : 120_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
  },
});
