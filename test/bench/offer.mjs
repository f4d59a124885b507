/**
 * `node test/bench/offer.mjs [rounds]`: what the hooks of `sessarc recall install` add to an assistant's start and to a call, as Claude Code runs
 * them, beside a shell that does nothing and a Node that does nothing; with lines and without, and without a service. Needs a built `dist/`.
 * Prints a table; exits 1 when an answer is wrong, never for a slow one.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { percentile, printTable, report, scratch, shell, start, timed } from "./_service.mjs";

const rounds = Number(process.argv[2] ?? 60);
const wrong = [];
const [home, data] = [scratch("home"), scratch("data")];
const cwd = "/w/app";

/** A session in which `npm run migrate` worked after another command, and a test failed at last. */
function writeSession() {
  const id = "0b6f1c52-3a41-4d6e-9a51-000000000001";
  let ms = Date.now() - 86_400_000;
  const row = (type, content) => {
    ms += 1_000;
    const timestamp = new Date(ms).toISOString();
    const message = { id: `m${ms}`, role: type, model: "claude-opus-4-6", content, usage: { output_tokens: 1 } };
    return `${JSON.stringify({ type, uuid: `u${ms}`, sessionId: id, timestamp, cwd, message })}\n`;
  };
  const run = (n, command, failed, text) =>
    row("assistant", [{ type: "tool_use", id: `t${n}`, name: "Bash", input: { command } }]) +
    row("user", [{ type: "tool_result", tool_use_id: `t${n}`, is_error: failed, content: text }]);
  const folder = join(home, ".claude/projects/-w-app");
  mkdirSync(folder, { recursive: true });
  const text = [
    row("user", "run the migrations"),
    run(1, "npm run migrate", true, "Error: connect ECONNREFUSED 127.0.0.1:5432"),
    run(2, "docker compose up -d", false, "ok"),
    run(3, "npm run migrate", false, "ok"),
    run(4, "npx vitest run test/cache.test.ts", true, "AssertionError: expected 3 to be 2"),
  ];
  writeFileSync(join(folder, `${id}.jsonl`), text.join(""));
}

const payload = (n, fields) => JSON.stringify({ session_id: `s${n}`, cwd, ...fields });
const opened = { hook_event_name: "SessionStart", source: "startup" };
const call = (command) => ({ hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command } });

const service = await start(home, data);
let up = true;
try {
  writeSession();
  const post = async (path, body) => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${service.url}/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  await post("api/import", { all: true });
  await post("api/recall/install", { tool: "claude-code" });
  const { hooks } = JSON.parse(readFileSync(join(home, ".claude/settings.json"), "utf8"));
  const [opens, before] = ["SessionStart", "PreToolUse"].map((list) => hooks[list][0].hooks[0].command);
  for (let i = 0; ; i++) {
    const { out } = await shell(opens, payload(`w${i}`, opened));
    if (out.includes("sessarc recall (")) break;
    if (i > 60) throw new Error("nothing is offered");
  }
  const hook = async (what, command, fields, said, session = (i) => `${what} ${i}`) => {
    const ms = await timed(rounds, async (i) => {
      const { code, out } = await shell(command, payload(session(i), fields));
      if (code !== 0 || out.includes("sessarc recall (") !== said) wrong.push(`${what}: ${code} ${out}`);
    });
    report(`${what}, median`, percentile(ms, 50), "ms");
    report(`${what}, p95`, percentile(ms, 95), "ms");
  };
  const plain = async (what, command) => {
    const ms = await timed(rounds, () => shell(command, payload(0, opened)));
    report(`${what}, median`, percentile(ms, 50), "ms");
    report(`${what}, p95`, percentile(ms, 95), "ms");
  };
  await plain("a shell that does nothing", "cat >/dev/null");
  await plain("`node -e 0`", `cat >/dev/null; ${process.execPath} -e 0`);
  await hook("a start, a line", opens, opened, true);
  await hook("a start, silent", opens, opened, false, () => "a start, a line 0");
  await hook("a call, its fix", before, call("npm run migrate"), true);
  await hook("a call, silent", before, call("npm run lint"), false);
  const served = await timed(rounds * 4, async (i) => {
    const path = "api/security/pretooluse?client=claude-code&hook=none&event=call";
    await post(path, JSON.parse(payload(`h${i}`, call("npm run migrate"))));
  });
  report("the service's part over HTTP, median", percentile(served, 50), "ms");
  report("the service's part over HTTP, p95", percentile(served, 95), "ms");
  await service.stop();
  up = false;
  await hook("a call, no service", before, call("npm run migrate"), false);
} finally {
  if (up) await service.stop();
}
printTable();
for (const one of wrong.slice(0, 5)) process.stdout.write(`WRONG ${one}\n`);
process.exitCode = wrong.length > 0 ? 1 : 0;
