/** Compiles a child script once, so that starting it costs what starting node costs. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Bundles `test/storage/<name>`. The script stands below node_modules, where it finds this checkout's packages. */
export async function compileChild(name: string): Promise<{ script: string; remove(): Promise<void> }> {
  const folder = here(`../../node_modules/.cache/sessarc-test/${name.replace(/\.ts$/, "")}-${process.pid}`);
  await build({
    configFile: false,
    logLevel: "error",
    build: {
      ssr: here(name),
      outDir: folder,
      target: "node20",
      minify: false,
      rollupOptions: { output: { entryFileNames: "child.mjs" } },
    },
  });
  return { script: join(folder, "child.mjs"), remove: () => rm(folder, { recursive: true, force: true }) };
}
