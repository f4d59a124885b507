/**
 * `node test/bench/guard.mjs [rounds]`: what the guard costs a tool call. Over HTTP as a client asks, with 16 KB of arguments; and the
 * installed hook as Claude Code runs it (shell, script, curl) beside a shell that does nothing. Needs a built `dist/`. Prints a table;
 * exits 1 when an answer is wrong, never for a slow one.
 */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { percentile, printTable, report, scratch, shell, start, timed } from "./_service.mjs";

const rounds = Number(process.argv[2] ?? 200);
const agent = new Agent({ keepAlive: true, maxSockets: 4 });
const wrong = [];
const home = scratch("home");
const data = scratch("data");
let service = await start(home, data);

/** Program text without a secret, different each time: the same call within seconds would be answered from memory. */
function call(n, bytes) {
  let content = "";
  for (let i = 0; content.length < bytes; i++)
    content += `  const value${i + n} = read(path, ${n * 7919 + i}); // ${i % 7}\n`;
  return JSON.stringify({
    ...{ hook_event_name: "PreToolUse", session_id: `s${n}`, cwd: "/w/app", tool_name: "Write" },
    tool_input: { file_path: `/w/app/src/f${n}.ts`, content: content.slice(0, bytes) },
  });
}

const post = (path, body, headers = {}) =>
  new Promise((resolve, reject) => {
    const outgoing = request(`${service.url}${path}`, {
      ...{ method: "POST", agent },
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...headers },
    });
    outgoing.on("response", (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      answer.on("end", () => resolve({ status: answer.statusCode, text }));
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });

try {
  await timed(20, (i) => post("/api/security/pretooluse", call(1_000_000 + i, 16_384)));
  for (const bytes of [1_024, 16_384]) {
    const ms = await timed(rounds, async (i) => {
      const { status, text } = await post("/api/security/pretooluse", call(i + bytes * 1_000, bytes));
      if (status !== 200 || JSON.parse(text).decision !== "allow") wrong.push(`${bytes} bytes: ${status} ${text}`);
    });
    report(`${bytes / 1024} KB over HTTP, median`, percentile(ms, 50), "ms");
    report(`${bytes / 1024} KB over HTTP, p95`, percentile(ms, 95), "ms", bytes === 16_384 ? 5 : undefined);
  }
  const installed = await post("/api/security/install-hook", JSON.stringify({ tool: "claude-code" }));
  if (installed.status >= 300) throw new Error(`not installed: ${installed.text}`);
  const settings = JSON.parse(readFileSync(join(home, ".claude/settings.json"), "utf8"));
  const [{ hooks }] = settings.hooks.PreToolUse;
  const { command } = hooks[0];
  const few = Math.max(20, Math.round(rounds / 4));
  const nothing = await timed(few, () => shell("cat >/dev/null", call(1, 1_024)));
  const hook = await timed(few, async (i) => {
    const { code, out } = await shell(command, call(i + 5_000_000, 1_024));
    if (code !== 0 || !/^(\{\})?\s*$/.test(out)) wrong.push(`hook: ${code} ${out}`);
  });
  report("a shell that does nothing, median", percentile(nothing, 50), "ms");
  report("the installed hook, median", percentile(hook, 50), "ms");
  report("the installed hook, p95", percentile(hook, 95), "ms");
  report("its cost for each call, median", percentile(hook, 50) - percentile(nothing, 50), "ms");
  // With an installed hook a service gets ready for its first call after the start.
  await service.stop();
  service = await start(home, data);
  for (const ready of ["at once", "a second later"]) {
    const [first, second] = await timed(2, (i) =>
      post("/api/security/pretooluse", call(i + ready.length * 1e6, 1_024)),
    );
    report(`first call after a start, ${ready}`, first, "ms");
    report("the second", second, "ms");
    if (ready === "at once") {
      await service.stop();
      service = await start(home, data);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
} finally {
  await service.stop();
}
printTable();
for (const one of wrong.slice(0, 5)) process.stdout.write(`WRONG ${one}\n`);
process.exitCode = wrong.length > 0 ? 1 : 0;
