/**
 * `npm test`: says what it needs, checks lint and the service's types, then runs the tests; beside them it builds and checks the
 * dashboard's types. `--long`: all rounds of property tests. `--count`, and always on a build server (`CI`): other versions of Node are
 * tested too, everything runs to its end whatever fails, and the last line is `N passed, N failed`.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { V8_FLAGS } from "./flags.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OURS = ["--long", "--count"];
const rest = process.argv.slice(2).filter((arg) => !OURS.includes(arg));
const isLong = process.argv.includes("--long");
const isCounted = process.argv.includes("--count") || Boolean(process.env.CI);
const module = (path) => `${ROOT}node_modules/${path}`;
const CACHE = module(".cache/sessarc-test");

/** Seconds, on all cores. One that checks is a third less work than four, which each take the same libraries apart. */
const FIRST = {
  "types of the service": [module("typescript-native/bin/tsc"), "-p", "core/types.json", "--checkers", "1"],
  "types of the service worker": [module("typescript-native/bin/tsc"), "--noEmit", "-p", "ui/worker"],
  lint: [module("@biomejs/biome/bin/biome"), "check", "."],
};
const BESIDE = {
  "types of the dashboard": [module("jiti/lib/jiti-cli.mjs"), "ui/build/types.ts"],
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
    `Lint, types and ${isLong ? "all rounds of all tests: about 25" : "all tests: about 5"} minutes on two idle cores (this machine has ${availableParallelism()}).`,
    "Needs Node and git, 3 GB of memory, 2 GB below the system's temp folder; sends nothing, touches nothing of yours.",
    chromium ? `Browser: ${chromium}` : "No chromium (set CHROMIUM=…): tests of the dashboard are skipped",
    "A part of it: npx vitest run test/cli",
    "",
  ].join("\n"),
);

mkdirSync(CACHE, { recursive: true });
// Packages of nothing but a program.
const runtimes = isCounted
  ? [npm("ci", "--prefix", "test/runtimes", "--no-audit", "--no-fund", "--loglevel=error")]
  : [];
const first = await Promise.all([...Object.entries(FIRST).map(check), ...runtimes]);
for (const one of first) console.log(one.said);
if (!isCounted && first.some((one) => !one.passed)) process.exit(1);

const report = `${CACHE}/report.json`;
rmSync(report, { force: true });
const counting = isCounted ? ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`] : [];
const env = {
  ...process.env,
  ...(isLong && { SESSARC_TEST_LONG: "1" }),
  // _global.ts need not wait for it.
  ...("package and dashboard" in BESIDE && { SESSARC_TEST_BUILD: "beside" }),
};
const beside = Object.entries(BESIDE).map(check);
const { code } = await run([module("vitest/vitest.mjs"), "run", ...counting, ...rest], "inherit", env);
const checks = [...first, ...(await Promise.all(beside))];
// Those beside the tests are reported after them, where nothing is written over.
for (const one of checks) if (!first.includes(one)) console.log(one.said);

const failed = checks.filter((one) => !one.passed).length;
if (isCounted) {
  const tests = counted();
  // An unhandled error outside every test fails the run, too.
  const bad = failed + (code !== 0 && tests.failed === 0 ? 1 : tests.failed);
  console.log(`${checks.length - failed + tests.passed} passed, ${bad} failed`);
}
process.exitCode = failed > 0 ? 1 : code;

/** Tests by what vitest reports. A file that fails to load has no tests of its own: it counts as a failure. */
function counted() {
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const files = JSON.parse(readFileSync(report, "utf8")).testResults;
  const count = (tests, status) => tests.filter((test) => test.status === status).length;
  const all = files.flatMap((file) => file.assertionResults);
  const broken = files.filter((file) => file.status === "failed" && count(file.assertionResults, "failed") === 0);
  return { passed: count(all, "passed"), failed: count(all, "failed") + broken.length };
}

async function check([name, args]) {
  const started = performance.now();
  const { code, output } = await run(args, "pipe");
  const said = `${code === 0 ? "ok    " : "FAILED"} ${name}, ${Math.round((performance.now() - started) / 1000)} s`;
  return { passed: code === 0, said: code === 0 ? said : `${said}\n${output}` };
}

/** npm of the Node that runs this. */
function npm(...args) {
  const cli = process.env.npm_execpath ?? `${dirname(process.execPath)}/../lib/node_modules/npm/bin/npm-cli.js`;
  return check(["other versions of Node", [cli, ...args]]);
}

/** Runs Node with `args`; what it says comes with the answer, or goes straight on (`inherit`). */
function run(args, stdio, env = process.env) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...V8_FLAGS, ...args], { cwd: ROOT, env, stdio: ["ignore", stdio, stdio] });
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
