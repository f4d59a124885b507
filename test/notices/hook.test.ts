/** The hooks that report waiting, run as the assistants run them: the command of their settings in a shell, the hook's JSON on stdin. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defaultPlugins } from "sessarc/plugins";
import { describe, expect, it, onTestFinished } from "vitest";
import type { WaitingEntry } from "../../plugins/notices/index.ts";
import { makeTempDir, serveTest } from "../_setup.ts";
import { runCommand, serveHere } from "../command.ts";

type Served = Awaited<ReturnType<typeof serveTest>>;

const SILENT = { code: 0, said: "" };

/** `npx sessarc` is not there, and a proxy is set that must not be asked. */
function shell(command: string, input: string): Promise<typeof SILENT> {
  const env = { PATH: "/usr/bin:/bin", http_proxy: "http://127.0.0.1:9", HTTP_PROXY: "http://127.0.0.1:9" };
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", command], { env });
    const ended = { code: -1, said: "" };
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        ended.said += chunk;
      });
    child.on("error", reject);
    // An assistant may take a hook that stops reading for a failed one.
    child.stdin.on("error", reject);
    child.on("close", (code) => resolve({ ...ended, code: code ?? -1 }));
    child.stdin.end(input);
  });
}

/** Every command in the settings that reports waiting, by what it reports. */
async function commandsIn(file: string, tool: string): Promise<Map<string, string>> {
  const text = await readFile(file, "utf8");
  // Also in TOML, whose basic strings are JSON's here.
  const found = text.matchAll(/"((?:[^"\\]|\\.)*waiting\.cjs(?:[^"\\]|\\.)*)"/g);
  const commands = [...found].map(([, command]) => JSON.parse(`"${command}"`) as string);
  return new Map(commands.map((one) => [new RegExp(`waiting\\.cjs' ${tool} (\\w+) `).exec(one)?.[1] ?? "", one]));
}

async function installed(served: Served, tool: string, file: string) {
  const auth = served.kernel.access.token;
  const headers = { "content-type": "application/json", ...(auth && { authorization: `Bearer ${auth}` }) };
  const body = JSON.stringify({ tool, waiting: true });
  const answer = await fetch(`${served.url}api/security/install-hook`, { method: "POST", headers, body });
  expect(answer.status).toBe(200);
  const commands = await commandsIn(join(served.home, file), tool);
  const run = (event: string, input: object | string) =>
    shell(commands.get(event) ?? "exit 9", typeof input === "string" ? input : JSON.stringify(input));
  const waiting = async () => {
    const list = (await (await fetch(`${served.url}api/waiting`, { headers })).json()) as WaitingEntry[];
    return list.map(({ id, kind }) => `${id} ${kind}`);
  };
  return { run, waiting, events: [...commands.keys()] };
}

const start = (options: { flags?: object; home?: string } = {}) =>
  serveTest({ plugins: defaultPlugins(), ...options, flags: { sync: false, ...options.flags } });

