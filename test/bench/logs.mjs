// Reads the logs of a home made by the corpus generator and compares with its manifest:
//   node test/bench/logs.mjs <home>
// Prints CPU and memory of scan and of read + parse, one thread, without compression or index.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createJiti } from "jiti";
import { alias } from "./sources.mjs";

const home = process.argv[2];
if (!home) {
  console.error("usage: node test/bench/logs.mjs <home>");
  process.exit(2);
}
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const jiti = createJiti(import.meta.url, { alias });
const { mergeUsage } = await jiti.import("sessarc/adapter");
const manifest = JSON.parse(readFileSync(join(home, "manifest.json"), "utf8"));
const env = { home, platform: process.platform, env: {} };

const cpu = async (work) => {
  const start = process.cpuUsage();
  const result = await work();
  const used = process.cpuUsage(start);
  return [result, Math.round((used.user + used.system) / 1000)];
};

async function run(name) {
  const { default: create } = await jiti.import(here(`../../plugins/${name}/index.ts`));
  const { adapter } = create();
  const list = async () => {
    const refs = [];
    for (const root of adapter.roots(env)) for await (const ref of adapter.scan(root, env)) refs.push(ref);
    return refs;
  };
  await list();
  const wall = performance.now();
  const [refs, scanMs] = await cpu(list);
  const scanWall = Math.round(performance.now() - wall);
  const kinds = {};
  const totals = {};
  const replies = new Map();
  let rss = 0;
  const [, readMs] = await cpu(async () => {
    for (const ref of refs) {
      const batches = adapter.readBatches(ref, env);
      let step = await batches.next();
      while (!step.done) {
        for (const event of step.value) kinds[event.kind] = (kinds[event.kind] ?? 0) + 1;
        step = await batches.next();
      }
      for (const reply of step.value.replies)
        if (!reply.inherited) {
          // A fork may end inside a reply: the largest record of all files is the reply.
          const known = replies.get(reply.key);
          if (!known || reply.usage.output > known.usage.output) replies.set(reply.key, reply);
        }
      rss = Math.max(rss, process.memoryUsage.rss());
    }
  });
  for (const { model, usage } of replies.values()) mergeUsage(totals, { [model]: usage });
  console.log(name, {
    sessions: refs.length,
    scanMs,
    scanWall,
    readMs,
    rssMB: Math.round(rss / 1e6),
    kinds,
    replies: replies.size,
  });
  return totals;
}

const sum = (totals) => {
  const all = {};
  for (const usage of Object.values(totals)) for (const key in usage) all[key] = (all[key] ?? 0) + usage[key];
  return all;
};
const equal = (label, a, b) => {
  const sorted = (value) =>
    JSON.stringify(value, (_, v) => (v && typeof v === "object" ? Object.fromEntries(Object.entries(v).sort()) : v));
  const same = sorted(a) === sorted(b);
  console.log(same ? "ok  " : "DIFF", label, same ? "" : `${sorted(a)} != ${sorted(b)}`);
  if (!same) process.exitCode = 1;
};

const claude = await run("claude-code");
equal("claude total", sum(claude), manifest.claude.usage.lastLine);
equal("claude per model", claude, manifest.claude.perModel);
const codex = await run("codex");
const codexOf = ({ input, cachedInput, output }) => ({
  input: input - cachedInput,
  output,
  cacheRead: cachedInput,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
});
equal("codex total", sum(codex), codexOf(manifest.codex.usage));
equal(
  "codex per model",
  codex,
  Object.fromEntries(Object.entries(manifest.codex.perModel).map(([model, usage]) => [model, codexOf(usage)])),
);
