import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SessarcError } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";
import { createKernel, loadConfig } from "sessarc/serve";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { defaultDataDir } from "../../core/utils/path.ts";
import feedback from "../../plugins/feedback/index.ts";
import { makeTempDir } from "../_setup.ts";
import { testEnv } from "../kernel.ts";

let home: string;
let cwd: string;
beforeEach(async () => {
  home = await makeTempDir();
  cwd = join(home, "work");
  await mkdir(cwd);
});

const write = async (path: string, text: string) => {
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, text);
};
const load = (options: Parameters<typeof loadConfig>[0] = {}, env: Record<string, string> = {}) =>
  loadConfig({ cwd, env: testEnv(home, env), ...options });

async function failure(text: string, name = "sessarc.config.mjs"): Promise<SessarcError> {
  await write(join(cwd, name), text);
  // Keys of plugins are checked where the plugins are.
  const boot = async () =>
    (await createKernel({ config: await load(), env: testEnv(home), plugins: [feedback()] })).close();
  const error = await boot().catch((it: unknown) => it);
  if (!(error instanceof SessarcError)) throw new Error(`Expected a SessarcError, not ${String(error)}`);
  return error;
}

describe("where settings come from", () => {
  it("has defaults for everything", async () => {
    expect(await load()).toMatchObject({
      mode: "standalone",
      host: "127.0.0.1",
      port: 41730,
      portFixed: false,
      dataDir: join(home, ".local/share/sessarc"),
      plugins: [],
      roots: {},
      autoImport: false,
      sync: true,
      hosts: [],
      auth: false,
      open: true,
    });
    expect(await load({ flags: { dev: true } })).toMatchObject({ mode: "dev", port: 4173, portFixed: false });
  });

  it("flags override the environment, which overrides the file", async () => {
    await write(join(cwd, "sessarc.config.mjs"), "export default { port: 1001, host: 'localhost', dataDir: 'mine' }");
    const env = { SESSARC_PORT: "1002", SESSARC_DATA_DIR: join(home, "elsewhere") };
    expect(await load()).toMatchObject({ port: 1001, portFixed: true, dataDir: join(cwd, "mine") });
    expect(await load({}, env)).toMatchObject({ port: 1002, host: "localhost", dataDir: join(home, "elsewhere") });
    expect(await load({ flags: { port: 1003, dataDir: "here" } }, env)).toMatchObject({
      port: 1003,
      dataDir: join(cwd, "here"),
    });
    // A flag that was not given is undefined, not unset.
    expect((await load({ flags: { port: undefined } }, env)).port).toBe(1002);
  });

  it("reads the working directory's file before the user's own", async () => {
    await write(join(home, ".config/sessarc/sessarc.config.mjs"), "export default { port: 1 }");
    expect((await load()).port).toBe(1);
    await write(join(cwd, "sessarc.config.js"), "export default { port: 2 }");
    expect((await load()).port).toBe(2);
  });

  it("reads TypeScript, with defineConfig from sessarc", async () => {
    await write(
      join(cwd, "sessarc.config.ts"),
      `import { defineConfig } from "sessarc";
       const port: number = 1234;
       export default defineConfig({ port, roots: { codex: "/logs", "claude-code": ["/a", "/b"] } });`,
    );
    expect(await load()).toMatchObject({ port: 1234, roots: { codex: ["/logs"], "claude-code": ["/a", "/b"] } });
  });

  it("takes the file that is named and no other", async () => {
    await write(join(cwd, "sessarc.config.mjs"), "export default { port: 1 }");
    await write(join(cwd, "other.mjs"), "export default { port: 3 }");
    expect((await load({ file: "other.mjs" })).port).toBe(3);
  });

  it.each([
    ["SESSARC_NO_OPEN", "1", { open: false }],
    ["SESSARC_NO_OPEN", "0", { open: true }],
    ["SESSARC_AUTH", "1", { auth: true }],
    ["SESSARC_HOST", "::1", { host: "::1", auth: false }],
    ["SESSARC_PORT", "0", { port: 0, portFixed: false }],
  ])("%s=%s", async (name, value, expected) => {
    expect(await load({}, { [name]: value })).toMatchObject(expected);
  });

  it("an address that is not loopback switches the token on, whatever the file says", async () => {
    expect((await load({ flags: { host: "192.168.1.5", auth: false } })).auth).toBe(true);
    expect((await load({ flags: { host: "127.0.0.1.example.com" } })).auth).toBe(true);
    expect((await load({ flags: { host: "127.1.2.3" } })).auth).toBe(false);
  });
});