/** What another local process on the service's port gets to see. */
async function stranger(answer: string): Promise<{ url: string; port: number; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer(async (req: IncomingMessage, res) => {
    let body = "";
    for await (const chunk of req) body += chunk;
    seen.push(
      `${req.method} ${req.url?.replace(/nonce=[0-9a-f]{32}$/, "nonce=…")} ${req.headers.authorization ?? ""} ${body}`.trim(),
    );
    res.end(answer);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, port, seen };
}

describe.skipIf(process.platform === "win32")("the hook of an assistant that waits", () => {
  const asks = { session_id: "s1", hook_event_name: "Notification", notification_type: "permission_prompt" };

  it.each([{}, { auth: true }])("reports to the service that installed it, and prints nothing (%o)", async (flags) => {
    const served = await start({ flags });
    const { run, waiting, events } = await installed(served, "claude-code", ".claude/settings.json");
    expect(events.sort()).toEqual(["answer", "ended", "notification"]);
    expect(await run("notification", asks)).toEqual(SILENT);
    expect(await waiting()).toEqual(["claude-code:s1 permission"]);
    expect(await run("answer", { session_id: "s1", last_assistant_message: "Done" })).toEqual(SILENT);
    expect(await waiting()).toEqual(["claude-code:s1 answer"]);
    // A notice that asks for nothing.
    await run("notification", { session_id: "s2", notification_type: "auth_success" });
    await run("ended", { session_id: "s1" });
    expect(await waiting()).toEqual([]);
    // Earlier versions name no type.
    await run("notification", { session_id: "s3", message: "Claude needs your permission to use Bash" });
    await run("notification", { session_id: "s4", message: "Claude is waiting for your input" });
    expect(await waiting()).toEqual(["claude-code:s3 permission", "claude-code:s4 answer"]);
  });

  it("fails nothing: bad input, no service, no key, no program", async () => {
    const served = await start();
    const { run, waiting } = await installed(served, "claude-code", ".claude/settings.json");
    for (const bad of ["", "[]", "{", "null", "7", '{"session_id":7}', "x".repeat(2 << 20)])
      expect(await run("notification", bad)).toEqual(SILENT);
    expect(await waiting()).toEqual([]);
    await served.close();
    expect(await run("notification", asks)).toEqual(SILENT);
    const guard = join(served.kernel.storage.path(), "guard");
    await rm(join(guard, "key"));
    expect(await run("notification", asks)).toEqual(SILENT);
    await rm(join(guard, "waiting.cjs"));
    expect(await run("notification", asks)).toEqual(SILENT);
  });

  it("sends nothing to another process that has the service's port", async () => {
    const served = await start({ flags: { auth: true } });
    const { run } = await installed(served, "claude-code", ".claude/settings.json");
    await served.close();
    const other = await stranger("0".repeat(64));
    const lock = { pid: process.pid, port: other.port, url: other.url };
    await writeFile(join(served.kernel.storage.path(), "lock.json"), JSON.stringify(lock, null, 2));
    expect(await run("notification", asks)).toEqual(SILENT);
    expect(other.seen).toEqual(["GET /api/security/proof?nonce=…"]);
    // The process that wrote the lock file is gone: not even that.
    await writeFile(
      join(served.kernel.storage.path(), "lock.json"),
      JSON.stringify({ ...lock, pid: 2 ** 22 + 1 }, null, 2),
    );
    expect(await run("notification", asks)).toEqual(SILENT);
    expect(other.seen).toHaveLength(1);
  });

  it.each([
    ["gemini-cli", ".gemini/settings.json", { notification: { notification_type: "ToolPermission" }, answer: {} }],
    ["qwen", ".qwen/settings.json", { notification: { notification_type: "permission_prompt" }, answer: {} }],
    ["droid", ".factory/settings.json", { notification: { message: "Droid needs your permission" }, answer: {} }],
    ["grok", ".grok/hooks/sessarc.json", { notification: { notificationType: "permission_prompt" }, answer: {} }],
    ["codex", ".codex/hooks.json", { permission: { tool_name: "Bash" }, answer: { turn_id: "t" } }],
    [
      "copilot",
      ".copilot/hooks/sessarc.json",
      { notification: { notification_type: "permission_prompt" }, answer: {} },
    ],
    ["cursor", ".cursor/hooks.json", { answer: { status: "completed" } }],
    ["kimi", ".kimi-code/config.toml", { permission: { tool_name: "Bash" }, answer: {} }],
  ])("of %s reports each of its events by its own fields", async (tool, file, payloads) => {
    const served = await start();
    const { run, waiting, events } = await installed(served, tool, file);
    const name = { cursor: "conversation_id", copilot: "sessionId", grok: "sessionId" }[tool] ?? "session_id";
    const kinds = Object.keys(payloads).length === 1 ? ["answer"] : ["permission", "answer"];
    for (const [index, [event, payload]] of Object.entries(payloads).entries()) {
      expect(await run(event, { [name]: "s1", ...payload })).toEqual(SILENT);
      expect(await waiting()).toEqual([`${tool}:s1 ${kinds[index]}`]);
    }
    const end = events.find((event) => event === "ended");
    if (end) await run(end, { [name]: "s1" });
    expect(await waiting()).toHaveLength(end ? 0 : 1);
  });

  it("of a plugin reports idle sessions and questions, not those of sub-agents", async () => {
    const served = await start();
    const { waiting } = await installed(served, "opencode", ".config/opencode/plugin/sessarc.js");
    const file = join(served.home, ".config/opencode/plugin/sessarc.mjs");
    await writeFile(file, await readFile(file.replace(/mjs$/, "js"), "utf8"));
    const { SessarcGuard } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
      SessarcGuard(at: { directory: string }): Promise<{ event(of: { event: object }): Promise<void> }>;
    };
    const { event } = await SessarcGuard({ directory: served.home });
    const say = (type: string, properties: object) => event({ event: { type, properties } });
    await say("session.updated", { info: { id: "child", parentID: "s1" } });
    await say("session.idle", { sessionID: "child" });
    await say("permission.asked", { sessionID: "s1" });
    expect(await waiting()).toEqual(["opencode:s1 permission"]);
    await say("session.idle", { sessionID: "s1" });
    expect(await waiting()).toEqual(["opencode:s1 answer"]);
    await say("session.deleted", { info: { id: "s1" } });
    expect(await waiting()).toEqual([]);
  });

  it("is listed by the commands", async () => {
    const home = await makeTempDir();
    const service = await serveHere([], home);
    expect((await runCommand(["waiting"], home)).code).toBe(3);
    expect((await runCommand(["guard", "install", "--waiting"], home)).code).toBe(0);
    const commands = await commandsIn(join(home, ".claude/settings.json"), "claude-code");
    expect(await shell(commands.get("notification") ?? "", JSON.stringify(asks))).toEqual(SILENT);
    expect((await runCommand(["waiting"], home)).stdout).toContain("Claude Code waits for a permission");
    expect((await runCommand(["status"], home)).stdout).toContain(
      "waits     Claude Code waits for a permission, since",
    );
    await service.stop();
  });
});
