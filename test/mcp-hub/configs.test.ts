import { describe, expect, it } from "vitest";
import { startConfigs } from "./_configs.ts";

describe("mcp-hub: configuration files", () => {
  it("takes one entry of each tool over and puts all back", async () => {
    const t = await startConfigs();
    const files: Record<string, string> = {
      ".claude.json":
        '{\n  "numStartups": 3,\n  "mcpServers": {\n    "files": { "command": "npx", "args": ["-y", "files"] },\n    "web": { "type": "http", "url": "https://e.org/mcp", "headers": { "Authorization": "Bearer secret-token-12345" } }\n  }\n}\n',
      ".codex/config.toml":
        '# mine\nmodel = "x"\n\n# the git server\n[mcp_servers.git]\ncommand = "uvx" # fast\nargs = ["git"]\n\n[mcp_servers.git.env]\nTOKEN = "abc-123-def"\n\n# about b\n[other]\nk = 1\n',
      ".cursor/mcp.json": '{"mcpServers":{"cur":{"command":"x"}}}',
      ".gemini/settings.json": '// c\n{ "theme": "x", "mcpServers": { "gem": { "httpUrl": "https://g.org/mcp" } } }',
      ".config/opencode/opencode.json":
        '{ "mcp": { "oc": { "type": "local", "command": ["npx", "oc"], "environment": { "A": "b" } }, }, }',
      ".copilot/mcp-config.json":
        '{ "mcpServers": { "cop": { "type": "local", "command": "cop", "args": [], "tools": ["*"] } } }',
      ".config/Code/User/mcp.json":
        '{\r\n\t"servers": {\r\n\t\t// one\r\n\t\t"vs": { "type": "http", "url": "https://v.org/mcp" },\r\n\t},\r\n}\r\n',
    };
    for (const [path, text] of Object.entries(files)) await t.put(path, text);
    const { entries, problems, managed } = await t.scan();
    expect(problems).toEqual([]);
    expect(managed).toEqual([]);
    expect(entries.map(({ name, class: of, reasons }) => [name, of, reasons])).toEqual(
      ["files", "web", "git", "cur", "gem", "oc", "cop", "vs"].map((name) => [name, "New", []]),
    );
    expect((await t.takeAll({ dryRun: true })).body.diffs).toHaveLength(7);
    const done = await t.takeAll();
    expect(done.status, JSON.stringify(done.body)).toBe(200);
    const after = await t.scan();
    expect(after.entries).toEqual([]);
    expect(after.managed.map(({ current }) => current)).toEqual(Array(7).fill(true));
    const restored = await t.restore(done.body.backups.map(({ id }) => id));
    expect(restored.status, JSON.stringify(restored.body)).toBe(200);
    for (const [path, text] of Object.entries(files)) expect(await t.read(path)).toBe(text);
    expect((await t.scan()).entries.map(({ class: of }) => of)).toEqual(Array(8).fill("Unchanged"));
  });
});
