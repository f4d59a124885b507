/** Servers by assistants: unified by what they start, compared field by field, and given to an assistant that has none. */
import { afterEach, describe, expect, it } from "vitest";
import type { WireMatrix } from "../../plugins/mcp-hub/index.ts";
import { type Configs, claude, json, startConfigs } from "./_configs.ts";

const TIDES = { command: "tides-mcp", args: ["--stations", "stations.json"] };
const HARBOUR = {
  type: "http",
  url: "https://mcp.harbour.example/v1",
  headers: { Authorization: "Bearer abcdefgh12345678ijkl" },
};

describe("matrix of servers and assistants", () => {
  let t: Configs;
  afterEach(() => t.close());
  const matrix = () => t.json<WireMatrix>("/api/mcp/matrix");
  const toStates = (one: WireMatrix["servers"][number] | undefined) =>
    Object.fromEntries(one?.cells.map(({ tool, state }) => [tool, state]) ?? []);
  async function begin() {
    t = await startConfigs();
    await t.put(".claude.json", claude({ tides: TIDES, harbour: HARBOUR }));
    await t.put(
      ".codex/config.toml",
      '[mcp_servers.tide-tables]\ncommand = "tides-mcp"\nargs = ["--stations", "stations.json"]\n',
    );
    await t.put(".cursor/mcp.json", json({ mcpServers: { tides: { ...TIDES, args: [...TIDES.args, "--feet"] } } }));
  }
  const send = (body: object) =>
    t.send<{ code?: string; backups: { id: string }[] }>("POST", "/api/mcp/takeover", body);

  it("unifies servers by what they start, names what differs, and shows no secret", async () => {
    await begin();
    const found = await matrix();
    expect(found.assistants.map(({ tool, connected }) => [tool, connected])).toEqual([
      ["claude-code", false],
      ["codex", false],
      ["cursor", false],
    ]);
    const tides = found.servers.find(({ name }) => name === "tides");
    expect(tides?.otherNames).toEqual(["tide-tables"]);
    expect(toStates(tides)).toEqual({ "claude-code": "file", codex: "file", cursor: "differs" });
    const differing = tides?.cells.find(({ tool }) => tool === "cursor")?.entries[0];
    expect(differing?.diff).toEqual([
      { field: "args", before: '["--stations","stations.json"]', after: '["--stations","stations.json","--feet"]' },
    ]);
    expect(toStates(found.servers.find(({ name }) => name === "harbour"))).toEqual({
      "claude-code": "file",
      codex: "absent",
      cursor: "absent",
    });
    expect(JSON.stringify(found)).not.toContain("abcdefgh12345678");
  });

  it("keeps servers of one name apart when they start different programs", async () => {
    await begin();
    await t.put(".cursor/mcp.json", json({ mcpServers: { tides: { command: "other-program" } } }));
    const { servers } = await matrix();
    expect(servers.filter(({ name }) => name === "tides").map(toStates)).toEqual([
      { "claude-code": "file", codex: "file", cursor: "absent" },
      { "claude-code": "absent", codex: "absent", cursor: "file" },
    ]);
  });

  it("gives one server to every assistant: their own files lead to the hub, and restoring gives each byte back", async () => {
    await begin();
    const before = await Promise.all([".codex/config.toml", ".cursor/mcp.json"].map(t.read));
    const { servers, files } = await matrix();
    const harbour = servers.find(({ name }) => name === "harbour");
    const entries = harbour?.cells.flatMap((cell) => cell.entries) ?? [];
    const done = await send({
      entries: entries.map(({ key, resolution }) => ({ key, resolution })),
      fileHashes: files,
      mode: "replace",
      everywhere: true,
      connect: ["codex", "cursor"],
    });
    expect(done.body.code).toBeUndefined();
    const after = await matrix();
    expect(after.assistants.every(({ connected }) => connected)).toBe(true);
    expect(toStates(after.servers.find(({ service }) => service === "harbour"))).toEqual({
      "claude-code": "hub",
      codex: "hub",
      cursor: "hub",
    });
    // Their own servers are unchanged.
    expect(toStates(after.servers.find(({ name }) => name === "tides"))).toEqual({
      "claude-code": "file",
      codex: "file",
      cursor: "differs",
    });
    expect(await t.read(".codex/config.toml")).toContain("client=codex");
    await t.restore(done.body.backups.map(({ id }) => id));
    expect(await Promise.all([".codex/config.toml", ".cursor/mcp.json"].map(t.read))).toEqual(before);
  });

  it("moves every variant of a server to one service, whichever comes first in the scan", async () => {
    await begin();
    const odd = { ...TIDES, args: [...TIDES.args, "--feet"] };
    await t.put(".claude.json", claude({ tides: odd }));
    await t.put(".cursor/mcp.json", json({ mcpServers: { tides: TIDES } }));
    const { servers, files } = await matrix();
    const tides = servers.find(({ name }) => name === "tide-tables" || name === "tides");
    expect(toStates(tides)).toEqual({ "claude-code": "differs", codex: "file", cursor: "file" });
    const entries = tides?.cells.flatMap((cell) => cell.entries) ?? [];
    const done = await send({
      entries: entries.map(({ key, resolution }) => ({ key, resolution })),
      fileHashes: files,
      mode: "replace",
      everywhere: true,
    });
    expect(done.body.code).toBeUndefined();
    const after = await matrix();
    expect(after.servers.filter(({ service }) => service !== "sessarc")).toHaveLength(1);
    expect(new Set(Object.values(toStates(after.servers.find(({ service }) => service !== "sessarc"))))).toEqual(
      new Set(["hub"]),
    );
  });

  it("refuses to connect an assistant that is not installed, and a request for nothing", async () => {
    await begin();
    const { files } = await matrix();
    const refused = await send({ fileHashes: files, mode: "replace", connect: ["gemini-cli"] });
    expect([refused.status, refused.body.code]).toEqual([422, "MCP_ENTRY_REFUSED"]);
    expect((await send({ fileHashes: files, mode: "replace" })).status).toBe(400);
    expect((await send({ fileHashes: files, connect: ["codex"] })).status).toBe(400);
  });
});
