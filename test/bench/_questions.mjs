/** Everything that can be asked of a service without changing what it keeps, over a small home with a real repository: what `kept.mjs` asks. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { SERVER } from "./_hub-ways.mjs";
import { scratch } from "./_service.mjs";

const SESSIONS = 30;
const COMMITS = 20;
const DAY = Date.parse("2026-11-20T00:00:00Z");
const MINUTE = 60_000;
const keyOf = (n) => `aaaaaaaa-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** A home whose sessions edit the files of `repository`, each beginning at one of its commits. */
export function makeWorld() {
  const [home, repository] = [scratch("kept-home"), scratch("kept-repository")];
  const git = (...args) => execFileSync("git", ["-C", repository, ...args], { encoding: "utf8", env: gitEnv });
  const gitEnv = { ...process.env, GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b.c" };
  Object.assign(gitEnv, { GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b.c" });
  git("init", "-q");
  for (let n = 0; n < COMMITS; n++) {
    writeFileSync(join(repository, `f${n}.txt`), `one\ntwo ${n}\n`);
    writeFileSync(join(repository, "all.txt"), Array.from({ length: n + 1 }, (_, i) => `line ${i}\n`).join(""));
    gitEnv.GIT_AUTHOR_DATE = gitEnv.GIT_COMMITTER_DATE = new Date(DAY + n * MINUTE).toISOString();
    git("add", ".");
    git("commit", "-qm", `c ${n}`);
  }
  const folder = join(home, ".claude/projects/-w-app");
  mkdirSync(folder, { recursive: true });
  for (let s = 0; s < SESSIONS; s++) writeFileSync(join(folder, `${keyOf(s)}.jsonl`), logOf(s, repository));
  return { home, repository, commits: git("log", "--format=%H").trim().split("\n") };
}

function logOf(s, cwd) {
  let time = DAY + s * MINUTE;
  const row = (type, n, message, more = {}) => {
    time += 500;
    const timestamp = new Date(time).toISOString();
    return `${JSON.stringify({ type, uuid: `${type}${s}-${n}-${time}`, timestamp, cwd, sessionId: keyOf(s), message, ...more })}\n`;
  };
  return Array.from({ length: 20 }, (_, n) => {
    const input = { file_path: join(cwd, `f${n}.txt`), old_string: `two ${n}`, new_string: `two ${s}` };
    const call = { type: "tool_use", id: `t${s}-${n}`, name: "Edit", input };
    const reply = { id: `m${s}-${n}`, role: "assistant", model: "claude-haiku-4-5" };
    const usage = { input_tokens: 5, output_tokens: 6 };
    return (
      row("user", n, { role: "user", content: `please do ${n}, needle${n}` }) +
      row(
        "assistant",
        n,
        { ...reply, usage, content: [{ type: "text", text: "ok" }, call] },
        { requestId: `${s}-${n}` },
      ) +
      row("user", n, { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "done" }] })
    );
  }).join("");
}

/** By name: asks once and resolves with `{ status, text }`. `n` counts up: what is asked for is hardly ever the same. */
export async function questionsOf(service, { repository, commits }) {
  const send = async (method, path, body, more = {}) => {
    const headers = { ...(body && { "content-type": "application/json" }), ...more };
    const answer = await fetch(service.url + path, { method, headers, body: body && JSON.stringify(body) });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  };
  const get = (pathOf) => (n) => send("GET", `/api${pathOf(n)}`);
  const post = (path, bodyOf) => (n) => send("POST", `/api${path}`, bodyOf(n));
  /** Followed until something has come, then left without a word. */
  const follow = (pathOf) => (n) =>
    new Promise((resolve, reject) => {
      const { port } = new URL(service.url);
      const socket = connect(Number(port), "127.0.0.1");
      socket.once("error", reject);
      socket.once("data", (chunk) => {
        socket.destroy();
        resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1]), text: String(chunk) });
      });
      socket.write(`GET /api${pathOf(n)} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n\r\n`);
    });
  const id = (n) => `claude-code:${keyOf(n % SESSIONS)}`;
  const session = (rest) => get((n) => `/sessions/${id(n)}${rest}`);
  const time = (n) => encodeURIComponent(new Date(DAY + (n % 100_000) * 1000).toISOString());
  const commit = (n) => commits[n % commits.length];
  const days = (n) => 1 + (n % 900);
  const rpc = (method, params, n) => ({ jsonrpc: "2.0", id: n, method, params });
  const accept = { accept: "application/json, text/event-stream" };
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } };
  /** A client of the hub that comes, calls and goes. */
  async function visit(n) {
    const { headers } = await send("POST", "/mcp", rpc("initialize", hello, n), accept);
    const mine = { ...accept, "mcp-session-id": headers.get("mcp-session-id") };
    const answer = await send(
      "POST",
      "/mcp",
      rpc("tools/call", { name: "echo__echo", arguments: { text: `h${n}` } }, n),
      mine,
    );
    await send("DELETE", "/mcp", undefined, mine);
    return answer;
  }

  await send("POST", "/api/import", { all: true });
  await send("POST", "/api/mcp/services", { id: "echo", command: process.execPath, args: [SERVER] });
  const projects = JSON.parse((await send("GET", "/api/projects?git=0")).text);
  const project = projects.find(({ path }) => path === repository).id;
  const shared = JSON.parse((await send("POST", `/api/sessions/${id(0)}/share`, {})).text);
  const rule = { kind: "redact", name: "mine", pattern: "abc[0-9]+" };

  return {
    status: get(() => "/status"),
    "sessions, words": get((n) => `/sessions?limit=20&q=word${n}`),
    "sessions, times": get((n) => `/sessions?limit=20&after=${time(n)}&sort=${["recent", "cost", "errors"][n % 3]}`),
    "a session by name": get((n) => `/sessions/find?name=${id(n)}`),
    "a session": session(""),
    "a session that is not": get((n) => `/sessions/claude-code:nope${n}`),
    "messages, a page": session("/messages?limit=20"),
    "messages, all": session("/messages"),
    prompts: session("/prompts"),
    outline: session("/outline"),
    pictures: get((n) => `/sessions/${id(n)}/images?seq=${n % 20}`),
    "find in a session": get((n) => `/sessions/${id(n)}/find?q=value${n}`),
    figures: session("/figures"),
    context: session("/context"),
    causality: session("/causality"),
    "replay plan": session("/replay-plan"),
    "secrets of a session": session("/security-check"),
    "export, redacted": session("/export-redacted?format=md"),
    "a shared page": () => send("GET", new URL(shared.url, service.url).pathname),
    shares: get(() => "/shares"),
    projects: get(() => "/projects"),
    "projects' git": follow(() => "/projects/git"),
    activity: get((n) => `/projects/activity?days=${1 + (n % 300)}`),
    search: get((n) => `/search?q=needle${n}&limit=20`),
    "search, two letters": get((n) => `/search?q=${encodeURIComponent(`do ${n}`)}`),
    "search, best match": get((n) => `/search?q=please${n}&sort=relevance`),
    "search, total": get((n) => `/search/total?q=please&after=${time(n)}`),
    "search, total as it comes": follow((n) => `/search/total?q=done${n}`),
    usage: get((n) => `/usage?group=${["day", "week", "session", "project", "model"][n % 5]}`),
    insights: get((n) => `/insights?days=${days(n)}`),
    "insights, sessions": get((n) => `/insights/sessions?days=${days(n)}`),
    "insights, calls": get((n) => `/insights/calls?days=${days(n)}`),
    prices: get(() => "/prices"),
    "commit at a time": get((n) => `/git/at?project=${project}&ts=${time(n)}&session=${id(n)}`),
    "tree of a commit": get((n) => `/git/tree?project=${project}&commit=${commit(n)}`),
    "file of a commit": get((n) => `/git/file?project=${project}&commit=${commit(n)}&path=all.txt`),
    blame: get((n) => `/git/blame?project=${project}&commit=${commit(n)}&path=all.txt`),
    "a live session": follow((n) => `/sessions/${id(n)}/live`),
    "turns of all": follow((n) => `/live/turns?session=${id(n)}&session=${id(n + 1)}`),
    "import followed": follow(() => "/import/status"),
    scan: get(() => "/scan"),
    "scan as it comes": follow(() => "/scan"),
    sync: post("/sync?wait=1", () => undefined),
    "sync of a session": (n) => send("POST", `/api/sessions/${id(n)}/sync`),
    sources: get(() => "/sources"),
    skills: get(() => "/skills"),
    "use of skills": get(() => "/skills/usage"),
    "skills on the disk": get(() => "/skills/scan"),
    "guard, a read": post("/security/pretooluse", (n) => ({
      tool_name: "Read",
      tool_input: { file_path: join(repository, `f${n}.txt`) },
      session_id: `s${n}`,
      cwd: repository,
    })),
    "guard, a command": post("/security/pretooluse", (n) => ({
      tool_name: "Bash",
      tool_input: { command: `grep -c needle${n} all.txt | sort > /tmp/x${n}` },
      session_id: `s${n}`,
      cwd: repository,
    })),
    interceptions: get(() => "/security/interceptions"),
    rules: get(() => "/security/rules"),
    "a rule tried": post("/security/rules/test", (n) => ({ rule: { ...rule, pattern: `abc${n}` }, text: `abc${n}` })),
    "the hub, a visit": visit,
    "the hub by its route": post("/mcp/call", (n) => ({ name: "echo__echo", arguments: { text: `h${n}` } })),
    "the hub's state": get(() => "/mcp/status"),
    "the hub's log": get(() => "/mcp/log"),
    "the hub's calls": get(() => "/mcp/calls"),
    "the hub's tools": get(() => "/mcp/tools"),
    "configurations of tools": get(() => "/mcp/scan"),
    plugins: get(() => "/plugins"),
    settings: get(() => "/settings"),
    "a path that is not": get((n) => `/none/${n}`),
    "a refused write": post("/status", (n) => ({ n })),
    page: () => send("GET", "/"),
  };
}

/** Questions that answer with an error by intention, and which. */
export const REFUSED = { "a session that is not": 404, "a path that is not": 404, "a refused write": 405 };
