/** Installed hooks, run as the tools run them: the command of the settings in a shell of its own, a real service or none behind it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parse as parseToml } from "@decimalturn/toml-patch";
import { describe, expect, it, onTestFinished } from "vitest";
import type { GuardStatus } from "../../plugins/security/index.ts";
import { makeTempDir, serveTest } from "../_setup.ts";
import { plugins } from "./_kernel.ts";
import { letters } from "./_samples.ts";
import { makeTrouble, TROUBLES } from "./_service.ts";

const token = `ghp_${letters(36, 61)}`;
const hasCurl = ["/usr/bin/curl", "/bin/curl"].some(existsSync);

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** With a proxy set that must not be asked. */
function shell(command: string, input: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH, http_proxy: "http://127.0.0.1:9", HTTP_PROXY: "http://127.0.0.1:9" };
    const child = spawn("/bin/sh", ["-c", command], { env });
    const ended: Ended = { code: null, out: "", err: "" };
    child.stdout.on("data", (chunk) => {
      ended.out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      ended.err += chunk;
    });
    child.on("error", reject);
    // A hook that stops reading counts as failed in Codex: then this rejects.
    child.stdin.on("error", reject);
    child.on("close", (code) => resolve({ ...ended, code }));
    child.stdin.end(input);
  });
}

const PATHS: Record<string, string> = {
  "claude-code": ".claude/settings.json",
  codex: ".codex/hooks.json",
  cursor: ".cursor/hooks.json",
  "gemini-cli": ".gemini/settings.json",
  copilot: ".copilot/hooks/sessarc.json",
  opencode: ".config/opencode/plugin/sessarc.js",
  qwen: ".qwen/settings.json",
  grok: ".grok/hooks/sessarc.json",
  droid: ".factory/settings.json",
  kimi: ".kimi-code/config.toml",
  crush: ".config/crush/crush.json",
  vibe: ".vibe/hooks.toml",
};
const COMMANDS = [
  ...["claude-code", "codex", "cursor", "gemini-cli", "copilot"],
  ...["qwen", "grok", "droid", "kimi", "crush", "vibe"],
];

async function installed(tool: string, onFailure: string, options: { flags?: object; home?: string } = {}) {
  return install(await serveTest({ plugins: plugins(), ...options }), tool, onFailure);
}

async function install(served: Awaited<ReturnType<typeof serveTest>>, tool: string, onFailure: string) {
  const auth = served.kernel.access.token;
  const headers = { "content-type": "application/json", ...(auth ? { authorization: `Bearer ${auth}` } : {}) };
  const body = JSON.stringify({ tool, onFailure });
  const answer = await fetch(`${served.url}api/security/install-hook`, { method: "POST", headers, body });
  const text = await readFile(join(served.home, PATHS[tool] ?? ""), "utf8");
  const status = async () => {
    const all = (await (await fetch(`${served.url}api/security/hook`, { headers })).json()) as { tools: GuardStatus[] };
    return all.tools.find((one) => one.tool === tool);
  };
  return { served, status, installed: (await answer.json()) as GuardStatus, text };
}

/** The one command in a tool's settings. */
function commandIn(text: string): string {
  const found: string[] = [];
  if (!text.trimStart().startsWith("{")) return String(parseToml(text).hooks?.[0]?.command);
  JSON.parse(text, (key, value) => {
    if ((key === "command" || key === "bash") && typeof value === "string") found.push(value);
    return value;
  });
  expect(found).toHaveLength(1);
  return found[0] ?? "";
}

const call = (command: string) =>
  JSON.stringify({ hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command } });
const harmless = call(`echo ${"a".repeat(200_000)}`);

