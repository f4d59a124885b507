/**
 * `node test/bench/alive.mjs HOME [LOGS] [LINES]`: what a command pays to be current. HOME: one of a corpus generator, which is imported into a scratch
 * data directory; `LINES` lines (default 1,000) are appended to `LOGS` of its logs (default 200), five times, and `usage` is run before and after,
 * with and without `--no-sync`. With LOGS 0 nothing is appended. Prints milliseconds and processor ms of the whole process. Run on an idle machine.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, readdirSync, readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { CLI, environment, percentile, scratch } from "./_service.mjs";

const [from, logsText = "200", linesText = "1000"] = process.argv.slice(2);
if (!from) throw new Error("node test/bench/alive.mjs HOME [LOGS] [LINES]");
const [LOGS, LINES] = [Number(logsText), Number(linesText)];
const ROUNDS = 5;
const home = scratch("alive-home");
cpSync(join(from, ".claude"), join(home, ".claude"), { recursive: true, preserveTimestamps: true });
cpSync(join(from, ".codex"), join(home, ".codex"), { recursive: true, preserveTimestamps: true });
const env = environment(home, scratch("alive-data"));
const ticks = () => {
  const [, , , , , , , , , , , , , user, system, cuser, csystem] = readFileSync("/proc/self/stat", "utf8").split(" ");
  return { own: Number(user) + Number(system), children: Number(cuser) + Number(csystem) };
};
const run = (...args) => {
  const [began, before] = [performance.now(), ticks().children];
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`sessarc ${args.join(" ")}: ${stderr}`);
  return { ms: performance.now() - began, cpu: (ticks().children - before) * 10, stdout, stderr };
};

const first = run("import");
const folder = join(home, ".claude/projects");
const logs = readdirSync(folder, { recursive: true })
  .filter((name) => /\/[0-9a-f-]{36}\.jsonl$/.test(name))
  .map((name) => join(folder, name));
const { total } = JSON.parse(run("sessions", "--json").stdout);
let n = 0;
const append = () => {
  for (let i = 0; i < LOGS; i++)
    for (let line = 0; line < LINES / LOGS; line++, n++)
      appendFileSync(
        logs[(i * 7) % logs.length],
        `${JSON.stringify({ type: "assistant", uuid: `new${n}`, timestamp: new Date().toISOString(), cwd: "/w/app", requestId: `newr${n}`, message: { id: `newm${n}`, role: "assistant", model: "claude-sonnet-4-5", content: [{ type: "text", text: `appended ${n}` }], usage: { input_tokens: 1, output_tokens: 1 } } })}\n`,
      );
};
const rows = new Map();
const note = (what, { ms, cpu, stderr }) => {
  const found = rows.get(what) ?? { ms: [], cpu: [], left: 0 };
  found.ms.push(ms);
  found.cpu.push(cpu);
  found.left += /newer/.test(stderr) ? 1 : 0;
  rows.set(what, found);
};
const commands = [];
run("usage");
for (let round = 0; round < ROUNDS; round++) {
  note("nothing new, --no-sync", run("usage", "--no-sync"));
  note("nothing new", run("usage"));
  if (LOGS === 0) continue;
  append();
  note("appended, --no-sync", run("usage", "--no-sync"));
  const first = run("usage");
  note("appended", first);
  let more = 0;
  for (let last = first; /newer/.test(last.stderr); last = run("usage")) more++;
  commands.push(1 + more);
}
console.log(
  `${total} sessions, ${LINES} lines in ${LOGS} logs, first import ${Math.round(first.ms)} ms; load ${loadavg()[0].toFixed(1)} on ${cpus().length} cores`,
);
for (const [what, { ms, cpu, left }] of rows)
  console.log(
    `${what.padEnd(24)} ${String(Math.round(percentile(ms, 50))).padStart(6)} ms ${String(Math.round(percentile(cpu, 50))).padStart(6)} ms of a processor; ${left} of ${ROUNDS} said that logs are newer`,
  );
if (commands.length > 0) console.log(`commands until all of it was imported: ${commands.join(", ")}`);
