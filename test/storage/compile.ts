/** Compiles a child script once, so that starting it costs what starting node costs. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Bundles `test/storage/<name>`. The script stands below node_modules, where it finds this checkout's packages. */
export async function compileChild(name: string): Promise<{ script: string; remove(): Promise<void> }> {
  const folder = here("../../node_modules/.cache/sessarc-test");
  await mkdir(folder, { recursive: true });
  const script = join(folder, `${name.replace(/\.ts$/, "")}-${process.pid}.mjs`);
  await build({
    entryPoints: [here(name)],
    outfile: script,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
  });
  return { script, remove: () => rm(script, { force: true }) };
}
