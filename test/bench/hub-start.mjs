/**
 * `node test/bench/hub-start.mjs [rounds]`: what the hub costs a start. The service with all its plugins, and with all but this one, in
 * turns, each on a home of its own without sessions: how long until the first answer, and the processor time until then.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { defaultPlugins } from "sessarc/plugins";
import { closeOnSignals, loadConfig, serve } from "sessarc/serve";
import { environment, percentile, printTable, report, scratch, usageOf } from "./_service.mjs";

const HUB = "sessarc/plugins/mcp-hub";
const [, , asked] = process.argv;

if (asked === "serve") {
  const plugins = defaultPlugins().filter(({ specifier }) => process.argv[3] === "all" || specifier !== HUB);
  closeOnSignals(await serve({ config: await loadConfig({ flags: { port: 0 } }), plugins, out: console.log }));
} else await compare(Number(asked ?? 15));

async function compare(rounds) {
  const kinds = ["all", "but the hub"].map((name) => ({
    name,
    folders: [scratch(`home of ${name}`), scratch(`data of ${name}`)],
    ms: [],
    cpu: [],
  }));
  for (let round = 0; round <= rounds; round++)
    for (const kind of kinds) {
      const { ms, cpu } = await startOnce(kind);
      // The first of each reads its files from the disk and makes its tables.
      if (round === 0) continue;
      kind.ms.push(ms);
      kind.cpu.push(cpu);
    }
  const mean = (values) => values.reduce((sum, one) => sum + one, 0) / values.length;
  for (const { name, ms, cpu } of kinds) {
    report(`plugins: ${name}: first answer, median of ${rounds}`, percentile(ms, 50), "ms");
    report("  quickest", Math.min(...ms), "ms");
    report("  processor time", mean(cpu) * 1000, "ms");
  }
  const [all, without] = kinds;
  report("COST OF THE HUB", percentile(all.ms, 50) - percentile(without.ms, 50), "ms");
  report("  between the quickest", Math.min(...all.ms) - Math.min(...without.ms), "ms");
  report("  processor time", (mean(all.cpu) - mean(without.cpu)) * 1000, "ms");
  printTable();
}

async function startOnce({ name, folders }) {
  const started = performance.now();
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "serve", name], {
    env: environment(...folders),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  let said = "";
  for await (const chunk of child.stdout) {
    said += chunk;
    if (said.includes("ready at")) break;
  }
  const answer = await fetch(new URL("api/status", /http:\S+/.exec(said)[0]));
  await answer.text();
  const measured = { ms: performance.now() - started, cpu: usageOf(child.pid).cpu };
  child.kill("SIGTERM");
  await gone;
  if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
  return measured;
}
