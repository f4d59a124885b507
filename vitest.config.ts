import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^sessarc$/, replacement: here("core/index.ts") },
      { find: /^sessarc\/test$/, replacement: here("test/published.ts") },
      { find: /^sessarc\/plugins$/, replacement: here("plugins/index.ts") },
      { find: /^sessarc\/plugins\/(.+)$/, replacement: `${here("plugins")}/$1/index.ts` },
    ],
  },
  test: { include: ["test/**/*.test.ts"], testTimeout: 30_000, hookTimeout: 30_000 },
});
