/** Plugins that are not what they should be: named with file, member and remedy, left out, and everything else works. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "sessarc";
import { type AdapterDefinition, defineAdapter } from "sessarc/adapter";
import { defaultPlugins } from "sessarc/plugins";
import { createKernel, loadConfig } from "sessarc/serve";
import { createTestKernel } from "sessarc/test";
import { describe, expect, it, onTestFinished } from "vitest";
import { deferred, makeTempDir } from "../_setup.ts";
import { testEnv } from "../kernel.ts";

/** A kernel over plugin modules, which are in a folder as `<name>.mjs`; `plugins` of the configuration. */
async function bootWith(modules: Record<string, string>, plugins: string, { roots = "{}", hangs = false } = {}) {
  const home = await makeTempDir();
  for (const [name, text] of Object.entries(modules)) await writeFile(join(home, `${name}.mjs`), text);
  await writeFile(join(home, "sessarc.config.mjs"), `export default { roots: ${roots}, plugins: ${plugins} };`);
  const env = testEnv(home);
  const config = await loadConfig({ cwd: home, env, flags: { dataDir: join(home, "data") } });
  const lines: string[] = [];
  const options = {
    config,
    env,
    onBroken: "leave-out",
    log: (line: string) => lines.push(line),
  } as const;
  // What hangs is waited for: alone, since others take their time on a slow machine.
  const beside = hangs
    ? { timeoutMs: 3_000, plugins: config.plugins }
    : { plugins: [...defaultPlugins(), ...config.plugins] };
  const kernel = await createKernel({ ...options, ...beside });
  onTestFinished(() => kernel.close());
  const json = async <T = unknown>(path: string): Promise<T> => (await (await kernel.fetch(`/api${path}`)).json()) as T;
  return { kernel, lines, json, problems: kernel.registry.problems };
}

const adapter = (members: string) =>
  `export default () => ({ name: "adapter:tea", adapter: { name: "tea", label: "Tea", roots: () => [], scan: async function* () {}, read: async function* () {}, readMany: async function* () {}, tail: async function* () {}, appends: () => true, at: () => {}, ${members} } });`;
const plugin = (members: string) => `export default () => ({ name: "tea", ${members} });`;

