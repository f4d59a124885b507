/** The built command as a process: what it serves, how it ends; and what its commands say, in this process where that is the same. */
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { acquireLock } from "../../core/storage/lock.ts";
import { writeDemo } from "../../plugins/demo/index.ts";
import { builtPackage, type RunningService, runCli, spawnCli, startService } from "../built.ts";
import { runCommand, serveHere } from "../command.ts";

const NOW = new Date("2026-11-20T15:00:00Z");
const homes: string[] = [];
const services: RunningService[] = [];

beforeAll(builtPackage);
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.stop("SIGKILL")));
  for (const home of homes.splice(0)) await rm(home, { recursive: true, force: true, maxRetries: 3 });
});

async function emptyHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "sessarc-cli-"));
  homes.push(home);
  return home;
}
async function demoHome(): Promise<string> {
  const home = await emptyHome();
  await writeDemo({ home, now: NOW, platform: process.platform });
  return home;
}
/** The sample data, imported: for tests that only ask. */
let archived: Promise<string> | undefined;
const archivedHome = (): Promise<string> => {
  archived ??= demoHome().then(async (home) => {
    // Not of the test that asks first.
    homes.splice(homes.indexOf(home), 1);
    await runCommand(["import"], home);
    return home;
  });
  return archived;
};
afterAll(async () => {
  if (archived) await rm(await archived, { recursive: true, force: true, maxRetries: 3 });
});

async function start(args: readonly string[], home: string, env?: Record<string, string>): Promise<RunningService> {
  const service = await startService(args, home, env);
  services.push(service);
  return service;
}
async function here(args: readonly string[], home: string): Promise<RunningService> {
  const service = await serveHere(args, home);
  services.push(service);
  return service;
}
const getJson = async (service: RunningService, path: string) =>
  (await fetch(new URL(`/api${path}`, service.url))).json();
const dataDir = (home: string) => join(home, ".local/share/sessarc");

describe("serve", () => {
  it("prints one line when it answers, is found by a second start, keeps its port, and ends in order on Ctrl-C", async () => {
    const home = await emptyHome();
    const first = await start([], home);
    expect(first.stdout()).toMatch(/^sessarc ready at http:\/\/127\.0\.0\.1:\d+\/\n$/);
    expect(await getJson(first, "/projects")).toEqual([]);
    // A browser is opened only on a terminal, or when told to.
    await writeFile(join(home, "browser"), `#!/bin/sh\necho "$1" > "${home}/opened"\n`, { mode: 0o755 });
    const env = { BROWSER: join(home, "browser") };
    const second = await runCli([], home, env);
    expect(second).toMatchObject({ code: 0, stderr: "" });
    expect(second.stdout).toMatch(new RegExp(`^sessarc is already running at ${first.url} \\(pid \\d+\\)\n$`));
    expect(existsSync(join(home, "opened"))).toBe(false);
    expect(await runCli(["--open"], home, env)).toMatchObject({ code: 0 });
    await expect.poll(() => readFile(join(home, "opened"), "utf8").catch(() => "")).toBe(`${first.url}\n`);
    const other = await runCommand(["serve", "--port", new URL(first.url).port], await emptyHome());
    expect(other.code).toBe(1);
    expect(other.stderr).toMatch(/^error Port \d+ on 127\.0\.0\.1 is in use\n/);
    expect(await first.stop()).toBe(0);
    expect(existsSync(join(dataDir(home), "lock.json"))).toBe(false);
  });

  it("a command given the data directory of a copy answers from the copy while the original's service runs", async () => {
    const home = await demoHome();
    const service = await here([], home);
    const post = { method: "POST", headers: { "content-type": "application/json" }, body: '{"all":true}' };
    await (await fetch(new URL("/api/import", service.url), post)).json();
    const copy = join(home, "copy");
    await cp(dataDir(home), copy, { recursive: true });
    const [{ id }] = JSON.parse((await runCommand(["sessions", "--json", "--limit", "1"], home)).stdout).sessions;
    const rename = { ...post, method: "PATCH", body: '{"name":"only in the original"}' };
    expect((await fetch(new URL(`/api/sessions/${id}`, service.url), rename)).status).toBe(200);
    const named = async (args: readonly string[]) => {
      const { code, stdout } = await runCommand(["sessions", "--json", "--limit", "1000", ...args], home);
      return [code, stdout.includes("only in the original")];
    };
    expect(await named([])).toEqual([0, true]);
    expect(await named(["--data-dir", copy])).toEqual([0, false]);
  });

  it.skipIf(process.platform === "win32")(
    "closes in order when its terminal is closed, and leaves no lock",
    async () => {
      const home = await emptyHome();
      const service = await start([], home);
      expect(existsSync(join(dataDir(home), "lock.json"))).toBe(true);
      expect(await service.stop("SIGHUP")).toBe(0);
      expect(existsSync(join(dataDir(home), "lock.json"))).toBe(false);
    },
  );

  it("shows sample data of all six tools with --demo and removes it at the end, also at two signals in a row, as npm sends them", async () => {
    const home = await emptyHome();
    const service = await start(["--demo"], home);
    const { sessions } = (await getJson(service, "/sessions?limit=1000")) as { sessions: { tool: string }[] };
    expect(new Set(sessions.map((session) => session.tool)).size).toBe(6);
    void service.stop("SIGINT");
    expect(await service.stop("SIGTERM"), service.stderr()).toBe(0);
    expect((await readdir(home)).filter((name) => name.startsWith("sessarc-"))).toEqual([]);
    expect(existsSync(dataDir(home))).toBe(false);
  });

  it("with --or-demo shows sample data only where no tool has logs, and tells on a first start what it found", async () => {
    const empty = await here(["--or-demo"], await emptyHome());
    expect(empty.stderr()).toMatch(/^No logs of any assistant were found on this machine/);
    expect(((await getJson(empty, "/sessions")) as { total: number }).total).toBe(20);
    const home = await demoHome();
    const peeks = join(home, "peeks");
    await mkdir(join(home, ".config/sessarc"), { recursive: true });
    await writeFile(
      join(home, ".config/sessarc/sessarc.config.mjs"),
      `import { writeFileSync } from "node:fs";
      import { defineAdapter } from "sessarc/adapter";
      const peeked = defineAdapter(() => ({
        name: "peeked", label: "Peeked", roots: ({ home }) => [home],
        async *scan(root) { yield { key: "one", path: root + "/one.log", size: 1, mtime: 1 }; },
        async peek() { writeFileSync(${JSON.stringify(peeks)}, "looked into"); return {}; },
        parse: () => ({ row: () => undefined, finish: () => ({ usage: {} }) }),
      }));
      export default { plugins: [peeked()] };`,
    );
    const real = await here(["--or-demo"], home);
    await expect.poll(() => real.stderr()).toMatch(/^Importing .*Claude Code \d+.*Peeked 1.* Leave some out: http/m);
    // To count them no log is looked into: there may be a hundred thousand.
    expect(existsSync(peeks)).toBe(false);
  });
});

