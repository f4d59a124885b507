/** Our packages by name, as their sources. */
import { fileURLToPath } from "node:url";

const here = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

export const alias = [
  { find: /^sessarc$/, replacement: here("core/index.ts") },
  { find: /^sessarc\/(adapter|files|serve|storage|terminal)$/, replacement: `${here("core/entries")}/$1.ts` },
  { find: /^sessarc\/kit$/, replacement: here("plugins/dashboard/kit.ts") },
  { find: /^sessarc\/test$/, replacement: here("test/published.ts") },
  { find: /^sessarc\/plugins$/, replacement: here("plugins/index.ts") },
  // Modules that threads load by name.
  { find: /^sessarc\/plugins\/(.+\/.+)$/, replacement: `${here("plugins")}/$1.ts` },
  { find: /^sessarc\/plugins\/(.+)$/, replacement: `${here("plugins")}/$1/index.ts` },
];
