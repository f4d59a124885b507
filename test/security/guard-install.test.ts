import { createHash } from "node:crypto";
import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { createLedger, defineAdapter } from "sessarc/adapter";
import { readOutside, replaceOutside, tempName } from "sessarc/files";
import { describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import security, { type GuardStatus } from "../../plugins/security/index.ts";
import { makeTempDir, serveTest } from "../_setup.ts";
import { createTestKernel, readError } from "../kernel.ts";
import { rounds } from "../rounds.ts";
import { plugins } from "./_kernel.ts";

interface Answer extends GuardStatus {
  backupPath: string | null;
  diff: string;
}

const LATER = ["kilo", "qwen", "grok", "droid", "kimi", "crush", "vibe"] as const;
const TOOLS = ["claude-code", "codex", "cursor", "gemini-cli", "copilot", "opencode", ...LATER] as const;
const PATHS: Record<string, string> = {
  "claude-code": ".claude/settings.json",
  codex: ".codex/hooks.json",
  cursor: ".cursor/hooks.json",
  "gemini-cli": ".gemini/settings.json",
  copilot: ".copilot/hooks/sessarc.json",
  opencode: ".config/opencode/plugin/sessarc.js",
  kilo: ".config/kilo/plugin/sessarc.js",
  qwen: ".qwen/settings.json",
  grok: ".grok/hooks/sessarc.json",
  droid: ".factory/settings.json",
  kimi: ".kimi-code/config.toml",
  crush: ".config/crush/crush.json",
  vibe: ".vibe/hooks.toml",
};

async function put(home: string, path: string, bytes: string | Buffer, mode = 0o644): Promise<string> {
  const file = join(home, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, bytes);
  await chmod(file, mode);
  return file;
}

const start = () => createTestKernel({ plugins: plugins() });
type Kernel = Awaited<ReturnType<typeof start>>;
const install = (t: Kernel, tool: string, more: object = {}) =>
  t.send<Answer>("POST", "/api/security/install-hook", { tool, ...more });
const uninstall = (t: Kernel, tool: string) =>
  t.send<{ removed: boolean; restored: boolean }>("DELETE", `/api/security/install-hook?tool=${tool}`);

const pretty = (value: unknown, indent: string, depth: number) =>
  JSON.stringify(value, null, indent).replaceAll("\n", `\n${indent.repeat(depth)}`);

/** Settings as people lay them out, and what they are with the entry in them. */
const LAYOUTS: [string, string, (entry: unknown) => string][] = [
  [
    "short lists on one line, a comment behind the last value",
    '{\n  "a": [1, 2],   "b": {"c":1},\n\n  "d": true // mine\n}\n',
    (entry) =>
      `{\n  "a": [1, 2],   "b": {"c":1},\n\n  "d": true, // mine\n  "hooks": ${pretty({ BeforeTool: [entry] }, "  ", 1)}\n}\n`,
  ],
  ["all of it on one line", '{"a":[1,2]}', (entry) => `{"a":[1,2],"hooks":${JSON.stringify({ BeforeTool: [entry] })}}`],
  [
    "hooks of one's own in an odd layout",
    '{ "hooks":\n\t{\n\t\t"BeforeTool": [\n\t\t\t{ "hooks": [ ] }\n\t\t], "Other":   []\n\t}\n}',
    (entry) =>
      `{ "hooks":\n\t{\n\t\t"BeforeTool": [\n\t\t\t{ "hooks": [ ] },\n\t\t\t${pretty(entry, "\t", 3)}\n\t\t], "Other":   []\n\t}\n}`,
  ],
];

describe("security: guard installation", () => {
  it.each(TOOLS)("D19: installs in %s where nothing is, and leaves nothing behind", async (tool) => {
    const t = await start();
    const { status, body } = await install(t, tool);
    expect([status, body.installed, body.backupPath]).toEqual([200, true, null]);
    expect(body.settingsPath).toBe(join(t.home, PATHS[tool] ?? ""));
    const text = await readFile(body.settingsPath, "utf8");
    const script = join(t.home, "data/guard/hook.sh");
    const isPlugin = body.settingsPath.endsWith(".js");
    expect(text).toMatch(
      isPlugin ? new RegExp(`pretooluse\\?client=${tool}&hook=[0-9a-f]{12}"`) : `'${script}' ${tool} `,
    );
    expect((await stat(body.settingsPath)).mode & 0o777).toBe(0o600);
    expect((await uninstall(t, tool)).body).toMatchObject({ removed: true, restored: true });
    expect(await readdir(t.home)).toEqual(["data"]);
  });

  it("lists a later assistant where its folder is, or the hook", async () => {
    const t = await start();
    const listed = async () => {
      const { tools } = await t.json<{ tools: GuardStatus[] }>("/api/security/hook");
      return tools.map(({ tool }) => tool).filter((tool) => LATER.some((one) => one === tool));
    };
    expect(await listed()).toEqual([]);
    await mkdir(join(t.home, ".grok"));
    expect(await listed()).toEqual(["grok"]);
    await install(t, "kimi");
    expect(await listed()).toEqual(["grok", "kimi"]);
  });

  it.each([
    ["kimi", '# mine\nmodel = "k"\n\n[[hooks]]\nevent = "Stop"\ncommand = "bell"\n\n[providers.a]\nkey = "x" # y\n'],
    ["vibe", '[[hooks]]\nname = "mine"\ntype = "post_tool"\ncommand = "x"\n'],
    ["crush", '{\n  "$schema": "https://charm.land/crush.json",\n  "mcp": {}\n}\n'],
    ["qwen", '{\n  // mine\n  "hooks": { "Stop": [] }\n}\n'],
  ])("leaves other settings of %s as they were, with and without the backup", async (tool, before) => {
    const t = await start();
    const file = await put(t.home, PATHS[tool] ?? "", before);
    await install(t, tool);
    expect(await readFile(file, "utf8")).toContain("hook.sh");
    expect((await uninstall(t, tool)).body).toMatchObject({ removed: true, restored: true });
    expect(await readFile(file, "utf8")).toBe(before);
    const { body } = await install(t, tool);
    await rm(body.backupPath ?? "");
    await uninstall(t, tool);
    expect(await readFile(file, "utf8")).toBe(before);
  });

  it("D19: installing twice changes nothing, and the mode can be changed without touching the file", async () => {
    const t = await start();
    const first = await install(t, "claude-code");
    const before = await readFile(first.body.settingsPath);
    expect((await install(t, "claude-code", { mode: "observe" })).body.mode).toBe("observe");
    expect(await readFile(first.body.settingsPath)).toEqual(before);
    expect((await uninstall(t, "claude-code")).body.restored).toBe(true);
  });

  it.each(LAYOUTS)("leaves the rest of the settings as it was formatted: %s", async (_, before, after) => {
    const t = await start();
    const file = await put(t.home, ".gemini/settings.json", before);
    const { body } = await install(t, "gemini-cli");
    const entry = { matcher: "*", hooks: [{ name: "sessarc", type: "command", command: "C", timeout: 10000 }] };
    const text = await readFile(file, "utf8");
    const { command } = (/"command":\s*("\/bin\/sh(?:[^"\\]|\\.)*")/.exec(text) ?? [])
      .slice(1)
      .reduce((_, found) => ({ command: found }), { command: "" });
    expect(text.replace(command, '"C"')).toBe(after(entry));
    // By the edit alone, without the backup.
    await rm(body.backupPath ?? "");
    await uninstall(t, "gemini-cli");
    expect(await readFile(file, "utf8")).toBe(before);
  });

  it("an entry that is right already stays in its place", async () => {
    const t = await start();
    const { body } = await install(t, "codex");
    const settings = JSON.parse(await readFile(body.settingsPath, "utf8"));
    settings.hooks.PreToolUse.push({ hooks: [{ type: "command", command: "mine.sh" }] });
    await writeFile(body.settingsPath, JSON.stringify(settings));
    await install(t, "codex", { mode: "observe" });
    expect(JSON.parse(await readFile(body.settingsPath, "utf8"))).toEqual(settings);
  });

  it("replaces the hook of an earlier version, and says until then that it must be", async () => {
    const t = await start();
    const url = "http://127.0.0.1:41730/api/security/pretooluse?client=claude-code&hook=0a1b2c3d4e5f";
    const old = { matcher: "*", hooks: [{ type: "http", url, timeout: 10, headers: { Authorization: "Bearer x" } }] };
    await put(t.home, ".claude/settings.json", JSON.stringify({ hooks: { PreToolUse: [old] } }, null, 2));
    const { tools } = (await (await t.fetch("/api/security/hook")).json()) as { tools: GuardStatus[] };
    const [claude] = tools.filter((one) => one.tool === "claude-code");
    expect(claude).toMatchObject({ installed: true, effective: false });
    expect(claude?.problems.join()).toContain("install it again");
    const fresh = await install(t, "claude-code");
    const settings = JSON.parse(await readFile(fresh.body.settingsPath, "utf8"));
    expect(settings.hooks.PreToolUse).toHaveLength(1);
    expect(JSON.stringify(settings)).not.toContain("Bearer");
  });

  it("D19: keeps a byte-exact private backup", async () => {
    const t = await start();
    const bytes = Buffer.from('﻿{\r\n\t"model": "opus",\r\n\t"hooks": {}\r\n}\r\n');
    await put(t.home, ".claude/settings.json", bytes, 0o640);
    const { body } = await install(t, "claude-code");
    expect(await readFile(body.backupPath ?? "")).toEqual(bytes);
    expect((await stat(body.backupPath ?? "")).mode & 0o777).toBe(0o600);
    expect((await stat(body.settingsPath)).mode & 0o777).toBe(0o640);
    expect((await readFile(body.settingsPath, "utf8")).replaceAll("\r\n", "")).not.toContain("\n");
  });

  it("a dry run shows the change and makes none; secrets in the settings are not shown", async () => {
    const t = await start();
    const token = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF2hJ5"}`;
    const file = await put(t.home, ".claude/settings.json", `{\n  "env": { "GITHUB_TOKEN": "${token}" }\n}\n`);
    const before = await readFile(file);
    const { body } = await install(t, "claude-code", { dryRun: true });
    expect(body.diff).toContain("+");
    expect(JSON.stringify(body)).not.toContain(token.slice(6));
    expect(body.installed).toBe(false);
    expect(await readFile(file)).toEqual(before);
  });

  it.each([
    ["claude-code", '{ "model": "opus", }'],
    ["claude-code", '{\n  // mine\n  "model": "opus"\n}'],
    ["claude-code", "[]"],
    ["claude-code", '{ "hooks": [] }'],
    ["claude-code", '{ "hooks": { "PreToolUse": {} } }'],
    ["claude-code", '{ "hooks": {"PreToolUse": []}, "hooks": {"PreToolUse": []} }'],
    ["claude-code", Buffer.from([0x7b, 0xff, 0x7d])],
    ["gemini-cli", '{ "hooks": '],
    ["cursor", '{ "version": 1, "hooks": [] }'],
    ["opencode", "export const Mine = async () => ({});\n"],
  ])("D19: refuses settings of %s it cannot edit safely: %s", async (tool, content) => {
    const t = await start();
    const file = await put(t.home, PATHS[tool] ?? "", content as string);
    const before = await readFile(file);
    const response = await t.fetch("/api/security/install-hook", { method: "POST", body: JSON.stringify({ tool }) });
    expect(response.status).toBe(409);
    expect((await readError(response)).code).toBe("SETTINGS_UNUSABLE");
    expect(await readFile(file)).toEqual(before);
    expect(await readdir(dirname(file))).toEqual([file.split("/").at(-1)]);
  });

  it("follows links to the file, and leaves them links", async () => {
    const t = await start();
    const target = await put(t.home, "dotfiles/claude.json", '{ "a": 1 }\n');
    await mkdir(join(t.home, ".claude"));
    await symlink("../dotfiles/claude.json", join(t.home, ".claude/settings.json"));
    await install(t, "claude-code");
    expect((await lstat(join(t.home, ".claude/settings.json"))).isSymbolicLink()).toBe(true);
    expect(await readFile(target, "utf8")).toContain("guard/hook.sh");
    await uninstall(t, "claude-code");
    expect(await readFile(target, "utf8")).toBe('{ "a": 1 }\n');
    const broken = await start();
    await mkdir(join(broken.home, ".claude"));
    await symlink("nowhere.json", join(broken.home, ".claude/settings.json"));
    expect((await install(broken, "claude-code")).status).toBe(409);
  });

  it("removes exactly its own entry when the settings changed meanwhile", async () => {
    const t = await start();
    const own = { matcher: "Bash", hooks: [{ type: "command", command: "mine.sh" }] };
    const file = await put(t.home, ".claude/settings.json", JSON.stringify({ hooks: { PreToolUse: [own] } }, null, 2));
    await install(t, "claude-code");
    const settings = JSON.parse(await readFile(file, "utf8"));
    settings.model = "opus";
    settings.hooks.PreToolUse[1].hooks.push({ type: "command", command: "added.sh" });
    await writeFile(file, JSON.stringify(settings, null, 4));
    expect((await uninstall(t, "claude-code")).body).toMatchObject({ removed: true, restored: false });
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
      hooks: { PreToolUse: [own, { matcher: "*", hooks: [{ type: "command", command: "added.sh" }] }] },
      model: "opus",
    });
  });

  it("takes the containers it made along, and no others", async () => {
    const t = await start();
    const file = await put(t.home, ".cursor/hooks.json", "{}\n");
    await install(t, "cursor");
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ version: 1, hooks: { preToolUse: [{}] } });
    await writeFile(file, (await readFile(file, "utf8")).replace("{", '{ "own": true, '));
    await uninstall(t, "cursor");
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ own: true });
  });

  it("puts Codex's hook where its user keeps hooks: in config.toml", async () => {
    const t = await start();
    const toml =
      '# mine\nmodel = "gpt-5" # best\n\n[[hooks.PreToolUse]]\nmatcher = "shell"\n\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "mine.sh"\n';
    const file = await put(t.home, ".codex/config.toml", toml);
    const { status, body } = await install(t, "codex");
    expect([status, body.installed, body.settingsPath]).toEqual([200, true, file]);
    const text = await readFile(file, "utf8");
    expect(text).toContain("# mine\n");
    expect(text).toContain("mine.sh");
    await writeFile(file, `${text}# later\n`);
    expect((await uninstall(t, "codex")).body.removed).toBe(true);
    const after = await readFile(file, "utf8");
    expect(after).not.toContain("hook.sh");
    expect(after).toContain("mine.sh");
    expect(after).toContain("# later");
  });

  it("keeps comments behind empty lists of a config.toml whose guard entry was rewritten", async () => {
    const t = await start();
    const own =
      'notify = [] # empty\n\n[[hooks.PreToolUse]]\nmatcher = "shell"\n\n[mcp_servers.one]\nargs = [ ]  # none\n';
    const file = await put(t.home, ".codex/config.toml", own);
    await install(t, "codex");
    // As another program would: the same values, other spaces. What is in the file is not the text we added any more.
    await writeFile(file, (await readFile(file, "utf8")).replace(/\ntimeout = /, "\ntimeout    = "));
    expect((await uninstall(t, "codex")).body.removed).toBe(true);
    expect((await readFile(file, "utf8")).trimEnd()).toBe(own.trimEnd());
  });

  it("S9: the hook asks the port that is served, and status says when it does not", async () => {
    const served = await serveTest({ plugins: plugins() });
    const body = JSON.stringify({});
    const headers = { "content-type": "application/json" };
    const ask = async () => {
      const { tools } = (await (await fetch(`${served.url}api/security/hook`)).json()) as { tools: GuardStatus[] };
      return tools.find((one) => one.tool === "claude-code");
    };
    await fetch(`${served.url}api/security/install-hook`, { method: "POST", body, headers });
    const on = await ask();
    expect(on).toMatchObject({ installed: true, effective: true, problems: [], lastFiredAt: null });
    expect(new URL(on?.url ?? "").port).toBe(String(served.port));
    const answer = await fetch(on?.url ?? "", {
      method: "POST",
      headers,
      body: JSON.stringify({ tool_name: "Bash", tool_input: { command: "ls" } }),
    });
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
    expect((await ask())?.lastFiredAt).not.toBeNull();

    const file = join(served.home, ".claude/settings.json");
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace("/data/guard/", "/elsewhere/guard/"));
    expect((await ask())?.problems.join()).toContain("another data directory");
    await writeFile(file, text.replace(/^\{/, '{ "disableAllHooks": true, "allowManagedHooksOnly": true,'));
    expect((await ask())?.problems).toHaveLength(2);
    await writeFile(file, text);
    await rm(join(served.home, "data/guard"), { recursive: true });
    expect((await ask())?.problems.join()).toContain("script is missing");
    await writeFile(file, "{");
    expect(await ask()).toMatchObject({ installed: false, effective: false });
  });

  it("says that the service is not running, and that Codex must trust the hook", async () => {
    const t = await start();
    expect((await install(t, "claude-code")).body.problems.join()).toContain("not running");
    expect((await install(t, "codex")).body.problems.join()).toContain("trust");
  });

  it("D19: a lost update is impossible: what changed since it was read is not replaced", async () => {
    const home = await makeTempDir();
    const path = await put(home, "settings.json", "{}");
    const seen = await readOutside(path);
    await writeFile(path, '{ "newer": true }');
    await expect(replaceOutside(seen, Buffer.from("{ }"))).rejects.toMatchObject({ code: "SETTINGS_CHANGED" });
    expect(await readFile(path, "utf8")).toBe('{ "newer": true }');
    expect(await readdir(home)).toEqual(["settings.json"]);
  });

  it("what a killed write left beside a tool's settings goes with the next one, and nothing else", async () => {
    const home = await makeTempDir();
    const path = await put(home, "settings.json", "{}");
    const [left, young, other] = [tempName(), tempName(), ".~mine.tmp"];
    for (const name of [left, young, other]) await put(home, name, "half");
    const before = new Date(Date.now() - 3_600_000);
    for (const name of [left, other]) await utimes(join(home, name), before, before);
    await replaceOutside(await readOutside(path), Buffer.from("{ }"));
    expect((await readdir(home)).sort()).toEqual([young, other, "settings.json"].sort());
  });

  it("removes a hook whose adapter is gone", async () => {
    const home = await makeTempDir();
    const before = "{\n  // mine\n}\n";
    const file = await put(home, PATHS["gemini-cli"] ?? "", before);
    const first = await createTestKernel({ home, plugins: plugins() });
    await install(first, "gemini-cli");
    await writeFile(file, `${await readFile(file, "utf8")}// later\n`);
    await first.close();
    const t = await createTestKernel({ home, plugins: [archive(), security()] });
    expect((await uninstall(t, "gemini-cli")).body).toMatchObject({ removed: true, restored: false });
    expect(await readFile(file, "utf8")).toBe(`${before}// later\n`);
    expect((await install(t, "gemini-cli")).status).toBe(400);
  });

  it("refuses a choice that the assistant does not leave", async () => {
    const fixed = defineAdapter(() => ({
      name: "fixed-1",
      label: "Fixed",
      roots: () => [],
      async *scan() {},
      parse: () => ({ row: () => undefined, finish: () => createLedger().summary(), snapshot: () => null }),
      guard: { settings: (env) => join(env.home, "fixed.json"), format: "json", onFailure: "block" },
    }));
    const t = await createTestKernel({ plugins: [archive(), fixed(), security()] });
    expect(await install(t, "fixed-1", { onFailure: "allow" })).toMatchObject({
      status: 422,
      body: { code: "GUARD_FAILURE_FIXED" },
    });
    expect((await install(t, "fixed-1")).body).toMatchObject({ installed: true, onFailure: "block" });
  });

  const without = defineAdapter(() => ({
    name: "without-guard",
    label: "Without",
    roots: () => [],
    async *scan() {},
    parse: () => ({ row: () => undefined, finish: () => createLedger().summary(), snapshot: () => null }),
  }));

  it("refuses an unknown assistant, and one without a guard", async () => {
    const t = await start();
    expect((await install(t, "emacs")).status).toBe(400);
    expect((await uninstall(t, "emacs")).status).toBe(400);
    const bare = await createTestKernel({ plugins: [archive(), without(), security()] });
    expect((await install(bare, "without-guard")).status).toBe(422);
    expect((await uninstall(bare, "without-guard")).status).toBe(422);
    expect((await uninstall(t, "claude-code")).body).toMatchObject({ removed: false });
  });

  it("D19: install and uninstall leave any settings byte for byte as they were", async () => {
    const t = await start();
    const digest = async (path: string) =>
      createHash("sha256")
        .update(await readFile(path))
        .digest("hex");
    let run = 0;
    await fc.assert(
      fc.asyncProperty(settingsFile, async ({ tool, text, mode, linked }) => {
        const home = await makeTempDirOnce(`${t.home}/p${run++}`);
        const file = join(t.home, PATHS[tool] ?? "");
        await mkdir(dirname(file), { recursive: true });
        const real = linked ? join(home, "real.json") : file;
        await writeFile(real, text);
        await chmod(real, mode);
        if (linked) await symlink(real, file);
        const before = await digest(real);
        const first = await install(t, tool);
        if (first.status === 200) {
          expect(first.body.installed).toBe(true);
          expect(await digest(real)).not.toBe(before);
          expect((await stat(real)).mode & 0o7777).toBe(mode);
          // Once through the backup, once through the edit alone.
          expect((await uninstall(t, tool)).body).toMatchObject({ removed: true, restored: true });
        } else expect(first.status).toBe(409);
        expect(await digest(real)).toBe(before);
        expect((await stat(real)).mode & 0o7777).toBe(mode);
        expect((await lstat(file)).isSymbolicLink()).toBe(linked);
        expect((await readdir(dirname(file))).filter((name) => name.includes(".tmp"))).toEqual([]);
        await rm(file);
      }),
      { numRuns: rounds(250) },
    );
  });
});

