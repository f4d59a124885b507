/** The entry that starts the service at login: what it says, and that it goes without a trace. */
import { execFile, execFileSync } from "node:child_process";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { openLog } from "../../core/background/log-file.ts";
import { planLogin, readLogin, removeLogin, writeLogin } from "../../core/background/login.ts";
import { pauseBefore, willHelp } from "../../core/background/policy.ts";
import { desktopEntry, launchAgent, profileLines, systemdUnit, windowsTask } from "../../core/background/units.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { createTestKernel } from "../kernel.ts";

const UNIT = {
  words: [
    "/opt/my node/bin/node",
    '/home/jo/it\'s "here"/supervise.mjs',
    "/home/jo/100% $HOME\\data",
    "--port",
    "41730",
  ],
  variables: { CODEX_HOME: '/home/jo/a "b" & <c>' },
};
const has = (program: string) => {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

async function machine(env: Record<string, string | undefined> = {}, platform: NodeJS.Platform = "linux") {
  const home = await makeTempDir();
  const bin = join(home, "bin");
  await mkdir(bin);
  const dataDir = join(home, ".local/share/sessarc");
  return { home, bin, dataDir, env: { home, platform, env: { HOME: home, PATH: bin, ...env } } };
}

describe("texts", () => {
  it.skipIf(!has("systemd-analyze"))("systemd accepts the unit", async () => {
    const home = await makeTempDir();
    const path = join(home, "sessarc.service");
    const words = [process.execPath, ...UNIT.words.slice(1)];
    await writeFile(path, systemdUnit({ ...UNIT, words }));
    const { stderr } = await promisify(execFile)("systemd-analyze", ["--user", "verify", path], {
      env: { ...process.env, XDG_RUNTIME_DIR: home },
    });
    expect(stderr).not.toContain("sessarc.service");
  });

  it("quotes for systemd what it would read: specifiers, variables, quotes", () => {
    expect(systemdUnit(UNIT)).toContain(
      String.raw`ExecStart="/opt/my node/bin/node" "/home/jo/it's \"here\"/supervise.mjs" "/home/jo/100%% $$HOME\\data" "--port" "41730"`,
    );
  });

  it.skipIf(!has("python3"))("a property list and a task are read back as they were meant", async () => {
    const read = async (script: string, text: string) => {
      const ran = promisify(execFile)("python3", ["-c", script, text]);
      return JSON.parse((await ran).stdout) as unknown;
    };
    const plist = "import plistlib,json,sys; print(json.dumps(plistlib.loads(sys.argv[1].encode())))";
    expect(await read(plist, launchAgent("org.sessarc", UNIT))).toMatchObject({
      Label: "org.sessarc",
      ProgramArguments: UNIT.words,
      EnvironmentVariables: UNIT.variables,
      RunAtLoad: true,
    });
    const task = [
      "import json,sys,xml.etree.ElementTree as e",
      "n='{http://schemas.microsoft.com/windows/2004/02/mit/task}'",
      "t=e.fromstring(sys.argv[1].split('?>',1)[1])",
      "x=t.find(n+'Actions/'+n+'Exec')",
      "print(json.dumps([[c.tag.replace(n,'') for c in t],x.find(n+'Command').text,x.find(n+'Arguments').text]))",
    ].join("\n");
    expect(await read(task, windowsTask(UNIT))).toEqual([
      // The order that the schema asks for.
      ["RegistrationInfo", "Triggers", "Principals", "Settings", "Actions"],
      UNIT.words[0],
      String.raw`"/home/jo/it's \"here\"/supervise.mjs" "/home/jo/100% $HOME\data" --port 41730`,
    ]);
  });

  it("a profile runs exactly these words", async () => {
    const home = await makeTempDir();
    const script = join(home, "it's $here.mjs");
    await writeFile(
      script,
      'import { writeFileSync } from "node:fs"; writeFileSync(process.argv[2], JSON.stringify([...process.argv.slice(3), process.env.A_DIR]));',
    );
    const out = join(home, "said");
    const lines = profileLines({
      words: [process.execPath, script, out, "a b", "$(id)", "it's"],
      variables: { A_DIR: "$B c" },
    });
    await promisify(execFile)("sh", ["-c", lines.replace(" >/dev/null 2>&1 &)", ")")]);
    expect(JSON.parse(await readFile(out, "utf8"))).toEqual(["a b", "$(id)", "it's", "$B c"]);
    expect(desktopEntry(UNIT)).toContain("Exec=");
  });
});

describe("writing it", () => {
  it("adds lines to a profile and takes them away byte for byte, what else changed stays", async () => {
    const t = await machine({ SHELL: "/bin/bash" });
    const path = join(t.home, ".profile");
    const before = "export A=1\n# no line end";
    await writeFile(path, before);
    const plan = await planLogin(t.dataDir, [], t.env);
    expect(plan).toMatchObject({ kind: "profile", path });
    expect(await readFile(path, "utf8")).toBe(before);
    await writeLogin(t.dataDir, plan, t.env);
    await writeLogin(t.dataDir, plan, t.env);
    const text = await readFile(path, "utf8");
    expect(text.startsWith(`${before}\n# >>> sessarc >>>\n`)).toBe(true);
    expect(text.split("supervise.mjs")).toHaveLength(2);
    expect(await readLogin(t.dataDir)).toEqual({ kind: "profile", path });
    expect(await removeLogin(t.dataDir, t.env)).toBe(true);
    expect(await readFile(path, "utf8")).toBe(before);
    expect((await readdir(t.dataDir)).filter((name) => name.startsWith("login"))).toEqual([]);

    await writeLogin(t.dataDir, plan, t.env);
    await writeFile(path, `${await readFile(path, "utf8")}export B=2\n`);
    await removeLogin(t.dataDir, t.env);
    expect(await readFile(path, "utf8")).toBe(`${before}\nexport B=2\n`);
    expect(await removeLogin(t.dataDir, t.env)).toBe(false);
  });

  it("writes a user unit where a user manager answers, and removes it with its folders", async () => {
    const t = await machine();
    const said = join(t.home, "said");
    await writeFile(join(t.bin, "systemctl"), `#!/bin/sh\necho "$@" >> '${said}'\n`);
    await chmod(join(t.bin, "systemctl"), 0o755);
    const plan = await planLogin(t.dataDir, ["--port", "1"], t.env);
    expect(plan).toMatchObject({ kind: "systemd", path: join(t.home, ".config/systemd/user/sessarc.service") });
    await writeLogin(t.dataDir, plan, t.env);
    expect(await readFile(plan.path, "utf8")).toBe(plan.text);
    await removeLogin(t.dataDir, t.env);
    expect(await readdir(t.home)).not.toContain(".config");
    expect((await readFile(said, "utf8")).split("\n")).toEqual([
      "--user show-environment",
      "--user daemon-reload",
      "--user enable sessarc.service",
      "--user disable sessarc.service",
      "--user daemon-reload",
      "",
    ]);
  });

  it("leaves a file of that name alone that it did not write", async () => {
    const t = await machine({ XDG_CURRENT_DESKTOP: "GNOME" });
    const plan = await planLogin(t.dataDir, [], t.env);
    expect(plan).toMatchObject({ kind: "autostart", path: join(t.home, ".config/autostart/sessarc.desktop") });
    await mkdir(join(t.home, ".config/autostart"), { recursive: true });
    await writeFile(plan.path, "[Desktop Entry]\nName=mine\n");
    await expect(writeLogin(t.dataDir, plan, t.env)).rejects.toMatchObject({ code: "LOGIN_ENTRY_TAKEN" });
    expect(await readFile(plan.path, "utf8")).toBe("[Desktop Entry]\nName=mine\n");
  });

  it("has a name of its own for another data directory, and the right place on each system", async () => {
    const t = await machine({ XDG_CURRENT_DESKTOP: "GNOME" });
    const other = await planLogin(join(t.home, "other"), [], t.env);
    expect(other.path).toMatch(/\/autostart\/sessarc-[0-9a-f]{8}\.desktop$/);
    const mac = await machine({}, "darwin");
    expect((await planLogin(join(mac.home, "x"), [], mac.env)).path).toMatch(
      /LaunchAgents\/org\.sessarc-[0-9a-f]{8}\.plist$/,
    );
    const windows = await machine({}, "win32");
    expect(await planLogin(windows.dataDir, [], windows.env)).toMatchObject({ kind: "windows-task" });
  });

  it("shows with --dry-run what it would write, and writes nothing", async () => {
    const home = await makeTempDir();
    const { code, stdout } = await runCommand(["start", "--at-login", "--dry-run"], home, {
      PATH: home,
      SHELL: "/bin/sh",
    });
    expect(code).toBe(0);
    expect(stdout).toContain(`writes ${join(home, ".profile")}:`);
    expect(await readdir(home)).toEqual([]);
  });
});

describe("restarts and the log", () => {
  it("pauses grow, and end after five an hour", () => {
    const at = (minutes: number) => ({ at: new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString() });
    const now = Date.UTC(2026, 0, 1, 0, 50);
    const pauses = [0, 1, 2, 3, 4, 5].map((count) =>
      pauseBefore([at(-30), ...[41, 42, 43, 44, 45].slice(0, count).map(at)], now),
    );
    expect(pauses).toEqual([1_000, 4_000, 16_000, 64_000, 256_000, undefined]);
    expect([0, 1, 2, 4, 7, 137].map(willHelp)).toEqual([true, true, false, false, true, true]);
  });

  it("the log is two files of 5 MB at most", async () => {
    const folder = await makeTempDir();
    const log = openLog(folder);
    const line = "x".repeat(10_000);
    for (let n = 0; n < 1_200; n++) log.write(`${line}\n`);
    log.write("no end");
    log.flush();
    const sizes = await Promise.all(
      ["service.log", "service.log.1"].map(async (name) => (await readFile(join(folder, name))).length),
    );
    expect(Math.max(...sizes)).toBeLessThanOrEqual(5 * 2 ** 20);
    expect(await readFile(join(folder, "service.log"), "utf8")).toMatch(/ no end\n$/);
  });
});

describe("the routes that the dashboard asks", () => {
  it("show what would be written, write it, remember a no, and take it back", async () => {
    const home = await makeTempDir();
    const t = await createTestKernel({ home, env: { PATH: home, SHELL: "/bin/sh" } });
    const ask = async (method: string, path: string, body?: unknown) => (await t.send(method, path, body)).body;
    expect(await ask("GET", "/api/service/login?plan=1")).toMatchObject({
      login: null,
      asked: false,
      plan: { kind: "profile", path: join(home, ".profile") },
    });
    expect(await readdir(home)).not.toContain(".profile");
    expect(await ask("POST", "/api/service/login", { start: false })).toMatchObject({ login: null, asked: true });
    expect(await ask("POST", "/api/service/login", { start: true })).toMatchObject({ login: { kind: "profile" } });
    expect(await ask("DELETE", "/api/service/login")).toMatchObject({ login: null, asked: true });
    expect(await readdir(home)).not.toContain(".profile");
  });
});