describe("wrong usage", () => {
  it.each([
    [["imprt"], 'Unknown command "imprt"; did you mean import?\n      `sessarc --help` lists the commands.'],
    [["why"], 'Unknown command "why"; did you mean blame?'],
    [["hlep"], 'Unknown command "hlep"; did you mean help?'],
    [["show"], "`sessarc show --help` shows its usage."],
    [["--nosuch"], "`sessarc --help` lists the commands."],
    [["--prot", "1"], "did you mean --port?"],
    [["search"], "Give words to look for"],
    [["search", "x", "--limit", "0"], "--limit takes a number from 1 to 1000"],
    [["show"], "Name one session"],
    [["usage", "yearly"], "takes one of daily, weekly"],
    [["usage", "--since", "2026-02-30"], "--since takes a day"],
    [["usage", "--tz", "Mars/Base"], "--tz takes a time zone"],
    [["serve", "now"], 'takes no "now"'],
    [["import", "--tool", "notepad"], "No assistant is named notepad"],
  ])("%j ends with 2 and says why on stderr", async (args, message) => {
    const ran = await runCommand(args, await emptyHome());
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain(message);
  });

  it("ends the process with 2", async () => {
    const ran = await runCli(["imprt"], await emptyHome());
    expect(ran).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("did you mean import?") });
  });

  it("prints help and version to stdout", async () => {
    const home = await emptyHome();
    expect(await runCli(["--version"], home)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    expect((await runCommand(["version"], home)).stdout).toBe((await runCommand(["--version"], home)).stdout);
    expect(await runCommand(["search", "--help"], home)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("--limit"),
    });
    expect(await runCommand(["help", "import"], home)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("--dry-run"),
    });
    expect(await runCommand(["--help"], home)).toMatchObject({ code: 0, stdout: expect.stringContaining("doctor") });
  });
});

