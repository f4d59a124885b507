/** A declared guard works: it is installed, answers in its form, does what was chosen without a service, and leaves the settings as they were. */
import { spawn } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Plugin } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";
import type { GuardContract } from "sessarc/plugins/security";
import { expect, type TestContext } from "vitest";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import type { Bench } from "./bench.ts";

interface Answer {
  installed: boolean;
  url: string;
  backupPath: string | null;
}

/** Not a real one, and in no rule's list of samples. */
const TOKEN = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF2hJ5"}`;
const MINE = {
  json: '{\n  "mine": { "a": [1, 2] }\n}\n',
  jsonc: '{\n  // kept\n  "mine": 1\n}\n',
  toml: "mine = 1 # kept\n",
};

export async function guardWorks({ dir, env, adapter }: Bench, context: TestContext, plugin: Plugin): Promise<void> {
  const { name, guard } = adapter;
  if (!guard) return context.skip("declares no guard");
  const { defaultPlugins } = await import("sessarc/plugins");
  const needed = defaultPlugins().filter(({ specifier }) => /\/(archive|security)$/.test(specifier));
  const t = await createTestKernel({ home: dir, plugins: [...needed, plugin], config: { sync: false } });
  try {
    await installsAndRemoves(t, { env, name, guard });
  } finally {
    await t.close();
  }
}

async function installsAndRemoves(
  t: TestKernel,
  { env, name, guard }: { env: AdapterEnv; name: string; guard: GuardContract },
): Promise<void> {
  const path = guard.settings(env);
  const bytes = () => readFile(path).catch(() => undefined);
  const post = <T>(route: string, body: object) => t.send<T>("POST", `/api/security/${route}`, body);
  const uninstall = async () => (await t.send("DELETE", `/api/security/install-hook?tool=${name}`)).body;
  const own = await bytes();
  const starts = own || guard.format === "file" ? [own] : [undefined, Buffer.from(MINE[guard.format])];
  for (const before of starts) {
    if (before) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, before);
    }
    const same = async () => expect((await bytes())?.toString("latin1")).toBe(before?.toString("latin1"));
    expect((await post("install-hook", { tool: name, dryRun: true })).status).toBe(200);
    await same();
    for (const onFailure of ["allow", "block"] as const) {
      const { status, body } = await post<Answer>("install-hook", { tool: name, onFailure });
      const isRefused = guard.onFailure !== undefined && guard.onFailure !== onFailure;
      expect({ onFailure, status }).toEqual({ onFailure, status: isRefused ? 422 : 200 });
      if (isRefused) continue;
      expect(body.installed).toBe(true);
      await answersInItsForm(t, name, guard, body.url);
      if (guard.format !== "file" && env.platform !== "win32")
        await failsAsChosen(await commandIn((await bytes())?.toString("utf8") ?? "", guard.format), onFailure);
      // Once by the backup, once by the edit alone.
      if (onFailure === "block" && body.backupPath) await rm(body.backupPath);
      expect(await uninstall()).toMatchObject({ removed: true });
      await same();
    }
  }
}

async function answersInItsForm(t: TestKernel, name: string, guard: GuardContract, url: string): Promise<void> {
  const { search } = new URL(url);
  const ask = async (query: string, command: string) => {
    const call = { tool_name: "Bash", tool_input: { command }, session_id: "s1", cwd: t.home };
    const answer = await t.fetch(`/api/security/pretooluse${query}`, { method: "POST", body: JSON.stringify(call) });
    return answer.text();
  };
  const { reason } = JSON.parse(await ask(`?client=${name}`, `echo ${TOKEN}`)) as { reason: string };
  const blocked: unknown = JSON.parse(await ask(search, `echo ${TOKEN}`));
  if (guard.format !== "file" && guard.deny) expect(blocked).toEqual(guard.deny(reason));
  expect(JSON.stringify(blocked)).toContain(JSON.stringify(reason).slice(1, -1));
  expect(await ask(search, "ls")).toBe(guard.format === "file" ? "{}" : "");
}

async function failsAsChosen(command: string, onFailure: "allow" | "block"): Promise<void> {
  const child = spawn("/bin/sh", ["-c", command], { env: { PATH: process.env.PATH ?? "" } });
  const said = { out: "", err: "" };
  child.stdout.on("data", (chunk) => {
    said.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    said.err += chunk;
  });
  child.stdin.end("{}");
  const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  expect({ code, out: said.out }).toEqual({ code: onFailure === "block" ? 2 : 0, out: "" });
  expect(said.err === "").toBe(onFailure === "allow");
}

/** The installed command, wherever the entry has it. */
async function commandIn(text: string, format: "json" | "jsonc" | "toml"): Promise<string> {
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === "string" && value.includes("guard/hook.sh")) found.push(value);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(visit);
  };
  const { parseSettings } = await import("sessarc/files");
  visit(await parseSettings(text, format));
  expect(found).toHaveLength(1);
  return found[0] ?? "";
}
