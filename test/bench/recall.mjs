/**
 * `node test/bench/recall.mjs --home DIR [--stories 100]`: questions over an archive of any size. Writes sessions with stories (five a story)
 * beside the logs that DIR has, imports what is not in DIR/data yet, and asks: first after a start, after an import, then warm, for the stories'
 * questions. One process; what it reads is counted, and the clock is beside the load. Exits 1 when less than 0.85 is found.
 */
import { existsSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { createKernel, loadConfig } from "sessarc/serve";
import { percentile } from "./_service.mjs";

const { values } = parseArgs({ options: { home: { type: "string" }, stories: { type: "string", default: "100" } } });
if (!values.home) throw new Error("--home DIR");
const home = values.home;
const jiti = createJiti(import.meta.url);
const { tuned } = await jiti.import("../recall/questions/generate.ts");
const { measure, toText } = await jiti.import("../recall/questions/measure.ts");
const { says, user, writeSessions } = await jiti.import("../recall/logs.ts");
const { defaultPlugins } = await import("sessarc/plugins");

const { sessions, questions } = tuned(1, Number(values.stories));
const isNew = !existsSync(join(home, "data"));
if (isNew) await writeSessions(home, sessions);

const env = { home, platform: process.platform, env: { HOME: home } };
const startKernel = async () => {
  const config = await loadConfig({ cwd: home, env, flags: { dataDir: join(home, "data"), sync: false } });
  return createKernel({ plugins: defaultPlugins(), config, env, log: () => {} });
};
const put = (...words) => process.stdout.write(`${words.join(" ")}\n`);
const load = () => `load ${loadavg()[0]?.toFixed(1)}`;
const clock = async (work) => {
  const from = performance.now();
  const cpu = process.cpuUsage();
  const answer = await work();
  const { user: own, system } = process.cpuUsage(cpu);
  return { answer, ms: performance.now() - from, cpu: (own + system) / 1_000 };
};
const say = (what, { ms, cpu }, more = "") =>
  put(`${what}: ${ms.toFixed(0)} ms, ${cpu.toFixed(0)} ms of a processor ${more}(${load()})`);

let kernel = await startKernel();
const send = (method, path, body) =>
  kernel.fetch(`/api${path}`, {
    method,
    body: body && JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });
say("import", await clock(() => send("POST", "/import", { all: true })));
const { storage } = await (await send("GET", "/status")).json();
put(`${storage.sessions} sessions, ${storage.messages} messages`);
// What the service does when it rests.
say("prepared", await clock(() => kernel.inject("archive/open").index.prepare()));
await kernel.close();

kernel = await startKernel();
const stats = [];
const ask = (question) => kernel.inject("recall").answer({ question }, (one) => stats.push(one));
const texts = questions.map(({ text }) => text);
say("first after a start, prepared by none", await clock(() => ask(texts[0])));
say("second", await clock(() => ask(texts[1])));
for (let i = 0; i < 3; i++) {
  const n = 900_000 + i + (Date.now() % 50_000);
  await writeSessions(home, [{ n, turns: [user(`what of the bench ${n}`), says("It is measured.")] }]);
  await send("POST", "/import", { all: true });
  say("first after an import", await clock(() => ask(texts[2 + i])));
}
stats.length = 0;
const ms = [];
const cpu = [];
for (const text of texts.slice(0, 20)) await ask(text);
stats.length = 0;
for (const text of texts.slice(20, 40)) {
  const one = await clock(() => ask(text));
  ms.push(one.ms);
  cpu.push(one.cpu);
}
const most = (key) => Math.max(...stats.map((one) => one[key]));
put(
  `20 questions: p50 ${percentile(ms, 50).toFixed(0)} ms, p95 ${percentile(ms, 95).toFixed(0)} ms;`,
  `of a processor p50 ${percentile(cpu, 50).toFixed(0)}, p95 ${percentile(cpu, 95).toFixed(0)};`,
  `chunks ${most("chunks")}, read at most ${most("read")}, rows ${most("rows")}, signatures ${most("signatures")} (${load()})`,
);
const measured = await measure(questions, ask);
put(toText(measured, 10));
await kernel.close();
process.exitCode = measured.found < 0.85 ? 1 : 0;
