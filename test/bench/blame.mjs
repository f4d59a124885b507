// Who wrote a file, and what commits cost:
//   npm run build:service && node test/bench/blame.mjs [sessions = 2000] [lines = 5000]
// Makes a repository in which each session writes lines of one file and a part of another, and commits them; some lines are rewritten by later
// sessions, some by people. Each answer is asked of a service that has just started, then again.
// Budgets: blame 1 s, then 100 ms; a receipt of 100 commits 2 s; no event-loop turn over 50 ms meanwhile.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLI, environment, percentile, printTable, report, scratch, start, usageOf } from "./_service.mjs";

const SESSIONS = Number(process.argv[2] ?? 2000);
const LINES = Number(process.argv[3] ?? 5000);
const AGAIN = 5;
const START = Math.floor(Date.now() / 1000) - (SESSIONS + 10) * 3_000;

let seed = 1;
const below = (n) => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
};

const home = scratch("blame-home");
const data = join(home, "data");
const root = join(home, "w/app");
const logs = join(home, ".claude/projects", root.replaceAll("/", "-"));
mkdirSync(root, { recursive: true });
mkdirSync(logs, { recursive: true });
const gitEnv = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_GLOBAL: "/dev/null" };
const git = (...args) => execFileSync("git", args, { cwd: root, env: gitEnv, maxBuffer: 2 ** 30 });

/** Lines that say something, and some that are everywhere. */
const line = (who, n) =>
  n % 5 === 4
    ? "  }"
    : `  const value${who}x${n} = compute(order${below(90)}, ${below(10_000)}); // step ${n} of ${who}`;

