/** `npm test`: says what it needs, checks lint and types and builds beside each other, then runs the tests. `--long`: all rounds of property tests. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const rest = process.argv.slice(2).filter((arg) => arg !== "--long");
const isLong = rest.length < process.argv.length - 2;
const module = (path) => `${ROOT}node_modules/${path}`;

/** What was checked before is not checked again: the compiler writes down what it knows. */
const state = (name) => ["--incremental", "--tsBuildInfoFile", module(`.cache/sessarc-test/${name}.tsbuildinfo`)];
const CHECKS = {
  "types of the dashboard": [module("vue-tsc/bin/vue-tsc.js"), "--noEmit", "-p", "ui", ...state("ui")],
  "types of the service": [module("typescript-native/bin/tsc"), "--noEmit", ...state("service")],
  lint: [module("@biomejs/biome/bin/biome"), "check", "."],
  // A part of the tests builds what it needs, in _global.ts.
  ...(rest.length === 0 && { "package and dashboard": [module("jiti/lib/jiti-cli.mjs"), "test/build-all.ts"] }),
};

/** As test/ui/chromium.ts looks for it. */
const browser = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].map(
  (name) => `/usr/bin/${name}`,
);
const chromium = [process.env.CHROMIUM, ...browser].find((path) => path && existsSync(path));
console.log(
  [
    `Lint, types and ${isLong ? "all rounds of all tests: about 25" : "all tests: about 6"} minutes on two idle cores (this machine has ${availableParallelism()}).`,
    "Needs Node and git, 3 GB of memory, 2 GB below the system's temp folder; sends nothing, touches nothing of yours.",
    chromium ? `Browser: ${chromium}` : "No chromium (set CHROMIUM=…): tests of the dashboard are skipped",
    "A part of it: npx vitest run test/cli",
    "",
  ].join("\n"),
);

mkdirSync(module(".cache/sessarc-test"), { recursive: true });
const codes = await Promise.all(
  Object.entries(CHECKS).map(async ([name, args]) => {
    const started = performance.now();
    const { code, output } = await run(args, "pipe");
    console.log(`${code === 0 ? "ok    " : "FAILED"} ${name}, ${Math.round((performance.now() - started) / 1000)} s`);
    if (code !== 0) console.log(output);
    return code;
  }),
);
if (codes.some((code) => code !== 0)) process.exit(1);
const env = isLong ? { ...process.env, SESSARC_TEST_LONG: "1" } : process.env;
process.exitCode = (await run([module("vitest/vitest.mjs"), "run", ...rest], "inherit", env)).code;

/** Runs Node with `args`; what it says comes with the answer, or goes straight on (`inherit`). */
function run(args, stdio, env = process.env) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ["ignore", stdio, stdio] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, output }));
  });
}
