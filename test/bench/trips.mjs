/**
 * `node test/bench/trips.mjs [--files]` in a source checkout: how many files of core and plugins run code in each of some trips, by V8's
 * precise coverage of one process. Each trip is made once before it is counted, so that what is counted is the steady state. The plugins
 * dashboard, demo and team are left out.
 */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createJiti } from "jiti";
import { alias } from "./sources.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "sessarc-trips-"));
const at = (file) => join(ROOT, file);
const jiti = createJiti(at("trips.mjs"), {
  alias: { ...alias, "sessarc/plugins": at("plugins/index.ts") },
  fsCache: join(home, "jiti"),
  interopDefault: false,
});

const SESSIONS = [1, 2, 3].map((n) => `0000000${n}-0000-4000-8000-000000000000`);
const folder = join(home, ".claude/projects/-w-app");
const row = (session, n, type, message) =>
  `${JSON.stringify({
    type,
    uuid: `u-${session}-${n}`,
    timestamp: new Date(Date.now() - 3_600_000 + n * 1_000).toISOString(),
    cwd: "/w/app",
    sessionId: session,
    requestId: `r${n}`,
    message,
  })}\n`;
const reply = (session, n, text) =>
  row(session, n, "assistant", {
    role: "assistant",
    id: `m-${session}-${n}`,
    model: "claude-sonnet-4-5",
    usage: { input_tokens: 10, output_tokens: 20 },
    content: [{ type: "text", text }],
  });

mkdirSync(folder, { recursive: true });
for (const session of SESSIONS) {
  const turns = Array.from(
    { length: 20 },
    (_, i) =>
      row(session, 2 * i, "user", { role: "user", content: `please fix number ${i} parser` }) +
      reply(session, 2 * i + 1, `done ${i} error cache`),
  );
  writeFileSync(join(folder, `${session}.jsonl`), turns.join(""));
}

const { createKernel, loadConfig } = await jiti.import("sessarc/serve");
const { defaultPlugins } = await jiti.import("sessarc/plugins");
const LEFT_OUT = ["dashboard", "demo", "team"].map((name) => `sessarc/plugins/${name}`);
const plugins = defaultPlugins().filter(({ specifier }) => !LEFT_OUT.includes(specifier));
// One after another: of a module that several load at once jiti gives some of them a half.
for (const { load } of plugins) await load();
const kernel = await createKernel({
  config: await loadConfig({ flags: { dataDir: join(home, "data") } }),
  plugins,
  env: { home, platform: process.platform, env: { HOME: home } },
});
async function ask(path, body) {
  const init = body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await kernel.fetch(`/api${path}`, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}
let written = 100;
async function line(text) {
  appendFileSync(join(folder, `${SESSIONS[0]}.jsonl`), reply(SESSIONS[0], written++, text));
  await ask("/sync?wait=1", {});
}

const TRIPS = {
  line: (n) => line(`needle${n}`),
  search: async (n) => {
    const { results } = await ask(`/search?q=needle${n}`);
    if (results.length !== 1) throw new Error("the appended line was not found");
  },
  sessions: () => ask("/sessions?limit=2"),
  "usage by day": () => ask("/usage?by=day"),
  messages: () => ask(`/sessions/claude-code:${SESSIONS[1]}/messages`),
  status: () => ask("/status"),
};

await ask("/import", { all: true });
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

/** Of each file the first function is the module itself, which ran when it was loaded. */
async function filesOf(work) {
  await session.post("Profiler.takePreciseCoverage");
  await work();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const ran = result.filter(({ functions }) => functions.some(({ ranges }, i) => i > 0 && ranges[0].count > 0));
  const paths = ran.map(({ url }) => (url.startsWith("file:") ? fileURLToPath(url) : url));
  return paths
    .filter((path) => path.startsWith(at("core/")) || path.startsWith(at("plugins/")))
    .map((path) => path.slice(ROOT.length));
}

const found = {};
for (const trip of Object.values(TRIPS)) await trip(0);
for (const [name, trip] of Object.entries(TRIPS)) {
  found[name] = await filesOf(() => trip(1));
  console.log(`${name}: ${found[name].length} files`);
}
console.log(`a line and its hit: ${new Set([...found.line, ...found.search]).size} files`);
if (process.argv.includes("--files")) console.log(JSON.stringify(found, null, 1));
await kernel.close();
rmSync(home, { recursive: true, force: true });
process.exit(0);
