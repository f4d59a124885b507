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
const ROUNDS = 3;
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
const plain = [];
for (let n = 0; n < ROUNDS; n++) plain.push((await clock(() => git("blame", "-w", "--porcelain", "src/big.ts"))).ms);

/**
 * Asks a service that has just started for the answer once and again, three times, and reports the quietest; meanwhile other requests come in,
 * whose waits are reported, too.
 */
async function measure(name, path, [firstLimit, againLimit], check) {
  const rounds = [];
  for (let n = 0; n < ROUNDS; n++) rounds.push(await once(path, check));
  const least = (of) => Math.min(...rounds.map(of));
  const most = (of) => Math.max(...rounds.map(of));
  process.stdout.write(`${name}: ${rounds[0].found}\n`);
  report(
    `${name}, first`,
    least(({ first }) => first.ms),
    "ms",
    firstLimit,
  );
  report(
    "  processor time of the service",
    least(({ first }) => first.cpu),
    "ms",
  );
  report(
    "  processor time of git",
    least(({ first }) => first.children),
    "ms",
  );
  report(
    `${name}, again`,
    least(({ again }) => again.ms),
    "ms",
    againLimit,
  );
  report(
    "  processor time of the service",
    least(({ again }) => again.cpu),
    "ms",
  );
  report(
    "  longest event-loop turn",
    most(({ turn }) => turn),
    "ms",
    50,
  );
  report(
    "  longest wait of another request",
    least(({ wait }) => wait),
    "ms",
  );
}

async function once(path, check) {
  const service = await start(home, data, [], { probed: true });
  const get = async (to, init) => {
    const response = await fetch(`${service.url}/api${to}`, init);
    if (!response.ok) throw new Error(`${to} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
  // What a service does after its start.
  await get("/sync?wait=1", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const [project] = await get("/projects?git=0");
  const to = path(encodeURIComponent(project.id));
  await service.longestTurn();
  const times = [];
  let found;
  let wait = 0;
  let isOver = false;
  const others = (async () => {
    while (!isOver) {
      wait = Math.max(wait, (await clock(() => get("/status"))).ms);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  for (let i = 0; i <= AGAIN; i++) {
    const before = usageOf(service.pid);
    const { ms, result } = await clock(() => get(to));
    const after = usageOf(service.pid);
    found ??= check(result);
    times.push({ ms, cpu: (after.cpu - before.cpu) * 1000, children: (after.children - before.children) * 1000 });
  }
  isOver = true;
  await others;
  const turn = await service.longestTurn();
  await service.stop();
  const [first, ...rest] = times;
  const again = {
    ms: percentile(
      rest.map(({ ms }) => ms),
      50,
    ),
    cpu: percentile(
      rest.map(({ cpu }) => cpu),
      50,
    ),
  };
  return { first, again, turn, wait, found };
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
report("plain git blame, one process", Math.min(...plain), "ms");
printTable();