/** A session's log: it reads the file, changes it by two edits, and writes a part of another. */
function writeLog(who, at, edits) {
  const id = `${String(who).padStart(8, "0")}-0000-4000-8000-000000000000`;
  const rows = [];
  const put = (type, message) =>
    rows.push({
      ...{ type, uuid: `u${who}-${rows.length}`, sessionId: id, cwd: root, requestId: `r${who}-${rows.length}` },
      ...{ timestamp: new Date((at + rows.length * 10) * 1000).toISOString(), message },
    });
  const call = (name, input, result) => {
    const tool = `t${who}-${rows.length}`;
    const usage = { input_tokens: 30, output_tokens: 200 + below(900), cache_read_input_tokens: 20_000 };
    const content = [{ type: "tool_use", id: tool, name, input }];
    put("assistant", { id: `m${tool}`, role: "assistant", model: "claude-opus-4-5", content, usage });
    put("user", { role: "user", content: [{ type: "tool_result", tool_use_id: tool, content: result }] });
  };
  put("user", { role: "user", content: `Please do step ${who}` });
  call("Read", { file_path: join(root, "src/big.ts") }, "the file ".repeat(40));
  for (const { path, old_string, new_string } of edits)
    call("Edit", { file_path: join(root, path), old_string, new_string }, "done");
  writeFileSync(join(logs, `${id}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

git("init", "-q", "-b", "main", "--template=");
const stream = spawn("git", ["fast-import", "--quiet"], {
  cwd: root,
  env: gitEnv,
  stdio: ["pipe", "ignore", "inherit"],
});
const send = (text) => stream.stdin.write(text) || new Promise((resolve) => stream.stdin.once("drain", resolve));
const files = new Map([["src/big.ts", ["// a person began this file", "export {};"]]]);
const commit = async (at, author, changed) => {
  await send(`commit refs/heads/main\ncommitter ${author} <${author}@example.org> ${at} +0000\ndata 6\nchange\n`);
  for (const path of changed) {
    const text = files
      .get(path)
      .map((one) => `${one}\n`)
      .join("");
    await send(`M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`);
  }
};
/** Inserts `count` lines into the file, some of them in place of one that is there. */
function edit(path, who, first, count) {
  const lines = files.get(path) ?? ["// another file"];
  files.set(path, lines);
  const at = below(lines.length);
  const fresh = Array.from({ length: count }, (_, n) => line(who, first + n));
  const isReplaced = below(4) === 0 && lines.length > 20;
  const old = lines[at];
  lines.splice(at, 1, ...(isReplaced ? [] : [old]), ...fresh);
  return { path, old_string: old, new_string: [...(isReplaced ? [] : [old]), ...fresh].join("\n") };
}
await commit(START, "ada", files.keys());
for (let who = 0; who < SESSIONS; who++) {
  const at = START + (who + 1) * 3_000;
  const missing = LINES - files.get("src/big.ts").length;
  const each = Math.max(2, Math.ceil(missing / (SESSIONS - who)));
  const other = `src/part${who % 60}.ts`;
  const edits = [edit("src/big.ts", who, 0, Math.ceil(each / 2)), edit("src/big.ts", who, 10, Math.max(1, each >> 1))];
  edits.push(edit(other, who, 20, 6));
  writeLog(who, at, edits);
  if (who % 10 === 0) files.get("src/big.ts")[below(files.get("src/big.ts").length)] = `// by hand ${who}`;
  await commit(at + 600, who % 2 ? "ada" : "ben", ["src/big.ts", other]);
}
stream.stdin.end();
await new Promise((resolve) => stream.on("exit", resolve));
git("reset", "-q", "--hard");

const imported = spawnSync(process.execPath, [CLI, "import", "--all"], {
  env: environment(home, data),
  encoding: "utf8",
});
if (imported.status !== 0) throw new Error(`the import ended with ${imported.status}: ${imported.stderr}`);

const clock = async (work) => {
  const began = performance.now();
  const result = await work();
  return { ms: performance.now() - began, result };
};
const plain = await clock(() => git("blame", "-w", "--porcelain", "src/big.ts"));

/** Asks a fresh service for the answer once and again; meanwhile other requests come in, whose waits are taken, too. */
async function measure(name, path, [firstLimit, againLimit], check) {
  const service = await start(home, data, [], { probed: true });
  const get = async (to) => {
    const response = await fetch(`${service.url}/api${to}`);
    if (!response.ok) throw new Error(`${to} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  const [project] = await get("/projects?git=0");
  const to = path(encodeURIComponent(project.id));
  await service.longestTurn();
  const times = [];
  const cpus = [];
  const waits = [];
  let isOver = false;
  const others = (async () => {
    while (!isOver) {
      waits.push((await clock(() => get("/status"))).ms);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  for (let i = 0; i <= AGAIN; i++) {
    const before = usageOf(service.pid).cpu;
    const { ms, result } = await clock(() => get(to));
    if (i === 0) process.stdout.write(`${name}: ${check(result)}\n`);
    times.push(ms);
    cpus.push((usageOf(service.pid).cpu - before) * 1000);
  }
  isOver = true;
  await others;
  report(`${name}, first`, times[0], "ms", firstLimit);
  report("  of a processor, in the service", cpus[0], "ms");
  report(`${name}, again (median of ${AGAIN})`, percentile(times.slice(1), 50), "ms", againLimit);
  report("  of a processor, in the service", percentile(cpus.slice(1), 50), "ms");
  report("  longest event-loop turn", await service.longestTurn(), "ms", 50);
  report("  longest wait of another request", Math.max(...waits), "ms");
  await service.stop();
}

const written = ({ lines }) =>
  `${lines.filter(({ writer }) => writer !== null).length} of ${lines.length} lines have a writer`;
await measure("blame", (id) => `/git/blame?project=${id}&path=src/big.ts`, [1_000, 100], written);
await measure(
  "writers of 20 lines",
  (id) => `/git/writers?project=${id}&path=src/big.ts&from=2001&to=2020`,
  [1_000, 100],
  written,
);
await measure(
  "receipt of 100 commits",
  (id) => `/projects/${id}/receipt?range=HEAD~100..HEAD`,
  [2_000, undefined],
  ({ commits, sessions, total }) =>
    `${commits.length} commits, ${sessions.length} sessions, ${total.microdollars} microdollars`,
);
await measure(
  "commits of the project",
  (id) => `/projects/${id}/commits`,
  [2_000, undefined],
  ({ total, leftovers }) => `${total} commits, ${JSON.stringify(leftovers)}`,
);
report("plain git blame", plain.ms, "ms");
printTable();
