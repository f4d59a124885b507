/** A plugin that waits forever, rejects too late or blocks the thread: it is named with its file and member, and everything else works. */
import { existsSync } from "node:fs";
import { readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultPlugins } from "sessarc/plugins";
import { createKernel, loadConfig } from "sessarc/serve";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { testEnv } from "../kernel.ts";

const MEMBERS =
  'label: "Tea", scan: async function* () {}, read: async function* () {}, readMany: async function* () {}, tail: async function* () {}, appends: () => true, at: () => {}';
const adapter = (members: string) =>
  `export default () => ({ name: "adapter:tea", adapter: { name: "tea", roots: () => [], ${MEMBERS}, ${members} } });`;
const plugin = (members: string) => `export default () => ({ name: "tea", ${members} });`;

async function homeWith(module: string): Promise<string> {
  const home = await makeTempDir();
  await writeFile(join(home, "tea.mjs"), module);
  await writeFile(join(home, "sessarc.config.mjs"), 'export default { plugins: ["./tea.mjs"] };');
  return home;
}

async function boot(home: string, options: Partial<Parameters<typeof createKernel>[0]> = {}) {
  const config = await loadConfig({ cwd: home, env: testEnv(home), flags: { dataDir: join(home, "data") } });
  const lines: string[] = [];
  const kernel = await createKernel({
    config,
    env: testEnv(home),
    onBroken: "leave-out",
    log: (line) => lines.push(line),
    plugins: config.plugins,
    ...options,
  });
  onTestFinished(() => kernel.close().catch(() => {}));
  return { kernel, lines, problems: kernel.registry.problems };
}

describe("a hook of a plugin", () => {
  it.each([
    ["its own list", plugin('hooks: { "kernel:ready": () => new Promise(() => {}) }')],
    ["setup", plugin('setup(kernel) { kernel.hooks.hook("kernel:ready", () => new Promise(() => {})); }')],
  ])("that never ends, of %s, is named with file and hook, and the kernel is ready", async (_, module) => {
    const home = await homeWith(module);
    const { lines, problems, kernel } = await boot(home, { timeoutMs: 3_000 });
    const message = /Plugin "tea" \(\/.*tea\.mjs\) did not finish hook kernel:ready within 3000 ms/;
    expect(lines.join("\n")).toMatch(message);
    expect(problems).toEqual([
      expect.objectContaining({
        plugin: "tea",
        code: "PLUGIN_TIMEOUT",
        message: expect.stringMatching(message),
        count: 1,
      }),
    ]);
    expect((await kernel.fetch("/api/status")).status).toBe(200);
  });

  it("that throws is named, too; an error of the catalogue stays what it is", async () => {
    const home = await homeWith(
      plugin(
        'hooks: { "kernel:ready": () => { throw new Error("cold") }, "kernel:close": () => { throw new Error("no") } }',
      ),
    );
    const { problems, kernel } = await boot(home);
    expect(problems[0]?.message).toMatch(/Plugin "tea" \(\/.*tea\.mjs\) failed in hook kernel:ready: cold/);
    await expect(Promise.resolve(kernel.hooks.callHook("kernel:close", kernel))).rejects.toThrow(
      /failed in hook kernel:close: no/,
    );
  });

  it.each([
    ["throws", '() => { throw new Error("cracked") }', /failed in hook doctor:check: cracked/],
    ["rejects", 'async () => { throw new Error("cracked") }', /failed in hook doctor:check: cracked/],
    ["throws no error", '() => { throw "cracked" }', /failed in hook doctor:check: cracked/],
    ["hangs", "() => new Promise(() => {})", /did not finish hook doctor:check within 3000 ms/],
  ])("doctor:check that %s is a line of doctor, and the others are there", async (_, listener, detail) => {
    const home = await homeWith(plugin(`hooks: { "doctor:check": ${listener} }`));
    const config = await loadConfig({ cwd: home, env: testEnv(home), flags: { dataDir: join(home, "data") } });
    const { kernel } = await boot(home, {
      timeoutMs: detail.source.includes("within") ? 3_000 : 60_000,
      plugins: [...config.plugins, ...defaultPlugins()],
    });
    const { checks } = (await (await kernel.fetch("/api/doctor")).json()) as {
      checks: { name: string; detail: string }[];
    };
    expect(checks.find(({ name }) => name === "plugin tea")).toMatchObject({
      status: "fail",
      detail: expect.stringMatching(detail),
    });
    expect(checks.length).toBeGreaterThan(5);
  });
});

