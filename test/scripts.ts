/** The processes that tests start from the sources: every `*child.ts` below test/, bundled together, once for all who ask. */
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { alias } from "./alias.ts";
import { buildOnce, CACHE, ROOT } from "./build-once.ts";
import { SCRIPT_FLAGS } from "./flags.mjs";

const CHILDREN = [
  "archive/closed-child",
  "archive/read-only-child",
  "core/placement-child",
  "core/watch-child",
  "fixtures/serve/child",
  "mcp-hub/takeover-child",
  "rescue/kill-child",
  "security/scrub-child",
  "share/kill-child",
  "skills/crash-child",
  "storage/compact-child",
  "storage/durability-child",
  "storage/lock-child",
  "storage/thread-child",
  "team/node-child",
  "team/push-child",
] as const;
/** Below node_modules, where they find this checkout's packages. */
const FOLDER = join(CACHE, "scripts");

/** A child as one script: Node's flags to run it. */
export async function childScript(name: (typeof CHILDREN)[number]): Promise<readonly string[]> {
  await builtScripts();
  return [...SCRIPT_FLAGS, join(FOLDER, `${name}.mjs`)];
}

/** Runs a child with an argument; answers what it counted, undefined where it killed itself. */
export async function runKilled(script: readonly string[], argument: unknown): Promise<number | undefined> {
  const run = spawn(process.execPath, [...script, JSON.stringify(argument)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH },
  });
  let [out, err] = ["", ""];
  run.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  run.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    run.on("close", (...end) => resolve(end)),
  );
  if (signal === "SIGKILL") return undefined;
  if (code !== 0) throw new Error(`The child failed (${code}): ${err}`);
  return Number(out);
}

/** A second of a processor for all of them; each alone would take as long. */
export const builtScripts = (): Promise<void> =>
  buildOnce({
    name: "scripts",
    outputs: ["node_modules/.cache/sessarc-test/scripts/built"],
    sources: ["core", "plugins", "test/kill-at.ts", ...new Set(CHILDREN.map((name) => dirname(`test/${name}`)))],
    async make() {
      const { build } = await import("vite");
      await build({
        configFile: false,
        logLevel: "error",
        // One copy of the kernel: what plugins import by name is the sources, too.
        resolve: { alias },
        // As in a source checkout: what the built package carries along is taken from node_modules.
        define: { "import.meta.url": JSON.stringify(new URL("../core/index.ts", import.meta.url).href) },
        build: {
          outDir: FOLDER,
          ssr: true,
          target: "node20",
          minify: false,
          rollupOptions: {
            input: Object.fromEntries(CHILDREN.map((name) => [name, join(ROOT, `test/${name}.ts`)])),
            output: { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" },
          },
        },
      });
      await writeFile(join(FOLDER, "built"), "");
    },
  });
