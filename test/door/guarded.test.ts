/** The adapter with a guard and a status line of docs/guides/plugins.md, as a stranger uses it: from the packed package alone. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { documented, packedInstall, runInstalled } from "./_packed.ts";

const BEFORE = '{\n  // mine\n  "ui": { "dark": true }\n}\n';
const TOKEN = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF2hJ5"}`;

/** As the assistant runs a command of its settings. */
async function shell(command: string, input: object): Promise<{ code: unknown; out: string; err: string }> {
  const child = spawn("/bin/sh", ["-c", command], { env: { PATH: process.env.PATH ?? "", NO_COLOR: "1" } });
  const said = { out: "", err: "" };
  child.stdout.on("data", (chunk) => {
    said.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    said.err += chunk;
  });
  child.stdin.end(JSON.stringify(input));
  const [code] = await once(child, "close");
  return { code, ...said };
}

it.skipIf(process.platform === "win32")("gets `guard install` and `statusline --install`", async () => {
  const home = await makeTempDir();
  const adapter = await documented("docs/guides/plugins.md", "guarded.ts");
  expect(adapter.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
  await writeFile(join(home, "guarded.ts"), adapter);
  const data = join(home, "data");
  const config = { plugins: ["./guarded.ts"], dataDir: data, sync: false, port: 0 };
  await writeFile(join(home, "sessarc.config.mjs"), `export default ${JSON.stringify(config)};`);
  const settings = join(home, ".guarded/settings.json");
  await mkdir(join(home, ".guarded"));
  await writeFile(settings, BEFORE);
  const run = async (...args: string[]) => {
    const ran = await runInstalled(args, home);
    expect({ args, ...ran }).toMatchObject({ code: 0 });
    return ran.stdout;
  };
  const stored = async (): Promise<{ hooks: Record<string, { run: string }[]>; ui: { status: { run: string } } }> =>
    JSON.parse((await readFile(settings, "utf8")).replace("// mine", ""));

  const shown = JSON.parse(await run("guard", "install", "--tool", "guarded", "--dry-run", "--json"));
  expect(shown.diff).toContain("hook.sh");
  expect(await readFile(settings, "utf8")).toBe(BEFORE);
  await run("guard", "install", "--tool", "guarded", "--on-failure", "block", "--waiting");
  await run("statusline", "--install", "--tool", "guarded", "--template", "{model}");
  const { hooks, ui } = await stored();
  expect([hooks.before?.length, hooks.idle?.length]).toEqual([1, 1]);
  const command = hooks.before?.[0]?.run ?? "";
  const call = { tool_name: "Bash", tool_input: { command: `echo ${TOKEN}` }, session_id: "s1", cwd: home };

  // Without a service: as chosen.
  expect(await shell(command, call)).toMatchObject({ code: 2, out: "", err: expect.stringContaining("guarded") });
  expect(await shell(ui.status.run, { llm: { name: "g1" } })).toEqual({ code: 0, out: "g1\n", err: "" });

  const cli = join(await packedInstall(), "node_modules/sessarc/dist/cli.mjs");
  const env = { PATH: process.env.PATH ?? "", HOME: home, USERPROFILE: home };
  const service = spawn(process.execPath, [cli, "serve", "--no-open"], { cwd: home, env });
  const ended = once(service, "close");
  let ready = "";
  service.stdout.on("data", (chunk) => {
    ready += chunk;
  });
  try {
    await expect.poll(() => ready).toContain("ready at");
    // The hook waits a second, which a service that has just started may need on a busy machine.
    await expect.poll(async () => (await shell(command, call)).code).toBe(0);
    await expect
      .poll(async () => {
        const { code, out } = await shell(command, call);
        return code === 0 && JSON.parse(out);
      })
      .toEqual({ verdict: "no", because: expect.stringContaining("sessarc stopped this call") });
    const harmless = { ...call, tool_input: { command: "ls" } };
    await expect.poll(() => shell(command, harmless)).toEqual({ code: 0, out: "", err: "" });
    expect(await shell(hooks.idle?.[0]?.run ?? "", { session_id: "s1" })).toEqual({ code: 0, out: "", err: "" });
    expect((await run("waiting")).toString()).toContain("Guarded CLI waits");
    expect(await run("guard", "status", "--tool", "guarded")).toContain("Guarded CLI: on, reports when it waits");
  } finally {
    service.kill("SIGTERM");
    await ended;
  }

  await run("statusline", "--uninstall", "--tool", "guarded");
  await run("guard", "uninstall", "--tool", "guarded");
  expect(await readFile(settings, "utf8")).toBe(BEFORE);
  await rm(home, { recursive: true, force: true });
});
