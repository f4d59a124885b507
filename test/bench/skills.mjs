// Scan of many skills over six tools, and what other requests feel of it:
//   node test/bench/skills.mjs [skills = 500]
// Over the built service (dist/). Budgets: a first scan 300 ms, a later one 100 ms, other requests wait at most 50 ms.
// The baseline reads every file once and hashes it, without a service. On a busy machine read the processor times: the scan's own.
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { percentile, scratch, start, usageOf } from "./_service.mjs";

const count = Number(process.argv[2] ?? 500);
const ROOTS = [
  ".claude/skills",
  ".agents/skills",
  ".cursor/skills",
  ".config/opencode/skills",
  ".gemini/skills",
  ".copilot/skills",
];
const home = scratch("skills-home");
const folders = Array.from({ length: count }, (_, i) => {
  const folder = join(home, ROOTS[i % ROOTS.length], `skill-${i}`);
  mkdirSync(join(folder, "scripts"), { recursive: true });
  const lines = Array.from({ length: 120 }, (_, n) => `Line ${n} of the instructions of skill ${i}.`).join("\n");
  writeFileSync(
    join(folder, "SKILL.md"),
    `---\nname: skill-${i}\ndescription: Does number ${i}\nallowed-tools: Read Bash(ls:*)\nmetadata:\n  version: "1.${i}"\n---\n\n${lines}\n`,
  );
  writeFileSync(join(folder, "reference.md"), lines.repeat(2));
  writeFileSync(join(folder, "scripts/run.sh"), `#!/bin/sh\necho ${i}\n`);
  chmodSync(join(folder, "scripts/run.sh"), 0o755);
  return folder;
});

const timed = async (work) => {
  const began = performance.now();
  const value = await work();
  return { ms: performance.now() - began, value };
};
const baseline = await timed(() => {
  for (const folder of folders)
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
      if (entry.isFile())
        createHash("sha256")
          .update(readFileSync(join(entry.parentPath, entry.name)))
          .digest();
});

let service = await start(home, scratch("skills-data"));
const get = async (path) => (await fetch(`${service.url}/api${path}`)).json();
/** A connection that is open, routes that are compiled, nothing else under way: what is measured is the scan. */
async function settle() {
  for (let i = 0; i < 20; i++) await get("/live/status");
  for (let before = -1, now = 0; now - before > 0.02; ) {
    before = usageOf(service.pid).cpu;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    now = usageOf(service.pid).cpu;
  }
}
await settle();
const cpuBefore = usageOf(service.pid).cpu;
const alone = await timed(() => get("/skills/scan"));
const cpu = (usageOf(service.pid).cpu - cpuBefore) * 1_000;
await service.stop();
service = await start(home, scratch("skills-data-2"));
await settle();

/** A scan with another request always under way; the longest of those. */
async function scan() {
  let running = true;
  const waits = [];
  const others = (async () => {
    while (running) waits.push((await timed(() => get("/live/status"))).ms);
  })();
  const { ms, value } = await timed(() => get("/skills/scan"));
  running = false;
  await others;
  if (value.entries?.length !== count) throw new Error(`${value.entries?.length} entries instead of ${count}`);
  return { ms, wait: Math.max(...waits), quiet: percentile(waits, 50) };
}
const first = await scan();
const later = [];
for (let i = 0; i < 10; i++) later.push(await scan());
await service.stop();

const ms = (value) => `${value.toFixed(1)} ms`;
console.log(`${count} skills, 3 files each, over ${ROOTS.length} tools; load ${loadavg()[0].toFixed(1)}`);
console.log(`reading and hashing alone   ${ms(baseline.ms)}`);
console.log(`first scan                  ${ms(alone.ms)} (budget 300), processor ${ms(cpu)}`);
console.log(`with others asking          ${ms(first.ms)}`);
console.log(
  `later scans (median of 10)  ${ms(
    percentile(
      later.map((one) => one.ms),
      50,
    ),
  )} (budget 100)`,
);
console.log(
  `longest wait of others      first ${ms(first.wait)}, later ${ms(
    percentile(
      later.map((one) => one.wait),
      50,
    ),
  )} (budget 50; without a scan ${ms(first.quiet)})`,
);