describe("mistakes", () => {
  it("an unknown key names the nearest known one", async () => {
    const error = await failure("export default { pluginz: [] }");
    expect(error).toMatchObject({ code: "CONFIG_UNKNOWN_KEY", fix: 'Did you mean "plugins"?' });
    expect(error.message).toContain("pluginz");
    expect(error.message).toContain("sessarc.config.mjs");
  });

  it("so does one further down", async () => {
    const error = await failure("export default { feedback: { realy: null } }");
    expect(error).toMatchObject({ code: "CONFIG_UNKNOWN_KEY", fix: 'Did you mean "feedback.relay"?' });
  });

  it("one that resembles nothing has no suggestion", async () => {
    expect(await failure("export default { zzzzzzzz: 1 }")).toMatchObject({ fix: undefined });
  });

  it.each([
    ["a port that is not a number", "export default { port: 'high' }", "port"],
    ["a port that is too high", "export default { port: 70000 }", "port"],
    ["an empty folder", "export default { dataDir: '' }", "dataDir"],
    ["a relay that is no URL", "export default { feedback: { relay: 'there' } }", "feedback.relay"],
    ["a list instead of an object", "export default []", "default export"],
    ["no default export", "export const config = {}", "default export"],
  ])("%s names the key", async (_, text, key) => {
    const error = await failure(text);
    expect(error.code).toBe("CONFIG_INVALID");
    expect(error.message).toContain(`"${key}"`);
  });

  it("a file that does not load is named with the reason", async () => {
    const error = await failure("throw new Error('half written')");
    expect(error.code).toBe("CONFIG_UNREADABLE");
    expect(error.message).toMatch(/sessarc\.config\.mjs.*half written/);
  });

  it("an invalid port of the environment", async () => {
    await expect(load({}, { SESSARC_PORT: "many" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  });
});

describe("plugins of the configuration", () => {
  const boot = async (flags = {}) => {
    const env = testEnv(home);
    const config = await load({ flags });
    const kernel = await createKernel({ config, env, plugins: config.plugins, timeoutMs: 120_000 });
    await kernel.close();
    return kernel.registry.describe().map(({ name }) => name);
  };

  it("are found from where the file is, the flags' from where the command runs", async () => {
    const dir = join(home, ".config/sessarc");
    await write(join(dir, "sessarc.config.mjs"), "export default { plugins: ['./tea.mjs'] }");
    await write(join(dir, "tea.mjs"), "export default () => ({ name: 'tea' })");
    await write(join(cwd, "coffee.mjs"), "export default () => ({ name: 'coffee' })");
    expect(await boot({ plugins: ["./coffee.mjs"] })).toEqual(["kernel", "tea", "coffee"]);
    expect((await load()).plugins).toMatchObject([{ specifier: pathToFileURL(join(dir, "tea.mjs")).href }]);
  });

  it("may be packages next to the file, and TypeScript that imports sessarc", async () => {
    const pkg = join(cwd, "node_modules/sessarc-adapter-tea");
    await write(join(pkg, "package.json"), '{ "type": "module", "exports": { "import": "./index.mjs" } }');
    await write(join(pkg, "index.mjs"), "export default () => ({ name: 'packed' })");
    await write(
      join(cwd, "mine.ts"),
      `import { definePlugin } from "sessarc";
       export default definePlugin({ name: "mine" as string });`,
    );
    await write(
      join(cwd, "sessarc.config.mjs"),
      "export default { plugins: ['sessarc-adapter-tea', './mine.ts', { name: 'value' }] }",
    );
    expect(await boot()).toEqual(["kernel", "packed", "mine", "value"]);
  });

  it("may be the folder of a package: its entry is meant, as by its name", async () => {
    const manifest = (more: object) => JSON.stringify({ name: "sessarc-plugin-mug", type: "module", ...more });
    await write(join(cwd, "mug/package.json"), manifest({ exports: { ".": { default: "./dist/index.js" } } }));
    await write(join(cwd, "mug/dist/index.js"), "export default () => ({ name: 'mug' })");
    await write(join(cwd, "jug/package.json"), manifest({ main: "jug.js" }));
    await write(join(cwd, "jug/jug.js"), "export default () => ({ name: 'jug' })");
    expect(await boot({ plugins: ["./mug", "./jug/"] })).toEqual(["kernel", "mug", "jug"]);
    const { plugins } = await load({ flags: { plugins: ["./mug"] } });
    expect(plugins).toMatchObject([{ specifier: pathToFileURL(join(cwd, "mug/dist/index.js")).href }]);
  });
});

describe("data directory", () => {
  const env = (platform: NodeJS.Platform, more: Record<string, string> = {}): AdapterEnv => ({
    home: "/home/me",
    platform,
    env: more,
  });
  it.each([
    ["linux", {}, "/home/me/.local/share/sessarc"],
    ["linux", { XDG_DATA_HOME: "/data" }, "/data/sessarc"],
    ["linux", { XDG_DATA_HOME: "relative" }, "/home/me/.local/share/sessarc"],
    ["darwin", { XDG_DATA_HOME: "/data" }, "/home/me/Library/Application Support/sessarc"],
    ["win32", { LOCALAPPDATA: "/local" }, "/local/sessarc"],
  ] as const)("%s %j", (platform, more, expected) => {
    expect(defaultDataDir(env(platform, more))).toBe(expected);
  });
});

it("a file that never loads is reported after ten seconds", async () => {
  const cwd = await makeTempDir();
  await writeFile(join(cwd, "sessarc.config.mjs"), "await new Promise(() => {});\nexport default {};\n");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let told: unknown;
  const loading = loadConfig({ cwd, env: { home: cwd, platform: process.platform, env: {} } }).catch((error) => {
    told = error;
  });
  while (told === undefined) {
    vi.advanceTimersByTime(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await loading;
  expect(told).toMatchObject({ code: "CONFIG_UNREADABLE", message: expect.stringContaining("within 10 s") });
});
