/** Installed hooks that offer lines, run as assistants run them: each command of the settings in a shell, the hook's JSON on stdin. */
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Kernel } from "sessarc";
import { expect } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import { serveTest } from "../_setup.ts";
import { type TestSession, writeSessions } from "./sessions.ts";

export const SETTINGS: Readonly<Record<string, string>> = {
  "claude-code": ".claude/settings.json",
  codex: ".codex/hooks.json",
  "gemini-cli": ".gemini/settings.json",
};

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

export function shell(command: string, input: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", command], { env: { PATH: process.env.PATH } });
    const ended: Ended = { code: null, out: "", err: "" };
    child.stdout.on("data", (chunk) => {
      ended.out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      ended.err += chunk;
    });
    child.on("error", reject);
    child.stdin.on("error", reject);
    child.on("close", (code) => resolve({ ...ended, code }));
    child.stdin.end(input);
  });
}

export async function post<T>(kernel: Kernel, path: string, body: object, method = "POST"): Promise<T> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${kernel.access.token ?? ""}` };
  const answer = await kernel.fetch(path, {
    method,
    headers,
    ...(method !== "DELETE" && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as T;
}

/** Every command in the settings, by its list of hooks. */
export async function commandsIn(home: string, tool: string): Promise<Map<string, string>> {
  const { hooks } = JSON.parse(await readFile(join(home, SETTINGS[tool] ?? ""), "utf8"));
  return new Map(
    Object.entries(hooks as Record<string, { hooks: { command: string }[] }[]>).flatMap(([list, entries]) =>
      entries.flatMap(({ hooks }) => hooks.map(({ command }) => [list, command] as const)),
    ),
  );
}

/** A service over these sessions, with hooks in an assistant. `ask` runs a hook until the project's answer is built. */
export async function offering(
  sessions: readonly TestSession[],
  {
    tool = "claude-code",
    without = [],
    ...options
  }: { tool?: string; without?: string[]; flags?: object; config?: object; home?: string } = {},
) {
  const served = await serveTest({ plugins: defaultPlugins(), ...options });
  await writeSessions(served.home, sessions);
  await post(served.kernel, "/api/import", { all: true });
  await post(served.kernel, "/api/recall/install", { tool, without });
  const commands = await commandsIn(served.home, tool);
  const run = async (list: string, payload: object) => {
    const ended = await shell(
      commands.get(list) ?? "exit 9",
      JSON.stringify({ session_id: "now", cwd: "/w/app", ...payload }),
    );
    expect(ended).toMatchObject({ code: 0, err: "" });
    return ended.out === "" ? "" : String(JSON.parse(ended.out).hookSpecificOutput.additionalContext);
  };
  /** What a hook offers in a new session: on a busy machine the hook may be too slow, and offers nothing then. */
  const offered = async (list: string, payload: object) => {
    let session_id = "";
    let text = "";
    for (let i = 0; text === "" && i < 40; i++) {
      session_id = `${list}-${JSON.stringify(payload).length}-${i}`;
      text = await run(list, { session_id, ...payload });
    }
    return { text, session_id };
  };
  const built = () =>
    expect
      .poll(async () => (await served.kernel.storage.db.all("select project from recall_answer")).length, {
        timeout: 30_000,
      })
      .toBeGreaterThan(0);
  return { served, run, offered, built, commands };
}