describe("a plugin that is not valid", () => {
  it.each<[what: string, module: string, message: RegExp, fix: RegExp]>([
    [
      "has no roots",
      adapter("roots: undefined"),
      /"adapter:tea" \(\/.*tea\.mjs\).*`adapter\.roots` is missing/,
      /roots: \(\{ home \}\) =>/,
    ],
    [
      "misspells a member",
      adapter("roots: undefined, root: () => []"),
      /`adapter\.roots` is missing/,
      /Did you mean it by `root`\?/,
    ],
    [
      "has roots that are a text",
      adapter('roots: "~/.tea"'),
      /`adapter\.roots` must be a function, not "~\/\.tea"/,
      /roots:/,
    ],
    [
      "answers roots that are a text",
      adapter('roots: () => "/tea"'),
      /Adapter "tea" \(.*tea\.mjs\): `roots` answered "\/tea"/,
      /roots: \(\) => \[folder\]/,
    ],
    [
      "cannot be read",
      adapter("read: undefined"),
      /`adapter\.read` is missing/,
      /defineAdapter, from `parse` or `open`/,
    ],
    [
      "names its adapter in other letters",
      adapter('name: "Tea Pot"'),
      /`adapter\.name` must be a name in kebab-case, not "Tea Pot"/,
      /echo-cli/,
    ],
    [
      "is named in other letters",
      plugin('name: "teaPot"'),
      /`name` must be a name in kebab-case, not "teaPot"/,
      /word-count/,
    ],
    ["has no name", "export default () => ({})", /it has no name/, /kebab-case/],
    ["makes another factory", "export default () => () => ({})", /it is a factory: call it/, /plugin\(\)/],
    [
      "exports an instance",
      'export default { name: "tea" }',
      /no default export that is a function/,
      /factory made by definePlugin/,
    ],
    [
      "has routes that are none",
      plugin('routes: [{ path: "/tea" }]'),
      /`routes` must be a list of routes/,
      /defineRoute/,
    ],
    [
      "throws while it is made",
      'export default () => { throw new Error("no water") }',
      /is not a plugin: no water/,
      /factory/,
    ],
    ["throws while it is imported", 'throw new Error("no pot")', /no pot/, /factory/],
    [
      "throws in setup",
      plugin('setup() { throw new Error("too hot") }'),
      /"tea" \(.*tea\.mjs\) failed in setup: too hot/,
      /^$/,
    ],
    ["hangs in setup", plugin("setup: () => new Promise(() => {})"), /did not finish setup within 3000 ms/, /onClose/],
    [
      "hangs while it is imported",
      "await new Promise((resolve) => setTimeout(resolve, 60_000).unref())",
      /did not finish its import/,
      /setup/,
    ],
    ["needs what is not there", plugin('dependsOn: ["milk"]'), /Plugin "milk" is missing/, /Add "milk"/],
    ["has a built-in plugin's name", plugin('name: "archive"'), /archive/, /./],
    [
      "is for another version",
      plugin('compatibility: "^2"'),
      /"tea" .* is made for version \^2 of the plugin interface; this sessarc has 1\./,
      /Install a version/,
    ],
    [
      "gives no range of versions",
      plugin('compatibility: "latest"'),
      /`compatibility` must be a range of versions, not "latest"/,
      /"\^1\.0"/,
    ],
  ])("that %s", async (what, module, message, fix) => {
    const { problems, lines, json } = await bootWith({ tea: module }, '["./tea.mjs"]', {
      hangs: what.startsWith("hangs"),
    });
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toMatch(message);
    expect(problems[0]?.fix ?? "").toMatch(fix);
    const told = lines.filter((line) => line.startsWith("Left out: "));
    expect(told).toHaveLength(1);
    // A sentence and the next; a path as people write it.
    if (problems[0]?.fix) expect(told[0]).toMatch(/[.!?] \S/);
    expect(told[0]).not.toContain("file:");
    // Told where people look, and everything else works.
    expect((await json<{ problems: unknown }>("/plugins")).problems).toEqual(problems);
    expect((await json<{ checks: unknown[] }>("/doctor")).checks).toContainEqual(
      expect.objectContaining({ name: `plugin ${problems[0]?.plugin}`, status: "fail", detail: problems[0]?.message }),
    );
    expect(await json("/status")).toMatchObject({ version: expect.any(String) });
  });

  it.each<[what: string, entry: string, message: RegExp, fix: RegExp]>([
    [
      "is not installed",
      '"sessarc-plugin-tea"',
      /"sessarc-plugin-tea".*it is not installed/,
      /npm install sessarc-plugin-tea/,
    ],
    ["is no file", '"./gone.mjs"', /gone\.mjs".*there is no such file/, /relative to the configuration file/],
    [
      "is a factory that was not called",
      "() => ({})",
      /plugins\[0\] of .*sessarc\.config\.mjs.*it is a factory: call it/,
      /./,
    ],
    ["is options without a plugin", "[{}, {}]", /options go with a name or a factory/, /./],
  ])("that %s", async (_what, entry, message, fix) => {
    const { problems } = await bootWith({}, `[${entry}]`);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toMatch(message);
    expect(problems[0]?.fix ?? "").toMatch(fix);
  });

  it("takes those that need it with it, and no others", async () => {
    const { problems, kernel } = await bootWith(
      {
        tea: plugin('setup() { throw new Error("too hot") }'),
        cup: plugin('name: "cup", dependsOn: ["tea"]'),
        jam: plugin('name: "jam"'),
      },
      '["./tea.mjs", "./cup.mjs", "./jam.mjs"]',
    );
    expect(problems.map(({ plugin }) => plugin)).toEqual(["tea", "cup"]);
    expect(kernel.registry.describe().map(({ name }) => name)).toContain("jam");
  });

  it("leaves nothing of itself behind", async () => {
    const route = 'routes: [{ method: "GET", path: "/tea", summary: "Tea", handler: () => 1 }]';
    const setup =
      'hooks: { "status:collect": (report) => { report.tea = true } }, setup(kernel) { kernel.provide("tea", {}); throw new Error("x") }';
    const { json, kernel } = await bootWith({ tea: plugin(`${route}, ${setup}`) }, '["./tea.mjs"]');
    expect(await json("/tea")).toMatchObject({ code: "ROUTE_NOT_FOUND" });
    expect(await json("/status")).not.toHaveProperty("tea");
    expect(kernel.registry.services.has("tea")).toBe(false);
  });

  it("is thrown to a program that embeds a kernel without `onBroken`", async () => {
    await expect(createTestKernel({ plugins: [{ name: "Not kebab" } as Plugin] })).rejects.toMatchObject({
      code: "PLUGIN_INVALID",
    });
  });
});

describe("settings for plugins", () => {
  it("of a tool that is not there are reported, with the nearest name", async () => {
    const { problems } = await bootWith({}, "[]", { roots: '{ codx: "/logs" }' });
    expect(problems).toMatchObject([
      { plugin: "adapter:codx", message: expect.stringContaining("roots.codx"), fix: 'Did you mean "roots.codex"?' },
    ]);
  });

  it("go into a tuple; the older way works and its removal is announced, once", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => void warnings.push(warning);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    const module = "export default ({ water }) => ({ name: water });";
    const older = '{ specifier: "./tea.mjs", options: { water: "cold" } }';
    const made = '[({ water }) => ({ name: water }), { water: "warm" }]';
    const { kernel, problems } = await bootWith(
      { tea: module },
      `[["./tea.mjs", { water: "hot" }], ${made}, ${older}, { ...${older}, options: { water: "icy" } }]`,
    );
    expect(problems).toEqual([]);
    expect(kernel.registry.describe().map(({ name }) => name)).toEqual(
      expect.arrayContaining(["hot", "warm", "cold", "icy"]),
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings.filter((it) => "code" in it && it.code === "SESSARC_DEP001")).toHaveLength(1);
  });
});

