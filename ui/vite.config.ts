import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import tailwind from "@tailwindcss/vite";
import vue from "@vitejs/plugin-vue";
import { defineConfig, type Plugin } from "vite";
import { licenses } from "./build/licenses.ts";
import { oneFile } from "./build/one-file.ts";
import { worker } from "./build/worker.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  plugins: [vue(), tailwind(), icons(), licenses(here("../dist/LICENSES.txt")), worker(), oneFile()],
  // What `markdown-it` takes of it, in ten lines instead of a table of two thousand names.
  resolve: { alias: [{ find: /^entities$/, replacement: here("./features/session/entities.ts") }] },
  build: {
    outDir: here("../dist/ui"),
    emptyOutDir: true,
    manifest: true,
    // Inlined files become data: URLs, which the page's policy refuses.
    assetsInlineLimit: 0,
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 900,
    // On a slow machine it names a plugin of Vite's own.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  worker: { format: "es" },
  define: {
    __VUE_OPTIONS_API__: "false",
    __VUE_PROD_DEVTOOLS__: "false",
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
  },
  server: { proxy: { "/api": "http://127.0.0.1:4173" } },
});

/** `virtual:icons`: the drawings of the icons that `icon-names.json` lists, and no others. */
function icons(): Plugin {
  const id = "virtual:icons";
  return {
    name: "icons",
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    load(source) {
      if (source !== `\0${id}`) return;
      const list = here("icon-names.json");
      this.addWatchFile(list);
      const require = createRequire(import.meta.url);
      const { icons } = JSON.parse(readFileSync(require.resolve("@iconify-json/lucide/icons.json"), "utf8"));
      const names: string[] = JSON.parse(readFileSync(list, "utf8"));
      const bodies = names.map((name) => {
        const icon = icons[name];
        if (!icon) throw new Error(`No icon "${name}" in lucide`);
        return [name, icon.body];
      });
      return `export default ${JSON.stringify(Object.fromEntries(bodies))}`;
    },
  };
}