async function makeTempDirOnce(path: string): Promise<string> {
  await mkdir(path, { recursive: true });
  return path;
}

/** Settings as people have them: any indent, line ends, byte order mark, hooks of their own, comments, odd modes, links. */
const hook = fc.record({ type: fc.constant("command"), command: fc.string({ maxLength: 20 }) });
const group = fc.record({ matcher: fc.constantFrom("", "*", "Bash"), hooks: fc.array(hook, { maxLength: 2 }) });
const settingsFile = fc
  .record({
    tool: fc.constantFrom("claude-code", "gemini-cli", "cursor", "codex"),
    rest: fc.dictionary(
      fc.string({ minLength: 1, maxLength: 8 }).filter((key) => key !== "hooks" && key !== "__proto__"),
      fc.jsonValue({ maxDepth: 2 }),
      { maxKeys: 4 },
    ),
    hooks: fc.option(
      fc.record({ PreToolUse: group.map((it) => [it]), Stop: fc.array(group, { maxLength: 1 }) }, { requiredKeys: [] }),
      { nil: undefined },
    ),
    indent: fc.constantFrom(0, 1, 2, 4, "\t"),
    eol: fc.constantFrom("\n", "\r\n"),
    bom: fc.boolean(),
    end: fc.constantFrom("", "\n", "\n\n", "  "),
    comment: fc.constantFrom("", "", "// mine\n", "/* a */"),
    first: fc.boolean(),
    mode: fc.constantFrom(0o600, 0o644, 0o664, 0o400, 0o755),
    linked: fc.boolean(),
  })
  .map(({ tool, rest, hooks, indent, eol, bom, end, comment, first, mode, linked }) => {
    const value = first ? { hooks, ...rest } : { ...rest, hooks };
    const text = comment + JSON.stringify(value, null, indent) + end;
    return { tool, mode, linked, text: (bom ? "﻿" : "") + text.replaceAll("\n", eol) };
  });