describe("an adapter that fails while it works", () => {
  const brew = (members: object) =>
    defineAdapter((options: { dir?: string } | undefined) => ({
      name: "tea",
      label: "Tea",
      roots: () => [options?.dir ?? "/none"],
      async *scan(root: string) {
        for (const key of ["good", "bad"]) yield { key, path: join(root, `${key}.jsonl`), size: 1, mtime: 1 };
      },
      parse: () => ({
        row: (row: unknown) => {
          const { kind } = row as { kind: "user" };
          if (kind === ("boil" as string)) throw new TypeError("the kettle is empty");
          return { kind, text: "x" };
        },
        finish: () => ({ usage: {} }),
      }),
      ...members,
    }));

  async function importTea(bad: string, members: object = {}) {
    const home = await makeTempDir();
    const dir = join(home, "tea");
    await mkdir(dir);
    await writeFile(join(dir, "good.jsonl"), '{"kind":"user"}\n');
    await writeFile(join(dir, "bad.jsonl"), bad);
    const t = await createTestKernel({ home, plugins: [...defaultPlugins(), brew(members)({ dir })] });
    const { body } = await t.send<{ imported: number; failed: { id: string; code: string; message: string }[] }>(
      "POST",
      "/api/import",
      { all: true },
    );
    return { body, dir, t };
  }

  it("at a row fails that session alone, with file and line", async () => {
    const { body, dir } = await importTea('{"kind":"user"}\n\n{"kind":"boil"}\n');
    expect(body).toMatchObject({ imported: 1, failed: [{ id: "tea:bad", code: "ADAPTER_FAILED" }] });
    expect(body.failed[0]?.message).toContain(`${join(dir, "bad.jsonl")}, line 3`);
    expect(body.failed[0]?.message).toContain("the kettle is empty");
  });

  it("by a kind of event that there is none of", async () => {
    const { body } = await importTea('{"kind":"usr"}\n');
    expect(body.failed[0]?.message).toMatch(/line 1.*"usr" is not one of user, assistant/);
  });

  it("with neither of the two ways to read is refused when it is made", () => {
    expect(() => brew({ parse: undefined })()).toThrow("neither `parse` nor `open`");
  });
});

