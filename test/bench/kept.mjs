/**
 * `node test/bench/kept.mjs [minutes] [part of a name]`: what a service keeps of questions when nothing is appended. All that can be asked
 * (or what is named so) is asked in turn, without a pause: what it keeps may not grow. Exits 1 when an answer was wrong, never for a figure.
 */
import { makeWorld, questionsOf, REFUSED } from "./_questions.mjs";
import { descriptorsOf, printTable, report, scratch, start } from "./_service.mjs";

const MIB = 2 ** 20;
const MINUTES = Number(process.argv[2] ?? 3);
const PART = process.argv[3] ?? "";
const AT_ONCE = 4;

const world = makeWorld();
const data = scratch("kept-data");
// What V8 compiles of code that runs often grows for an hour, and is none of sessarc's.
const service = await start(world.home, data, [], { probed: true, v8: ["--no-opt"] });
const questions = Object.entries(await questionsOf(service, world)).filter(([name]) => name.includes(PART));
const wrong = [];
let n = 0;

async function ask(name, question) {
  const { status, text } = await question(n++);
  const fine = REFUSED[name] === undefined ? status < 400 : status === REFUSED[name];
  if (!fine) wrong.push(`${status} ${name}: ${text.slice(0, 200)}`);
}
/** Once through all of them takes a second or two; one alone is asked as often. */
const TURNS = Math.max(1, Math.round(100 / questions.length));
const before = descriptorsOf(service.pid);
const began = performance.now();
const minute = () => (performance.now() - began) / 60_000;
const samples = [];
while (minute() < MINUTES) {
  for (const [name, question] of questions)
    for (let turn = 0; turn < TURNS; turn++)
      await Promise.all(Array.from({ length: AT_ONCE }, () => ask(name, question)));
  const { heapUsed, external } = await service.held();
  samples.push({ held: heapUsed + external });
  const parts = `heap ${(heapUsed / MIB).toFixed(2)}, external ${(external / MIB).toFixed(2)}`;
  process.stdout.write(`${minute().toFixed(2)} min  ${parts} MiB  ${n} answers\n`);
}
/** What is kept for a while comes and goes: the least of a quarter is what stays. The first half fills what has a bound. */
const quarter = (i) => samples.slice(Math.floor((samples.length * i) / 4), Math.floor((samples.length * (i + 1)) / 4));
const least = (some) => some.reduce((a, b) => (b.held < a.held ? b : a));
if (samples.length >= 8) {
  const [third, last] = [quarter(2), quarter(3)].map(least);
  report("what is kept grows by", (last.held - third.held) / MIB / (MINUTES / 4), "MiB/min", 0.1);
  report("  by a thousand answers", ((last.held - third.held) / 1024 / (n / 4)) * 1000, "KiB");
}
report("answers", n, "");
report("wrong answers", wrong.length, "", 0);
printTable();
process.stdout.write(`descriptors before: ${before}\n             after: ${descriptorsOf(service.pid)}\n`);
for (const one of wrong.slice(0, 10)) process.stdout.write(`${one}\n`);
await service.stop();
process.exit(wrong.length > 0 ? 1 : 0);
