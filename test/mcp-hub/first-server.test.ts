/** The hub's entry as the first server of an assistant: real files that do not exist, are empty or name none, and each byte as before. */
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { defaultPlugins } from "sessarc/plugins";
import { afterEach, describe, expect, it } from "vitest";
import { parseSettings } from "../../core/outside/parse.ts";
import { vscode } from "../../plugins/mcp-hub/configs/vscode.ts";
import type { WireMatrix } from "../../plugins/mcp-hub/index.ts";
import { serversIn } from "../adapters/mcp-servers.ts";
import { createTestKernel } from "../kernel.ts";
import { type Configs, startConfigs, type TakeoverAnswer } from "./_configs.ts";

/** Folders of logs: the assistants are installed. */
const HERE = [
  ".claude/projects",
  ".codex/sessions",
  ".gemini/tmp",
  ".cursor/projects",
  ".copilot/session-state",
  ".local/share/opencode/storage",
];

/** Where each assistant gets its first server. */
const FILES: Record<string, string> = {
  "claude-code": ".claude.json",
  codex: ".codex/config.toml",
  copilot: ".copilot/mcp-config.json",
  cursor: ".cursor/mcp.json",
  "gemini-cli": ".gemini/settings.json",
};

describe("the first server of an assistant", () => {
  let t: Configs;
  afterEach(() => t.close());
  const matrix = () => t.json<WireMatrix>("/api/mcp/matrix");
  const at = (path: string) => join(t.home, path);
  const missing = (path: string) =>
    stat(at(path)).then(
      () => false,
      () => true,
    );
  async function begin() {
    t = await startConfigs();
    for (const folder of HERE) await mkdir(at(folder), { recursive: true });
  }
  async function connect(tools: readonly string[], more: object = {}) {
    const { files } = await matrix();
    return t.send<TakeoverAnswer & { code?: string }>("POST", "/api/mcp/takeover", {
      fileHashes: files,
      mode: "replace",
      connect: tools,
      ...more,
    });
  }
  const connected = async () =>
    (await matrix()).assistants.flatMap(({ tool, connected }) => (connected ? [tool] : [])).sort();

  it("is written into a new file, which a restore removes", async () => {
    await begin();
    const tools = Object.keys(FILES).sort();
    const found = await matrix();
    expect(found.assistants.filter(({ connectable }) => connectable).map(({ tool }) => tool)).toEqual(
      expect.arrayContaining(tools),
    );
    const plan = await connect(tools, { dryRun: true });
    expect(plan.body.diffs.map(({ diff }) => /^\+.*\/mcp/m.test(diff))).toEqual(tools.map(() => true));
    // Nothing in the hub's own entry is secret.
    for (const { diff } of plan.body.diffs) expect(diff).not.toContain("•");
    for (const path of Object.values(FILES)) expect(await missing(path), path).toBe(true);

    const done = await connect(tools);
    expect(done.body.code).toBeUndefined();
    expect(await connected()).toEqual(tools);
    expect(JSON.parse(await t.read(".gemini/settings.json"))).toEqual({
      mcpServers: { sessarc: { httpUrl: expect.stringMatching(/\/mcp\?client=gemini-cli$/) } },
    });
    expect(await t.read(".codex/config.toml")).toContain("[mcp_servers.sessarc]\nurl = ");
    expect((await stat(at(".claude.json"))).mode & 0o777).toBe(0o600);
    expect(new Set((await t.backups()).map(({ state }) => state))).toEqual(new Set(["taken over"]));

    await t.restore(done.body.backups.map(({ id }) => id));
    for (const path of Object.values(FILES)) expect(await missing(path), path).toBe(true);
    expect(new Set((await t.backups()).map(({ state }) => state))).toEqual(new Set(["restored"]));
    expect(await connected()).toEqual([]);
    // Again, and nothing is left of the first time.
    expect((await connect(tools)).body.code).toBeUndefined();
    expect(await connected()).toEqual(tools);
  });

  it("is added to a file that is empty or has other settings only; a restore gives each byte back", async () => {
    await begin();
    const texts: Record<string, string> = {
      "claude-code": '{"numStartups":3,"mcpServers":{}}',
      codex: '# mine\nmodel = "o3"\n\n[tui]\ntheme = "dark"\n',
      copilot: "",
      cursor: '{\n\t// mine\n\t"other": 1,\n}\n',
      "gemini-cli": '{\r\n  "theme": "Dracula"\r\n}\r\n',
    };
    for (const [tool, text] of Object.entries(texts)) await t.put(FILES[tool] ?? "", text);
    await chmod(at(".gemini/settings.json"), 0o640);
    const tools = Object.keys(texts).sort();
    const done = await connect(tools);
    expect(done.body.code).toBeUndefined();
    expect(await connected()).toEqual(tools);
    expect(await t.read(".gemini/settings.json")).toMatch(/^{\r\n {2}"theme": "Dracula",\r\n {2}"mcpServers": {\r\n/);
    expect(await t.read(".cursor/mcp.json")).toContain("// mine");
    expect(await t.read(".codex/config.toml")).toContain('# mine\nmodel = "o3"\n\n[tui]\ntheme = "dark"\n');
    await t.restore(done.body.backups.map(({ id }) => id));
    for (const [tool, text] of Object.entries(texts)) expect(await t.read(FILES[tool] ?? ""), tool).toBe(text);
    expect((await stat(at(".gemini/settings.json"))).mode & 0o777).toBe(0o640);
  });

  it("makes the folders of the file and removes them again, unless something else is in them", async () => {
    await begin();
    const run = async () => {
      const done = await connect(["opencode"]);
      expect(done.body.code).toBeUndefined();
      return done.body.backups.map(({ id, file }) => ({ id, file }))[0] ?? { id: "", file: "" };
    };
    const { id, file } = await run();
    expect(JSON.parse(await readFile(file, "utf8"))).toHaveProperty(["mcp", "sessarc", "type"], "remote");
    await t.restore([id]);
    expect(await missing(".config")).toBe(true);
    const again = await run();
    await writeFile(join(dirname(file), "mine.txt"), "mine");
    await t.restore([again.id]);
    expect(await readdir(dirname(file))).toEqual(["mine.txt"]);
  });

  it("is written for VS Code where one of its editions is installed", async () => {
    await begin();
    expect((await connect(["vscode"])).body.code).toBe("MCP_ENTRY_REFUSED");
    const folder = dirname(vscode.files(t.kernel.env)[2]?.path ?? "");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "settings.json"), "{}");
    const done = await connect(["vscode"]);
    expect(JSON.parse(await readFile(join(folder, "mcp.json"), "utf8"))).toHaveProperty(["servers", "sessarc", "type"]);
    await t.restore(done.body.backups.map(({ id }) => id));
    expect(await readdir(folder)).toEqual(["settings.json"]);
  });

  it("stays out of what changed since: a restore refuses, and with merge takes its own entry alone", async () => {
    await begin();
    const done = await connect(["cursor"]);
    const file = at(".cursor/mcp.json");
    const now = JSON.parse(await readFile(file, "utf8")) as { mcpServers: Record<string, object> };
    await writeFile(file, JSON.stringify({ ...now, mcpServers: { ...now.mcpServers, mine: { command: "mine" } } }));
    const ids = done.body.backups.map(({ id }) => id);
    expect((await t.restore(ids)).body.code).toBe("MCP_CONFIG_CHANGED");
    expect((await t.restore(ids, { merge: true })).body.code).toBeUndefined();
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ mcpServers: { mine: { command: "mine" } } });
  });

  it("is refused for an assistant that is not installed, an unreadable file, and a file that came meanwhile", async () => {
    await begin();
    await rm(at(".cursor"), { recursive: true });
    await t.put(".gemini/settings.json", "{ broken");
    for (const tool of ["cursor", "gemini-cli", "nobody"])
      expect((await connect([tool])).body.code, tool).toBe("MCP_ENTRY_REFUSED");
    expect(await t.read(".gemini/settings.json")).toBe("{ broken");
    await t.put(".copilot/mcp-config.json", JSON.stringify({ mcpServers: "nothing" }));
    expect((await connect(["copilot"])).body.code).toBe("MCP_ENTRY_REFUSED");
    const { files } = await matrix();
    await t.put(".codex/config.toml", 'model = "o3"\n');
    const late = await t.send<{ code?: string }>("POST", "/api/mcp/takeover", {
      ...{ fileHashes: files, mode: "replace", connect: ["codex"] },
    });
    expect(late.body.code).toBe("MCP_CONFIG_CHANGED");
    expect(await t.read(".codex/config.toml")).toBe('model = "o3"\n');
  });
});

describe("every assistant with servers", () => {
  it("finds the hub's entry where its adapter has the first one written", async () => {
    const t = await createTestKernel({ plugins: defaultPlugins() });
    try {
      const contracts = [...t.kernel.registry.adapters.values()].flatMap(({ name, mcp }) =>
        mcp ? [{ name, mcp }] : [],
      );
      expect(contracts.length).toBeGreaterThan(10);
      for (const { name, mcp } of [...contracts, { name: "vscode", mcp: vscode }]) {
        const [first] = mcp.files(t.kernel.env).filter(({ scope }) => scope === "user");
        const path = mcp.into?.({}, first?.path ?? "") ?? [];
        expect(path, name).not.toEqual([]);
        const link = mcp.link("http://127.0.0.1:4173/mcp", path, undefined);
        const config = path.reduceRight<object>((inner, key) => ({ [key]: inner }), { sessarc: link });
        const text = JSON.stringify(config);
        const [found] = serversIn(mcp, await parseSettings(text, "json")) ?? [];
        expect(found, name).toMatchObject({ path: [...path, "sessarc"], url: "http://127.0.0.1:4173/mcp" });
      }
    } finally {
      await t.close();
    }
  });
});
