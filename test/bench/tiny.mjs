/**
 * `node test/bench/tiny.mjs [--logs 100000] [--tool claude-code|codex] [--folders 50] [--empty] [--foreign 100000]`: what very many very small logs
 * cost: processor time and clock, and the longest turn of the event loop by the processor's clock. Exits 1 when the totals are not the generator's.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { diskOf, printTable, report, start, usageOf } from "./_service.mjs";
import { makeTiny } from "./_tiny.mjs";

const { values } = parseArgs({
  options: {
    logs: { type: "string", default: "100000" },
    tool: { type: "string", default: "claude-code" },
    folders: { type: "string", default: "50" },
    empty: { type: "boolean", default: false },
    foreign: { type: "string", default: "0" },
  },
});
const { home, sums } = makeTiny({
  name: "tiny",
  tool: values.tool,
  count: Number(values.logs),
  folders: Number(values.folders),
  empty: values.empty,
  foreign: Number(values.foreign),
});
const data = join(home, "data");
const service = await start(home, data, [], { probed: true });

async function measure(what, path, body) {
  await service.longestTurn();
  const before = usageOf(service.pid).cpu;
  const began = performance.now();
  const headers = { "content-type": "application/json", accept: body ? "text/event-stream" : "application/json" };
  const init = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
  const text = await (await fetch(`${service.url}/api${path}`, init)).text();
  report(`${what}, clock`, (performance.now() - began) / 1000, "s");
  report(`${what}, CPU`, usageOf(service.pid).cpu - before, "s");
  report(`${what}, longest turn`, await service.longestTurn(), "ms", 50);
  return text;
}

await measure("listing", "/scan?projects=0");
report("scan with a look into each, answer", (await measure("scan", "/scan")).length / 1e6, "MB");
await measure("import", "/import", { all: true });
report("memory, peak", usageOf(service.pid).peak, "MiB");
report("disk", diskOf(data) / 2 ** 20, "MiB");
await measure("import again", "/import", { all: true });
const { totals } = JSON.parse(await measure("usage", "/usage"));
await service.stop();
printTable();
const { sessions, messages, tokens } = totals;
const counted = { sessions, messages, input: tokens.input, output: tokens.output };
const right = values.empty || Object.entries(counted).every(([what, count]) => sums[what] === count);
if (!right) process.stdout.write(`WRONG: ${JSON.stringify(counted)} instead of ${JSON.stringify(sums)}\n`);
rmSync(home, { recursive: true, force: true });
process.exit(right ? 0 : 1);