describe("an adapter that never answers", () => {
  const never = () => new Promise<never>(() => {});
  const line = { row: () => undefined, finish: () => ({ usage: {} }) };
  /** One tool is well, the other hangs where `members` say. */
  async function beside(members: Partial<AdapterDefinition>) {
    const home = await makeTempDir();
    const make = (name: string, own: Partial<AdapterDefinition>) =>
      defineAdapter(() => ({
        name,
        label: name,
        roots: () => [home],
        async *scan(root: string) {
          yield { key: "one", path: join(root, `${name}.jsonl`), size: 1, mtime: 1 };
        },
        parse: () => line,
        ...own,
      }))();
    for (const name of ["well", "silent"]) await writeFile(join(home, `${name}.jsonl`), "{}\n");
    const config = await loadConfig({ cwd: home, env: testEnv(home), flags: { dataDir: join(home, "data") } });
    const plugins = [...defaultPlugins(), make("well", {}), make("silent", members)];
    const kernel = await createKernel({ config, env: testEnv(home), plugins, silenceMs: 300, log: () => {} });
    onTestFinished(() => kernel.close());
    const send = async (method: string, path: string, body?: object) => {
      const headers = { "content-type": "application/json" };
      const answer = await kernel.fetch(`/api${path}`, {
        method,
        ...(body && { headers, body: JSON.stringify(body) }),
      });
      return (await answer.json()) as Record<string, never>;
    };
    return { send, home, kernel };
  }

  it.each<[string, Partial<AdapterDefinition>]>([
    ["never begins", { scan: () => ({ [Symbol.asyncIterator]: () => ({ next: never }) }) }],
    [
      "stops in the middle",
      {
        async *scan(root: string) {
          yield { key: "one", path: join(root, "silent.jsonl"), size: 1, mtime: 1 };
          await never();
        },
      },
    ],
  ])("P7: a scan that %s is a problem of its tool, named, and the others are imported", async (_, members) => {
    const { send, kernel } = await beside(members);
    const { tools } = (await send("GET", "/scan")) as unknown as {
      tools: { tool: string; problems: { reason: string }[] }[];
    };
    expect(tools.find(({ tool }) => tool === "silent")?.problems[0]?.reason).toMatch(
      /"silent": `scan` did not answer for/,
    );
    expect(await send("POST", "/import", { all: true })).toMatchObject({ failed: [] });
    const { sessions } = (await send("GET", "/sessions")) as unknown as { sessions: { id: string }[] };
    expect(sessions.map(({ id }) => id)).toContain("well:one");
    const { checks } = (await send("GET", "/doctor")) as unknown as { checks: { name: string; detail: string }[] };
    expect(checks.find(({ name }) => name === "silent")?.detail).toMatch(/`scan` did not answer for/);
    const { failed } = await kernel.inject("insights").stateless({ by: "tool" });
    expect(failed[0]?.message).toMatch(/`scan` did not answer for/);
  });

  it("a scan that is still waiting is not started again: the same answer comes at once", async () => {
    let calls = 0;
    const { send } = await beside({
      scan: () => {
        calls++;
        return { [Symbol.asyncIterator]: () => ({ next: never }) };
      },
    });
    await send("GET", "/scan");
    expect(calls).toBe(1);
    await send("POST", "/import", { all: true });
    const { tools } = (await send("GET", "/scan")) as unknown as { tools: { tool: string; problems: object[] }[] };
    expect(tools.find(({ tool }) => tool === "silent")?.problems).toMatchObject([
      { reason: expect.stringContaining("`scan` did not answer for") },
    ]);
    expect(calls).toBe(1);
  });

  it("a scan that answers late is asked again", async () => {
    const gate = deferred();
    let calls = 0;
    const { send } = await beside({
      async *scan(root: string) {
        if (++calls === 1) await gate.promise;
        yield { key: "one", path: join(root, "silent.jsonl"), size: 1, mtime: 1 };
      },
    });
    expect(JSON.stringify(await send("GET", "/scan"))).toContain("did not answer");
    gate.resolve();
    expect(JSON.stringify(await send("GET", "/scan"))).not.toContain("did not answer");
  });

  it("a log whose parser never comes fails that session alone, with its path", async () => {
    const { send, home } = await beside({ parse: never });
    const report = await send("POST", "/import", { all: true });
    expect(report).toMatchObject({ imported: 1, failed: [{ id: "silent:one", code: "ADAPTER_SILENT" }] });
    expect(JSON.stringify(report)).toContain(join(home, "silent.jsonl"));
  });
});
