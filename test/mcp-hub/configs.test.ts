import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { WireScanEntry } from "../../plugins/mcp-hub/index.ts";
import { decideService } from "../../plugins/mcp-hub/policy/policy.ts";
import { type Configs, claude, json, services, shapes, startConfigs } from "./_configs.ts";

/** As in texts for variables, which no template is to fill in. */
const variable = (name: string) => `$\{${name}}`;

/** A folder that the archive knows as a project. */
async function project(t: Configs, name: string): Promise<{ id: string; path: string }> {
  const path = join(t.home, name);
  await mkdir(path, { recursive: true });
  const row = {
    type: "user",
    uuid: "u1",
    sessionId: "11111111-1111-4111-8111-111111111111",
    timestamp: "2026-01-02T03:04:05.000Z",
    cwd: path,
    message: { role: "user", content: "hello" },
  };
  await t.put(`.claude/projects/${name}/11111111-1111-4111-8111-111111111111.jsonl`, `${JSON.stringify(row)}\n`);
  await t.send("POST", "/api/import", { all: true });
  const [found] = (await t.json<{ id: string; path: string }[]>("/api/projects")).filter((one) => one.path === path);
  if (!found) throw new Error("The project was not imported");
  return found;
}

describe("scan", () => {
  it("reads the files of all seven tools and reports what each entry is; starts nothing and changes nothing", async () => {
    const t = await startConfigs();
    const mark = join(t.home, "started");
    const start = { command: "/bin/sh", args: ["-c", `touch ${mark}`] };
    await t.put(".claude.json", claude({ files: start, web: { type: "sse", url: "https://e.org/sse" } }));
    await t.put(".codex/config.toml", '[mcp_servers.git]\ncommand = "uvx"\nenabled = false\ntool_timeout_sec = 7\n');
    await t.put(".cursor/mcp.json", '{"mcpServers":{"cur":{"command":"x"}}}');
    await t.put(".gemini/settings.json", '// c\n{ "mcpServers": { "gem": { "httpUrl": "https://g.org/mcp" } } }');
    await t.put(
      ".config/opencode/opencode.json",
      '{ "mcp": { "oc": { "type": "local", "command": ["npx", "oc"] }, }, }',
    );
    await t.put(
      ".copilot/mcp-config.json",
      '{ "mcpServers": { "cop": { "type": "local", "command": "cop", "tools": [] } } }',
    );
    await t.put(
      ".config/Code/User/mcp.json",
      '{ "servers": { "vs": { "type": "http", "url": "https://v.org/mcp" } } }',
    );
    const { entries, problems, managed } = await t.scan();
    expect([problems, managed]).toEqual([[], []]);
    expect(
      entries.map(({ tool, name, class: of, enabled, config }) => [tool, name, of, enabled, config.transport]),
    ).toEqual([
      ["claude-code", "files", "New", true, "stdio"],
      ["claude-code", "web", "New", true, "sse"],
      ["codex", "git", "New", false, "stdio"],
      ["cursor", "cur", "New", true, "stdio"],
      ["gemini-cli", "gem", "New", true, "http"],
      ["opencode", "oc", "New", true, "stdio"],
      ["copilot", "cop", "New", true, "stdio"],
      ["vscode", "vs", "New", true, "http"],
    ]);
    expect(entries[2]?.config.timeoutMs).toBe(7_000);
    expect(entries[6]?.config.tools).toEqual({ allow: [], deny: ["*"] });
    expect(entries.every(({ reasons }) => reasons.length === 0)).toBe(true);
    expect((await t.scan()).entries).toEqual(entries);
    expect(existsSync(mark)).toBe(false);
    expect(await services(t).list()).toHaveLength(1);
  });

  it("classes follow the three-way table", async () => {
    const t = await startConfigs();
    const of = async () => shapes((await t.scan()).entries);
    await t.put(".claude.json", claude({ files: { command: "npx", args: ["files"] } }));
    expect(await of()).toEqual([["files", "New", null]]);
    expect((await t.takeAll({ mode: "import" })).body.imported).toMatchObject([
      { service: "files", action: "created" },
    ]);
    expect(await of()).toEqual([["files", "Unchanged", null]]);
    // What does not count: order, blanks, being switched on or off.
    await t.put(".claude.json", `{"mcpServers":{"files":{"args":["files"],   "command":"npx","disabled":true}}}`);
    expect(await of()).toEqual([["files", "Unchanged", null]]);
    // The hub's side alone.
    await services(t).update("files", { args: ["files", "--mine"] });
    const [edited] = (await t.scan()).entries;
    expect(edited).toMatchObject({ class: "Unchanged", hubEdited: true, service: "files" });
    // Both.
    await t.put(".claude.json", claude({ files: { command: "npx", args: ["files", "--theirs"] } }));
    expect(await of()).toEqual([["files", "Conflict", "both"]]);
    const refused = await t.takeAll({ mode: "import" });
    expect([refused.status, refused.body.code]).toEqual([422, "MCP_ENTRY_REFUSED"]);
    const [both] = (await t.scan()).entries;
    expect(both?.diff).toEqual([{ field: "args", before: '["files","--mine"]', after: '["files","--theirs"]' }]);
    await t.takeover([both as WireScanEntry], {
      entries: [{ key: both?.key, resolution: "takeSource" }],
      mode: "import",
    });
    expect(await of()).toEqual([["files", "Unchanged", null]]);
    // The file's side alone.
    await t.put(".claude.json", claude({ files: { command: "npx", args: ["files", "--next"] } }));
    expect(await of()).toEqual([["files", "Updated", null]]);
    expect((await t.takeAll({ mode: "import" })).body.imported).toMatchObject([{ action: "updated" }]);
    expect((await services(t).get("files")).args).toEqual(["files", "--next"]);
    // Another tool: the same server by another name, the name for another server, the same with other credentials.
    await t.put(
      ".cursor/mcp.json",
      json({
        mcpServers: {
          renamed: { command: "npx", args: ["files", "--next"] },
          files: { command: "other" },
          third: { command: "npx", args: ["files", "--next"], env: { TOKEN: "x" } },
        },
      }),
    );
    expect(await of()).toEqual([
      ["files", "Unchanged", null],
      ["renamed", "Unchanged", null],
      ["files", "Conflict", "name"],
      ["third", "Conflict", "credentials"],
    ]);
  });

  it("names the first of equal entries in conflict, so that they are one choice", async () => {
    const t = await startConfigs();
    await t.put(".claude.json", claude({ db: { command: "a" } }));
    await t.put(".cursor/mcp.json", json({ mcpServers: { db: { command: "b" } } }));
    await t.put(".gemini/settings.json", json({ mcpServers: { db: { command: "a" } } }));
    const { entries } = await t.scan();
    const firstOf = (tool: string) => entries.find((one) => one.tool === tool);
    expect(entries.map((one) => one.class)).toEqual(["Conflict", "Conflict", "Conflict"]);
    expect(firstOf("claude-code")?.duplicateOf).toBeNull();
    expect(firstOf("cursor")?.duplicateOf).toBeNull();
    expect(firstOf("gemini-cli")?.duplicateOf).toBe(firstOf("claude-code")?.key);
    const done = await t.takeover(entries, {
      entries: entries.map(({ key, tool }) => ({ key, resolution: tool === "cursor" ? "rename:db-2" : "takeSource" })),
    });
    expect(done.body.imported.map(({ service, action }) => [service, action])).toEqual([
      ["db", "created"],
      ["db-2", "created"],
      ["db", "linked"],
    ]);
  });

  it("D9: several entries of one name are all in conflict, equal ones are one service", async () => {
    const t = await startConfigs();
    await t.put(".claude.json", claude({ db: { command: "a" }, same: { command: "s" } }));
    await t.put(".cursor/mcp.json", json({ mcpServers: { DB: { command: "b" }, same: { command: "s" } } }));
    const { entries } = await t.scan();
    expect(shapes(entries)).toEqual([
      ["db", "Conflict", "ambiguous"],
      ["same", "New", null],
      ["DB", "Conflict", "ambiguous"],
      ["same", "Unchanged", null],
    ]);
    expect(entries[3]?.duplicateOf).toBe(entries[1]?.key);
    const [one, , two] = entries as [WireScanEntry, WireScanEntry, WireScanEntry];
    const done = await t.takeover(entries, {
      entries: entries.map(({ key }) => ({
        key,
        resolution: key === two.key ? "rename:db-work" : key === one.key ? "takeSource" : "import",
      })),
    });
    expect(done.body.imported.map(({ service, action }) => [service, action])).toEqual([
      ["db", "created"],
      ["same", "created"],
      ["db-work", "created"],
      ["same", "linked"],
    ]);
    expect((await services(t).get("same")).scope.clients).toEqual(["claude-code", "cursor"]);
  });

  it("taking the file's for several entries of one name makes a service of each, with names that differ", async () => {
    const t = await startConfigs();
    await t.put(".claude.json", claude({ db: { command: "a" } }));
    await t.put(".cursor/mcp.json", json({ mcpServers: { db: { command: "b" } } }));
    await t.put(".gemini/settings.json", json({ mcpServers: { db: { command: "c" } } }));
    await t.put(".copilot/mcp-config.json", json({ mcpServers: { db: { command: "d" } } }));
    const { entries } = await t.scan();
    const done = await t.takeover(entries, {
      entries: entries.map(({ key }, i) => ({ key, resolution: i === 3 ? "rename:db-work" : "takeSource" })),
    });
    expect([done.status, done.body.imported?.map(({ service }) => service)]).toEqual([
      200,
      ["db", "db-2", "db-3", "db-work"],
    ]);
    const all = (await services(t).list()).filter(({ id }) => id !== "sessarc");
    expect(all.map(({ id, name, command }) => [id, name, command])).toEqual([
      ["db", "db", "a"],
      ["db-2", "db-2", "b"],
      ["db-3", "db-3", "c"],
      ["db-work", "db-work", "d"],
    ]);
  });

  it("what is refused is said in words, without names of the interface; two services never get one name", async () => {
    const t = await startConfigs();
    await t.put(".claude.json", claude({ db: { command: "a" } }));
    await t.put(".cursor/mcp.json", json({ mcpServers: { db: { command: "b" } } }));
    const { entries } = await t.scan();
    const refused = async (resolution: string, mode: string) => {
      const body = { mode, dryRun: true, entries: entries.map(({ key }) => ({ key, resolution })) };
      const answer = await t.takeover(entries, body);
      expect(answer.status).toBe(422);
      const { message, fix } = answer.body as { message?: string; fix?: string };
      expect(`${message} ${fix}`).not.toMatch(/rename:|takeSource|keepHub|mode "/);
      return message;
    };
    await refused("import", "replace");
    expect(await refused("rename:db-2", "replace")).toMatch(/db of .*\.claude\.json gets the name db-2/);
    await refused("takeSource", "disable");

    await services(t).put({ id: "other", name: "db", command: "o" });
    const [one] = (await t.scan()).entries;
    expect(
      (await t.takeover(one ? [one] : [], { mode: "import", entries: [{ key: one?.key, resolution: "takeSource" }] }))
        .status,
    ).toBe(200);
    const named = (await services(t).list()).map(({ name }) => name);
    expect(new Set(named).size).toBe(named.length);
  });

  it("one server in several files is one service for exactly these assistants in these projects", async () => {
    const t = await startConfigs();
    const [shop, blog] = [await project(t, "shop"), await project(t, "blog")];
    const at = { httpUrl: "https://e.org/mcp" };
    const web = { type: "http", url: "https://e.org/mcp" };
    await t.put("shop/.cursor/mcp.json", json({ mcpServers: { web } }));
    // Another time limit does not make it another server.
    await t.put("blog/.gemini/settings.json", json({ mcpServers: { site: { ...at, timeout: 90_000 } } }));
    await t.put(".gemini/trustedFolders.json", json({ [blog.path]: "TRUST_FOLDER" }));
    const { entries } = await t.scan();
    expect(entries.map(({ name, reasons }) => [name, reasons])).toEqual([
      ["site", []],
      ["web", []],
    ]);
    expect((await t.takeAll({ mode: "import" })).status).toBe(200);
    const [service, ...others] = (await services(t).list()).filter(({ id }) => id !== "sessarc");
    expect(others).toEqual([]);
    expect(service?.sources.map(({ file }) => file.slice(t.home.length + 1)).sort()).toEqual([
      "blog/.gemini/settings.json",
      "shop/.cursor/mcp.json",
    ]);
    const sees = (client: string, id: string) => service && decideService(service, { client, project: id }).allowed;
    expect([sees("cursor", shop.id), sees("gemini-cli", blog.id)]).toEqual([true, true]);
    expect([sees("cursor", blog.id), sees("gemini-cli", shop.id)]).toEqual([false, false]);
  });

  it("the hub has one address in the user's, the project's and the local settings of Claude Code, and the project is in a header", async () => {
    const t = await startConfigs();
    const { id, path } = await project(t, "shop");
    await t.put("shop/.mcp.json", json({ mcpServers: { shared: { command: "s" } } }));
    await t.put(
      ".claude.json",
      claude(
        { mine: { command: "m" } },
        { projects: { [path]: { mcpServers: { local: { command: "l" } }, enabledMcpjsonServers: ["shared"] } } },
      ),
    );
    await t.put("shop/.claude/settings.local.json", json({ enableAllProjectMcpServers: true }));
    expect((await t.takeAll()).status).toBe(200);
    const own = JSON.parse(await t.read(".claude.json"));
    const link = { type: "http", url: "http://127.0.0.1:41730/mcp" };
    const headers = { "X-Sessarc-Project": id };
    expect(own.mcpServers.sessarc).toEqual(link);
    expect(own.projects[path].mcpServers.sessarc).toEqual({ ...link, headers });
    expect(JSON.parse(await t.read("shop/.mcp.json")).mcpServers.sessarc).toEqual({ ...link, headers });
    expect((await t.scan()).entries).toEqual([]);
    expect((await t.scan()).managed).toHaveLength(3);
  });

  it("what only a tool can do has to stay there, with the reason", async () => {
    const t = await startConfigs({ env: { SET: "1" } });
    await t.put(
      ".config/Code/User/mcp.json",
      json({
        inputs: [{ id: "key", type: "promptString" }],
        servers: {
          ask: { command: "x", env: { KEY: variable("input:key") } },
          socket: { type: "http", url: "unix:///run/x.sock" },
          box: { command: "x", sandboxEnabled: true },
          set: { command: "x", env: { A: variable("env:SET") } },
          unset: { command: "x", env: { A: variable("env:UNSET") } },
          home: { command: `${variable("userHome")}/run` },
        },
      }),
    );
    await t.put(".claude.json", claude({ helper: { type: "http", url: "https://e.org", headersHelper: "x" } }));
    await t.put(
      ".config/opencode/opencode.json",
      json({ mcp: { file: { type: "local", command: ["x", "{file:~/k}"] } } }),
    );
    const { entries } = await t.scan();
    const why = Object.fromEntries(entries.map(({ name, reasons }) => [name, reasons.join()]));
    expect(why).toEqual({
      ask: expect.stringContaining("input:key"),
      socket: expect.stringContaining("not an http"),
      box: expect.stringContaining("sandboxEnabled"),
      set: "",
      unset: expect.stringContaining("UNSET"),
      home: "",
      helper: expect.stringContaining("headersHelper"),
      file: expect.stringContaining("{file:~/k}"),
    });
    expect(entries.find(({ name }) => name === "home")?.config.command).toBe(`${t.home}/run`);
    expect(entries.find(({ name }) => name === "set")?.config.env).toEqual({ A: variable("SET") });
    const refused = await t.takeover(entries.filter(({ name }) => name === "ask"));
    expect([refused.status, refused.body.code]).toEqual([422, "MCP_ENTRY_REFUSED"]);
    expect((await t.takeAll()).status).toBe(200);
    expect(shapes((await t.scan()).entries).map(([name]) => name)).toEqual([
      "helper",
      "file",
      "ask",
      "socket",
      "box",
      "unset",
    ]);
  });

  it.each([
    ["cut off", '{ "mcpServers": { "a": ', "line 1"],
    ["a comment where the tool takes none", '{ // no\n "mcpServers": {} }', "InvalidCommentToken"],
    ["one name twice", '{ "mcpServers": { "a": { "command": "x" }, "a": { "command": "y" } } }', "repeats a name"],
    ["a list", '["mcpServers"]', "no object"],
    ["no UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), "UTF-8"],
  ])("a file that cannot be read is a problem and fails alone: %s", async (_, content, reason) => {
    const t = await startConfigs();
    const file = await t.put(".claude.json", content);
    await t.put(".cursor/mcp.json", '{"mcpServers":{"cur":{"command":"x"}}}');
    const { entries, problems } = await t.scan();
    expect(problems).toEqual([{ file, tool: "claude-code", reason: expect.stringContaining(reason) }]);
    expect(shapes(entries)).toEqual([["cur", "New", null]]);
  });

  it("reads VS Code's profiles, and servers that are in its settings; the hub's entry replaces them there", async () => {
    const t = await startConfigs();
    const settings =
      '{\n  // mine\n  "editor.tabSize": 2,\n  "mcp": { "inputs": [], "servers": { "old": { "command": "old" } } }\n}\n';
    await t.put(".config/Code/User/settings.json", settings);
    await t.put(
      ".config/Code/User/profiles/-1a2b3c/mcp.json",
      '{ "servers": { "work": { "url": "https://w.org/mcp" } } }',
    );
    // The editor accepts a duplicate name; nothing of it is about servers.
    await t.put(".config/VSCodium/User/settings.json", '{ "a": 1, "a": 2 }');
    const { entries, problems } = await t.scan();
    expect(problems).toEqual([]);
    expect(entries.map(({ tool, name, class: of }) => [tool, name, of])).toEqual([
      ["vscode", "old", "New"],
      ["vscode", "work", "New"],
    ]);
    expect((await t.takeAll()).status).toBe(200);
    const url = "http://127.0.0.1:41730/mcp?client=vscode";
    const servers = { sessarc: { type: "http", url } };
    const text = await t.read(".config/Code/User/settings.json");
    expect(text).toContain("// mine");
    expect(JSON.parse(text.replace("// mine", ""))).toEqual({ "editor.tabSize": 2, mcp: { inputs: [], servers } });
    expect(JSON.parse(await t.read(".config/Code/User/profiles/-1a2b3c/mcp.json"))).toEqual({ servers });
    expect((await t.restore((await t.backups()).map(({ id }) => id))).status).toBe(200);
    expect(await t.read(".config/Code/User/settings.json")).toBe(settings);
  });

  it("files of projects are for their project alone; a file of several tools is one file", async () => {
    const t = await startConfigs();
    const { id, path } = await project(t, "shop");
    await t.put("shop/.mcp.json", json({ mcpServers: { shared: { command: "./run.sh" } } }));
    await t.put("shop/.cursor/mcp.json", json({ mcpServers: { own: { command: "npx", args: ["own"] } } }));
    const local = { mcpServers: { local: { command: "npx" } } };
    await t.put(".claude.json", claude({}, { projects: { [path]: local } }));
    // What came with the project was not approved; the project cannot do that itself.
    await t.put("shop/.claude/settings.local.json", json({ enableAllProjectMcpServers: true }));
    const [, unapproved] = (await t.scan()).entries;
    expect(unapproved).toMatchObject({
      name: "shared",
      importable: false,
      reasons: [expect.stringContaining("approved")],
    });
    const approved = { ...local, enabledMcpjsonServers: ["shared"] };
    await t.put(".claude.json", claude({}, { projects: { [path]: approved } }));
    const { entries } = await t.scan();
    expect(entries.map(({ name, tools, scope }) => [name, tools, scope.projects])).toEqual([
      ["local", ["claude-code"], [id]],
      ["shared", ["claude-code", "copilot"], [id]],
      ["own", ["cursor"], [id]],
    ]);
    expect((await t.takeAll()).status).toBe(200);
    expect(await services(t).get("shared")).toMatchObject({ cwd: path, scope: { clients: "*", projects: [id] } });
    expect(await services(t).get("own")).toMatchObject({ cwd: null, scope: { clients: ["cursor"], projects: [id] } });
    const url = (text: string) => /http:\/\/[^"]+/.exec(text)?.[0].split("?")[1];
    expect(url(await t.read("shop/.mcp.json"))).toBe(undefined);
    expect(url(await t.read("shop/.cursor/mcp.json"))).toBe(`client=cursor&project=${id}`);
    expect((await t.scan()).entries).toEqual([]);
  });
});