describe("an adapter", () => {
  it.each([
    ["rejects", 'async () => { throw new Error("late") }'],
    ["resolves", "async () => []"],
    ["never ends", "() => new Promise(() => {})"],
  ])("whose roots are a promise that %s is left out, and commands work", async (_, roots) => {
    const home = await homeWith(adapter(`roots: ${roots}`));
    const { code, stderr } = await runCommand(["import"], home);
    expect(stderr).toMatch(/"tea" \(\/.*tea\.mjs\): `roots` answered a promise/);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect([0, 3]).toContain(code);
    expect((await runCommand(["plugins"], home)).stdout).toMatch(/left out adapter:tea: .*roots.*\w\. [A-Z]/);
  });
});

describe("a plugin that blocks the thread", () => {
  /** Blocks until it was recorded: no longer than the test needs. */
  const block = (home: string) =>
    `const until = Date.now() + 20_000; while (!existsSync(${JSON.stringify(join(home, "data/blocked-plugins.json"))}) && Date.now() < until);`;
  const patience = { reportMs: 200, endMs: 600_000 };

  it.each([
    ["setup", (text: string) => plugin(`setup() { ${text} }`), "tea", "setup"],
    ["setup after an await", (text: string) => plugin(`async setup() { await null; ${text} }`), "tea", "setup"],
    [
      "a hook",
      (text: string) => plugin(`hooks: { "kernel:ready": async () => { ${text} } }`),
      "tea",
      "hook kernel:ready",
    ],
    ["its module", (text: string) => `${text}\n${plugin("")}`, /tea\.mjs/, "its import"],
    ["roots", (text: string) => adapter(`roots: () => { ${text} return []; }`), "adapter:tea", "roots"],
    [
      "scan",
      (text: string) => adapter(`roots: ({ home }) => [home], scan: async function* () { ${text} }`),
      "adapter:tea",
      "scan",
    ],
  ])(
    "in %s is recorded, left out at the next start, and taken again once it changed",
    async (_, module, name, member) => {
      const home = await homeWith("");
      await writeFile(join(home, "tea.mjs"), `import { existsSync } from "node:fs";\n${module(block(home))}`);
      const old = new Date(Date.now() - 60_000);
      await utimes(join(home, "tea.mjs"), old, old);
      const first = await boot(home, { patience });
      const tea = first.kernel.registry.adapters.get("tea");
      if (tea) for (const root of tea.roots(first.kernel.env)) for await (const _ of tea.scan(root, first.kernel.env));
      const record = join(home, "data/blocked-plugins.json");
      expect(existsSync(record)).toBe(true);
      const [blocked] = Object.values(JSON.parse(await readFile(record, "utf8"))) as {
        plugin: string;
        member: string;
      }[];
      expect(blocked).toMatchObject({ member, file: join(home, "tea.mjs") });
      expect(blocked?.plugin).toMatch(name);
      await expect.poll(() => first.problems.some(({ code }) => code === "PLUGIN_BLOCKED")).toBe(true);
      await first.kernel.close();

      const { stdout } = await runCommand(["plugins", "--data-dir", join(home, "data")], home);
      expect(stdout).toMatch(/left out .*blocked the process for .* in .*A start after the file was changed/s);
      const second = await boot(home);
      expect(second.problems.map(({ code }) => code)).toEqual(["PLUGIN_BLOCKED"]);
      await second.kernel.close();

      const now = new Date(Date.now() + 60_000);
      await utimes(join(home, "tea.mjs"), now, now);
      expect((await boot(home)).problems).toEqual([]);
    },
  );
});
