/**
 * `node test/bench/by-plugin.mjs --home DIR [--rounds 3] [--only NAME,NAME]`: what each feature costs an import, a start and an idle
 * service. Each built-in plugin is left out in turn, with those that depend on it; the table says by how much that is less. Processor time of
 * all threads and of children, medians; a start that does not need the plugin shows what its code weighs. Run it on a quiet machine: a
 * difference under the spread of `none left out`, which is printed, says nothing.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { defaultPlugins } from "../../dist/plugins.mjs";
import { diskOf, environment, percentile, scratch, usageOf } from "./_service.mjs";

const { values } = parseArgs({
  options: { home: { type: "string" }, rounds: { type: "string", default: "3" }, only: { type: "string" } },
});
if (!values.home) {
  process.stderr.write("usage: node test/bench/by-plugin.mjs --home DIR   (a home made by the corpus generator)\n");
  process.exit(2);
}
const WITHOUT = fileURLToPath(new URL("_without.mjs", import.meta.url));
const rounds = Number(values.rounds);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const median = (list) => percentile(list, 50);

/** What is left out with each plugin: itself, and whatever depends on it. */
async function groupsOf() {
  const entries = defaultPlugins();
  const found = new Map();
  for (const { specifier, load } of entries) {
    const name = specifier.split("/").at(-1);
    if (found.has(name)) continue;
    const { default: plugin } = await load();
    const { dependsOn = [], adapter } = typeof plugin === "function" ? plugin({}) : plugin;
    found.set(name, { dependsOn: dependsOn.map((one) => one.split("/").at(-1)), isAdapter: adapter !== undefined });
  }
  const needing = (name) => [
    name,
    ...[...found].filter(([, { dependsOn }]) => dependsOn.includes(name)).flatMap(([other]) => needing(other)),
  ];
  return [...found]
    .filter(([name, { isAdapter }]) => !isAdapter && name !== "archive")
    .map(([name]) => [...new Set(needing(name))]);
}

async function measure(home, without) {
  const data = scratch("by-plugin");
  const begun = performance.now();
  const child = fork(WITHOUT, without, { env: environment(home, data), stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [{ url, problems }] = await once(child, "message");
  if (problems.length > 0) throw new Error(`without ${without.join(", ")}: ${problems.join("; ")}`);
  await fetch(`${url}/api/status`).then((answer) => answer.text());
  const start = performance.now() - begun;
  const before = usageOf(child.pid);
  const answered = performance.now();
  const response = await fetch(`${url}/api/import`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"all":true}',
  });
  if (!response.ok) throw new Error(`the import answered ${response.status}: ${await response.text()}`);
  await response.text();
  const wall = (performance.now() - answered) / 1000;
  // At rest: three looks in a row, each two seconds after the last, without work.
  for (let calm = 0, last = usageOf(child.pid).cpu; calm < 3; ) {
    await sleep(2_000);
    const { cpu } = usageOf(child.pid);
    calm = cpu - last < 0.1 ? calm + 1 : 0;
    last = cpu;
  }
  const after = usageOf(child.pid);
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
  return {
    start,
    cpu: after.cpu + after.children - before.cpu - before.children,
    wall,
    peak: after.peak,
    idle: after.rss,
    disk: diskOf(data) / 2 ** 20,
  };
}

const FIELDS = {
  cpu: "import to rest, s CPU",
  wall: "answer, s",
  peak: "peak, MiB",
  idle: "rest, MiB",
  disk: "disk, MiB",
  start: "start, ms",
};
const only = values.only?.split(",");
const groups = [[], ...(await groupsOf())].filter((group) => !only || group.length === 0 || only.includes(group[0]));
const results = new Map(groups.map((group) => [group, []]));
// In turn, so that a change of the machine meets all of them.
for (let round = 0; round < rounds; round++)
  for (const group of groups) {
    const one = await measure(values.home, group);
    results.get(group).push(one);
    process.stderr.write(`round ${round + 1}, without ${group[0] ?? "none"}: ${JSON.stringify(one)}\n`);
  }

const all = results.get(groups[0]);
const whole = Object.fromEntries(Object.keys(FIELDS).map((field) => [field, median(all.map((one) => one[field]))]));
const spread = (field) => Math.max(...all.map((one) => one[field])) - Math.min(...all.map((one) => one[field]));
console.log(`| left out | ${Object.values(FIELDS).join(" | ")} |\n|---|${"---|".repeat(Object.keys(FIELDS).length)}`);
console.log(
  `| none (spread) | ${Object.keys(FIELDS)
    .map((f) => `${whole[f].toFixed(1)} (${spread(f).toFixed(1)})`)
    .join(" | ")} |`,
);
const rows = groups.slice(1).map((group) => ({
  name: group.length > 1 ? `${group[0]} (with ${group.slice(1).join(", ")})` : group[0],
  less: Object.fromEntries(
    Object.keys(FIELDS).map((f) => [f, whole[f] - median(results.get(group).map((one) => one[f]))]),
  ),
}));
for (const { name, less } of rows.sort((a, b) => b.less.cpu - a.less.cpu))
  console.log(
    `| ${name} | ${Object.keys(FIELDS)
      .map((f) => less[f].toFixed(1))
      .join(" | ")} |`,
  );
console.log(`\nload ${loadavg()[0].toFixed(1)}, medians of ${rounds}`);
