// Replay on a repository of many files, over HTTP against the built package:
//   node test/bench/replay.mjs [files = 10000]
// Budgets: start 2 s, preview 50 ms, no other request waits longer than 50 ms meanwhile.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { percentile, scratch, start, usageOf } from "./_service.mjs";

const count = Number(process.argv[2] ?? 10_000);
const home = scratch("replay-home");
const project = join(home, "project");
const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" };
const began = Math.floor(Date.parse("2026-01-01T00:00:00Z") / 1000);

mkdirSync(project, { recursive: true });
execFileSync("git", ["init", "-q", "-b", "main"], { cwd: project, env });
const text = "a line of a source file that is about as long as lines are\n".repeat(60);
const rows = [`commit refs/heads/main\ncommitter a <a@x> ${began} +0000\ndata 1\nc`];
for (let i = 0; i < count; i++) {
  const body = `file ${i}\n${text}`;
  rows.push(`M 100644 inline src/d${i % 100}/f${i}.ts\ndata ${body.length}\n${body}`);
}
execFileSync("git", ["fast-import", "--quiet"], { cwd: project, env, input: `${rows.join("\n")}\n` });

const log = [];
const push = (type, message, i) =>
  log.push({
    type,
    message,
    uuid: `u${log.length}`,
    sessionId: "bench",
    cwd: project,
    timestamp: new Date((began + 60 + i) * 1000).toISOString(),
  });
push("user", { role: "user", content: "Go" }, 0);
const use = (i, name, input) => {
  const content = [{ type: "tool_use", id: `t${i}`, name, input }];
  push("assistant", { id: `m${i}`, role: "assistant", model: "claude-sonnet-4-5", content }, i);
  push("user", { role: "user", content: [{ type: "tool_result", tool_use_id: `t${i}`, content: "ok" }] }, i);
};
for (let i = 1; i <= 200; i++) {
  const file_path = join(project, `src/d${i % 100}/f${i}.ts`);
  use(i, "Edit", { file_path, old_string: `file ${i}\n`, new_string: `changed ${i}\n` });
}
use(201, "Bash", { command: "find . -type f | wc -l; echo x >> src/d1/f1.ts" });
const folder = join(home, ".claude/projects/project");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "bench.jsonl"), log.map((row) => `${JSON.stringify(row)}\n`).join(""));

const service = await start(home, scratch("replay-data"));
const post = async (path, body) => {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await (await fetch(`${service.url}/api${path}`, init)).json();
  if (answer.code) throw new Error(answer.message);
  return answer;
};
const timed = async (work) => {
  const from = performance.now();
  const answer = await work();
  return { ms: performance.now() - from, answer };
};
const say = (what, ms, limit) =>
  process.stdout.write(`${what.padEnd(60)} ${ms.toFixed(1).padStart(9)} ms   (budget ${limit})\n`);

try {
  await post("/import", { all: true });
  const { sessions } = await (await fetch(`${service.url}/api/sessions`)).json();
  const sessionId = sessions[0].id;
  const waits = [];
  let busy = true;
  const others = (async () => {
    while (busy) {
      waits.push((await timed(() => fetch(`${service.url}/api/live/status`).then((r) => r.text()))).ms);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  const before = usageOf(service.pid).cpu;
  const first = await timed(() => post("/replay/start", { sessionId }));
  say("start: processor time of the service (git's own comes on top)", (usageOf(service.pid).cpu - before) * 1000, "-");
  const again = await timed(() => post("/replay/start", { sessionId }));
  say(`start, ${first.answer.files} files: first`, first.ms, 2000);
  say("start: again, the old sandbox goes first", again.ms, 2000);
  const { steps } = await (
    await fetch(`${service.url}/api/sessions/${encodeURIComponent(sessionId)}/replay-plan`)
  ).json();
  const previews = [];
  const edits = [];
  for (const { seq, kind, command } of steps) {
    const query = `sessionId=${encodeURIComponent(sessionId)}&seq=${seq}`;
    previews.push((await timed(() => fetch(`${service.url}/api/replay/preview?${query}`).then((r) => r.json()))).ms);
    const step = await timed(() =>
      post("/replay/step", { sessionId, seq, ...(command && { confirmCommand: command }) }),
    );
    if (kind === "command") say(`a command (${step.answer.stdout.trim()} files; two reads of all)`, step.ms, "-");
    else edits.push(step.ms);
  }
  say("preview, median", percentile(previews, 50), 50);
  say("preview, longest", Math.max(...previews), 50);
  say("edit, median", percentile(edits, 50), "-");
  busy = false;
  await others;
  say("another request meanwhile, p99", percentile(waits, 99), 50);
} finally {
  await service.stop();
}
