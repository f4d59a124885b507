import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import type { GuardStatus } from "../../plugins/security/index.ts";
import { serveTest } from "../_setup.ts";
import { plugins } from "./_kernel.ts";
import { letters } from "./_samples.ts";

const token = `ghp_${letters(36, 61)}`;
const hasCurl = ["/usr/bin/curl", "/bin/curl"].some(existsSync);

function shell(command: string, input: string): Promise<{ code: number | null; out: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", command], {
      env: { PATH: process.env.PATH, http_proxy: "http://127.0.0.1:9" },
    });
    let out = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out }));
    child.stdin.end(input);
  });
}

async function installed(flags: object, tool: string, onFailure: string) {
  const served = await serveTest({ plugins: plugins(), flags });
  const auth = served.kernel.access.token;
  const headers = { "content-type": "application/json", ...(auth ? { authorization: `Bearer ${auth}` } : {}) };
  const body = JSON.stringify({ tool, onFailure });
  const answer = await fetch(`${served.url}api/security/install-hook`, { method: "POST", headers, body });
  return {
    served,
    status: (await answer.json()) as GuardStatus,
    text: await readFile(join(served.home, PATHS[tool] ?? ""), "utf8"),
  };
}
const PATHS: Record<string, string> = {
  codex: ".codex/hooks.json",
  "claude-code": ".claude/settings.json",
  opencode: ".config/opencode/plugin/sessarc.js",
};

describe("security: installed hooks", () => {
  it.skipIf(!hasCurl)("S9: the command asks the service, and does what the user chose when it is away", async () => {
    for (const [onFailure, code] of [
      ["allow", 0],
      ["block", 2],
    ] as const) {
      const { served, text } = await installed({}, "codex", onFailure);
      const { command } = JSON.parse(text).hooks.PreToolUse[0].hooks[0];
      const call = (value: string) =>
        JSON.stringify({ hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: value } });
      expect(await shell(command, call("ls"))).toEqual({ code: 0, out: "{}" });
      const blocked = await shell(command, call(`echo ${token}`));
      expect(JSON.parse(blocked.out)).toMatchObject({ hookSpecificOutput: { permissionDecision: "deny" } });
      expect(blocked.out).not.toContain(token.slice(4));
      // What is no answer of the guard must not look like one.
      expect(await shell(command, "{}")).toEqual({ code, out: "" });
      await served.close();
      expect(await shell(command, call("ls"))).toEqual({ code, out: "" });
    }
  });

  it("in token mode the hook carries a token that opens the guard and nothing else", async () => {
    const { served, status, text } = await installed({ auth: true }, "claude-code", "allow");
    expect(status).toMatchObject({ installed: true, effective: true });
    expect(JSON.stringify(status)).not.toContain(served.kernel.access.scoped("guard"));
    const [entry] = JSON.parse(text).hooks.PreToolUse[0].hooks;
    const headers = { ...entry.headers, "content-type": "application/json" };
    const body = JSON.stringify({ tool_name: "Bash", tool_input: { command: `echo ${token}` } });
    expect((await fetch(entry.url, { method: "POST", headers, body })).status).toBe(200);
    expect(
      (await fetch(entry.url, { method: "POST", headers: { "content-type": "application/json" }, body })).status,
    ).toBe(401);
    expect((await fetch(`${served.url}api/security/interceptions`, { headers })).status).toBe(401);
  });

  it("OpenCode's plugin throws for a blocked call and lets others go", async () => {
    const { served, text } = await installed({}, "opencode", "block");
    const file = join(served.home, "plugin.mjs");
    await writeFile(file, text);
    const { SessarcGuard } = await import(/* @vite-ignore */ pathToFileURL(file).href);
    const beforeTool = (await SessarcGuard({ directory: "/w" }))["tool.execute.before"];
    const call = { tool: "bash", sessionID: "s", callID: "c" };
    await expect(beforeTool(call, { args: { command: "ls" } })).resolves.toBeUndefined();
    await expect(beforeTool(call, { args: { command: `echo ${token}` } })).rejects.toThrow("sessarc stopped this call");
    await served.close();
    await expect(beforeTool(call, { args: { command: "ls" } })).rejects.toThrow("could not be asked");
  });
});