describe("commands on the archive", () => {
  it("import everything, then find and show it", async () => {
    const home = await demoHome();
    const dry = await runCommand(["import", "--dry-run"], home);
    expect(dry.stdout).toMatch(/^(\d+) of \1 sessions would be imported$/m);
    const imported = await runCli(["import"], home);
    expect(imported).toMatchObject({ code: 0, stderr: "" });
    expect(imported.stdout).toMatch(/^Claude Code +7 +0 +0 +0$/m);
    expect(imported.stdout).toMatch(/^20 imported, 0 unchanged, 0 failed: \d+ messages/m);
    expect((await runCommand(["import"], home)).stdout).toMatch(/^Nothing is new: 20 logs are imported already\.$/m);

    const found = await runCommand(["search", "chiffchaff"], home);
    expect(found).toMatchObject({ code: 0 });
    expect(found.stdout).toContain("chiffchaff");
    expect(await runCommand(["search", "no-such-word-anywhere"], home)).toMatchObject({ code: 3, stdout: "" });

    const { stdout } = await runCommand(["search", "Send ISO strings", "--json"], home);
    const [first] = (JSON.parse(stdout) as { results: { session: { id: string } }[] }).results;
    const id = first?.session.id ?? "";
    const shown = await runCommand(["show", id.split(":")[1]?.slice(0, 8) ?? "", "--kinds", "user"], home);
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toContain("extremes answers raw milliseconds. Send ISO strings.");
    expect(shown.stdout).not.toMatch(/^call /m);
    const calls = await runCommand(["show", id, "--kinds", "call,result"], home);
    expect(calls.stdout).toMatch(/^call /m);
    expect(calls.stdout).not.toMatch(/^user /m);
    expect(await runCommand(["show", id, "--kinds", "tool_use,tool_result"], home)).toEqual(calls);
    expect((await runCommand(["show", id, "--after", "9999"], home)).stderr).toMatch(
      /^No message from #10000 on; the session has \d+\.$/m,
    );
    const [called, used] = await Promise.all(
      ["kind:call", "kind:tool_use"].map(async (query) => (await runCommand(["search", query], home)).stdout),
    );
    expect(called).toBe(used);
    expect(await runCommand(["show", "codex:nothing"], home)).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^error No session codex:nothing\n +`sessarc sessions` lists the ids/),
    });
  });

  it("import one tool or one project alone", async () => {
    const home = await demoHome();
    expect((await runCommand(["import", "--tool", "codex"], home)).stdout).toMatch(/^3 imported/m);
    expect((await runCommand(["import", "--project", "field-notes"], home)).stdout).toMatch(/^2 imported/m);
    expect((await runCommand(["import", "-t", "copilot", "-p", "ledger"], home)).stdout).toMatch(/^1 imported/m);
    expect(await runCommand(["import", "--project", "nowhere"], home)).toMatchObject({ code: 3 });
    expect(await runCommand(["import"], await emptyHome())).toMatchObject({ code: 3, stdout: "" });
  });

  it("import reports a log that cannot be read and goes on with the others", async () => {
    const home = await emptyHome();
    const folder = join(home, ".local/share/opencode");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "opencode.db"), "this is no database, whatever its name says");
    const codex = join(home, ".codex/sessions/2026/11/20");
    await mkdir(codex, { recursive: true });
    const demo = await demoHome();
    const [log] = (await readdir(join(demo, ".codex"), { recursive: true })).filter((name) => name.endsWith(".jsonl"));
    await writeFile(
      join(codex, "rollout-2026-11-20T10-00-00-a.jsonl"),
      await readFile(join(demo, ".codex", log ?? "")),
    );
    const ran = await runCommand(["import"], home);
    expect(ran.stdout).toMatch(/^1 imported/m);
    expect(ran.stderr).toContain("opencode.db");
  });

  it("ask the running service, and answer the same without it", async () => {
    const home = await archivedHome();
    const ask = async () => {
      const { stdout } = await runCommand(["search", "tide", "--json", "--limit", "1000"], home);
      const { results } = JSON.parse(stdout) as { results: { session: { id: string }; matches: unknown[] }[] };
      return results.map(({ session, matches }) => [session.id, matches]);
    };
    const without = await ask();
    expect(without.length).toBeGreaterThan(5);
    const service = await here([], home);
    expect(await ask()).toEqual(without);
    const plugins = JSON.parse((await runCommand(["plugins", "--json"], home)).stdout) as {
      plugins: { name: string }[];
    };
    expect(plugins).toEqual(await getJson(service, "/plugins"));
    expect((await runCommand(["import"], home)).stdout).toBe("Nothing is new: 20 logs are imported already.\n");
    const { checks } = JSON.parse((await runCommand(["doctor", "--json"], home)).stdout) as {
      checks: { name: string; status: string; detail: string }[];
    };
    expect(checks.find((check) => check.name === "service")).toMatchObject({
      status: "ok",
      detail: expect.stringContaining("20 sessions"),
    });
    expect(await service.stop()).toBe(0);
  });

  it("ask a service that wants a token", async () => {
    const home = await demoHome();
    const service = await here(["--auth", "--no-import"], home);
    expect((await fetch(new URL("/api/projects", service.url))).status).toBe(401);
    expect(service.stderr()).toMatch(/^Log in with this link, once: http:\/\/127\.0\.0\.1:\d+\/auth\/\S+$/m);
    expect(await runCommand(["plugins"], home)).toMatchObject({ code: 0 });
    expect((await runCommand(["import", "--tool", "codex"], home)).stdout).toMatch(/^3 imported/m);
  });

  it("end with 4 when the lock names a service that does not answer", async () => {
    const home = await emptyHome();
    const lock = await acquireLock(dataDir(home), { port: 9, url: "http://127.0.0.1:9/" });
    try {
      const ran = await runCommand(["search", "x"], home);
      expect(ran).toMatchObject({ code: 4, stdout: "" });
      expect(ran.stderr).toContain("The service at http://127.0.0.1:9/ does not answer");
    } finally {
      await lock.release();
    }
  });

  it("wait for another command that has the archive open", async () => {
    const home = await demoHome();
    const all = await Promise.all([runCli(["import"], home), runCli(["import"], home), runCli(["plugins"], home)]);
    expect(all.map((ran) => ran.code)).toEqual([0, 0, 0]);
  });

  it("take a plugin from a file, with its command", async () => {
    const home = await emptyHome();
    await writeFile(
      join(home, "hello.mjs"),
      `import { definePlugin } from "sessarc";
       const command = { name: "hello", summary: "Greets", usage: "", options: {}, help: {},
         load: async () => ({ run: (ctx) => { ctx.out("hello " + ctx.args.join(" ")); return 3; } }) };
       export default definePlugin({ name: "hello", commands: [command] });`,
    );
    const ran = await runCli(["--plugin", "./hello.mjs", "hello", "you"], home);
    expect(ran).toEqual({ code: 3, stdout: "hello you\n", stderr: "" });
    await writeFile(join(home, "sessarc.config.mjs"), `export default { plugins: ["./hello.mjs"] };`);
    expect(await runCommand(["hello"], home)).toMatchObject({ code: 3 });
    expect((await runCommand(["--help", "--all"], home)).stdout).toMatch(/^ {2}hello +Greets$/m);
  });

  it("end with their exit code when a plugin leaves a timer running", async () => {
    const home = await emptyHome();
    const run = "console.error('done'); setInterval(() => {}, 1000); return 3;";
    const command = `{ name: "brew", summary: "Brew", load: async () => ({ run: async () => { ${run} } }) }`;
    await writeFile(join(home, "tea.mjs"), `export default () => ({ name: "tea", commands: [${command}] });`);
    await writeFile(join(home, "sessarc.config.mjs"), 'export default { plugins: ["./tea.mjs"] };');
    expect(await runCli(["brew"], home)).toEqual({ code: 3, stdout: "", stderr: "done\n" });
  });

  it("survive a reader that goes away", async () => {
    const home = await archivedHome();
    const child = spawnCli(["show", "744507b3", "--json"], home);
    child.stdout.once("data", () => child.stdout.destroy());
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});

describe("doctor", () => {
  it("says what is wrong with the configuration, of a plugin's keys too, and reads the rest", async () => {
    const home = await emptyHome();
    await mkdir(join(home, ".config/sessarc"), { recursive: true });
    await writeFile(join(home, ".config/sessarc/sessarc.config.mjs"), "export default { feedback: { realy: null } };");
    const { code, stdout } = await runCommand(["doctor", "--all"], home);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail +configuration +Unknown key "feedback.realy"/m);
    expect(stdout).toMatch(/^ok +runtime /m);
  });

  it("looks without making an archive, and finds the tools", async () => {
    const home = await demoHome();
    const ran = await runCommand(["doctor", "--all"], home);
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout).toMatch(/^ok +claude-code +Claude Code: \d+ sessions in /m);
    expect(existsSync(dataDir(home))).toBe(false);
  });

  it("checks the archive", async () => {
    const home = await archivedHome();
    expect((await runCommand(["doctor", "--all"], home)).stdout).toMatch(/^ok +catalogue .*intact$/m);
  });
});