describe("security: installed hooks", () => {
  it.skipIf(!hasCurl)("S9: each tool's command asks the service, silent when nothing is wrong", async () => {
    const first = await installed("claude-code", "block");
    for (const tool of COMMANDS) {
      const { text } = tool === "claude-code" ? first : await install(first.served, tool, "block");
      const command = commandIn(text);
      expect(await shell(command, harmless)).toEqual({ code: 0, out: "", err: "" });
      const blocked = await shell(command, call(`echo ${token}`));
      expect(blocked).toMatchObject({ code: 0, err: "" });
      expect(JSON.parse(blocked.out)).toBeTypeOf("object");
      expect(blocked.out).toContain("sessarc stopped this call");
      expect(blocked.out).not.toContain(token.slice(4));
      // What is no call gets no answer of the guard.
      expect(await shell(command, "{}")).toMatchObject({ code: 2, out: "" });
    }
  });

  it.skipIf(!hasCurl).each(TROUBLES)(
    "S9: the command does what the user chose when the service is %s",
    async (trouble) => {
      for (const onFailure of ["allow", "block"]) {
        const { served, text } = await installed("codex", onFailure);
        await served.close();
        await makeTrouble(join(served.home, "data"), trouble);
        const ended = await shell(commandIn(text), harmless);
        if (onFailure === "allow") expect(ended).toEqual({ code: 0, out: "", err: "" });
        else {
          // Codex and Gemini take exit code 2 without words for a failed hook and run the call.
          expect(ended).toMatchObject({ code: 2, out: "" });
          expect(ended.err).toContain("npx sessarc guard uninstall --tool codex");
        }
      }
    },
  );

  it.skipIf(!hasCurl).each([false, true])(
    "a port that another program took gets nothing of a call and decides nothing (token mode: %s)",
    async (auth) => {
      const { served, text } = await installed("codex", "block", { flags: { auth } });
      const opencode = await install(served, "opencode", "block");
      const file = join(served.home, "plugin.mjs");
      await writeFile(file, opencode.text);
      const { SessarcGuard } = await import(/* @vite-ignore */ pathToFileURL(file).href);
      const beforeTool = (await SessarcGuard({ directory: "/w" }))["tool.execute.before"];
      const lock = JSON.parse(await readFile(join(served.home, "data", "lock.json"), "utf8"));
      await served.close();
      const heard: string[] = [];
      const thief = createServer((req, res) => {
        heard.push(`${req.method} ${new URL(req.url ?? "", "http://x").pathname} ${req.headers.authorization ?? ""}`);
        req.on("data", (chunk) => heard.push(String(chunk)));
        // It says what a service without a proof says.
        res.setHeader("content-type", "application/json; guard=sessarc").end("{}");
      });
      await new Promise<void>((resolve) => thief.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void thief.close());
      const { port } = thief.address() as AddressInfo;
      const stale = { ...lock, port, url: `http://127.0.0.1:${port}/` };
      const ended = spawn("true");
      await once(ended, "close");
      // The process that wrote the lock is gone; then its number is another process's.
      for (const pid of [ended.pid, process.pid]) {
        await writeFile(join(served.home, "data", "lock.json"), `${JSON.stringify({ ...stale, pid }, null, 2)}\n`);
        expect(await shell(commandIn(text), call("echo quixotic"))).toMatchObject({ code: 2, out: "" });
        const asked = beforeTool({ tool: "bash", sessionID: "s", callID: "c" }, { args: { command: "echo quixotic" } });
        await expect(asked).rejects.toThrow("could not be asked");
        if (pid === ended.pid) expect(heard).toEqual([]);
      }
      expect(new Set(heard)).toEqual(new Set(["GET /api/security/proof "]));
    },
  );

  it("OpenCode's plugin throws for a blocked call and lets others go", async () => {
    const { ask } = await plugin("allow");
    await expect(ask("ls")).resolves.toBeUndefined();
    await expect(ask(`echo ${token}`)).rejects.toThrow("sessarc stopped this call");
  });

  it.each(TROUBLES.filter((trouble) => trouble !== "gone"))(
    "OpenCode's plugin does what the user chose when the service is %s",
    async (trouble) => {
      for (const onFailure of ["allow", "block"]) {
        const { served, ask } = await plugin(onFailure);
        await served.close();
        await makeTrouble(join(served.home, "data"), trouble);
        if (onFailure === "allow") await expect(ask(`echo ${token}`)).resolves.toBeUndefined();
        else await expect(ask("ls")).rejects.toThrow("could not be asked");
      }
    },
  );

  async function plugin(onFailure: string) {
    const { served, text } = await installed("opencode", onFailure);
    const file = join(served.home, "plugin.mjs");
    await writeFile(file, text);
    const { SessarcGuard } = await import(/* @vite-ignore */ pathToFileURL(file).href);
    const beforeTool = (await SessarcGuard({ directory: "/w" }))["tool.execute.before"];
    const ask = (command: string) =>
      beforeTool({ tool: "bash", sessionID: "s", callID: "c" }, { args: { command } }) as Promise<void>;
    return { served, ask };
  }

  it.skipIf(!hasCurl)("follows the service to another port, with the settings as they are", async () => {
    const { served, text } = await installed("codex", "block");
    const { home } = served;
    await served.close();
    const moved = await serveTest({ plugins: plugins(), home });
    expect(moved.port).not.toBe(served.port);
    expect(await readFile(join(home, PATHS.codex ?? ""), "utf8")).toBe(text);
    expect(await shell(commandIn(text), call("ls"))).toEqual({ code: 0, out: "", err: "" });
    expect((await shell(commandIn(text), call(`echo ${token}`))).out).toContain("deny");
  });

  it.skipIf(!hasCurl)("works below a home with blanks and quotes in its name", async () => {
    const home = join(await makeTempDir(), `it's "my" $HOME; a\\b`);
    const { text, status } = await installed("codex", "block", { home });
    expect(await shell(commandIn(text), call("ls"))).toEqual({ code: 0, out: "", err: "" });
    expect((await status())?.problems.join()).not.toContain("another data directory");
  });

  it.skipIf(!hasCurl)(
    "in token mode the hook opens the guard and nothing else, and no settings hold the token",
    async () => {
      const { served, status, text } = await installed("claude-code", "block", { flags: { auth: true } });
      const secret = served.kernel.access.scoped("guard") ?? "";
      expect(await status()).toMatchObject({ installed: true, effective: true });
      expect(JSON.stringify(await status()) + text).not.toContain(secret);
      expect((await stat(join(served.home, "data", "guard", "header"))).mode & 0o777).toBe(0o600);
      expect(await shell(commandIn(text), call("ls"))).toEqual({ code: 0, out: "", err: "" });
      const headers = { authorization: `Bearer ${secret}` };
      expect((await fetch(`${served.url}api/security/interceptions`, { headers })).status).toBe(401);
      const bare = { method: "POST", headers: { "content-type": "application/json" }, body: call("ls") };
      expect((await fetch((await status())?.url ?? "", bare)).status).toBe(401);
    },
  );

  it.skipIf(!hasCurl)("a service that asks for tokens from now on hands them to hooks installed before", async () => {
    const { served, text } = await installed("codex", "block");
    await served.close();
    await serveTest({ plugins: plugins(), home: served.home, flags: { auth: true } });
    expect(await shell(commandIn(text), call("ls"))).toEqual({ code: 0, out: "", err: "" });
  });
});
