import { link, lstat, readdir, readFile, readlink, rename, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { WireScanEntry } from "../../plugins/mcp-hub/index.ts";
import { letters } from "../security/_samples.ts";
import { claude, json, services, shapes, startConfigs } from "./_configs.ts";

describe("takeover", () => {
  it("a file that changed since the scan is 409 and untouched; so are all others", async () => {
    const t = await startConfigs();
    await t.put(".cursor/mcp.json", '{"mcpServers":{"cur":{"command":"x"}}}');
    await t.put(".claude.json", claude({ files: { command: "x" } }));
    const { entries } = await t.scan();
    const newer = claude({ files: { command: "y" } });
    await t.put(".claude.json", newer);
    const answer = await t.takeover(entries);
    expect([answer.status, answer.body.code]).toEqual([409, "MCP_CONFIG_CHANGED"]);
    expect(await t.read(".claude.json")).toBe(newer);
    expect(await t.read(".cursor/mcp.json")).toContain("cur");
    expect(await services(t).list()).toHaveLength(1);
    expect(await t.backups()).toEqual([]);
    const unknown = await t.takeover(entries, { entries: [{ key: "/nowhere#/a" }] });
    expect([unknown.status, unknown.body.code]).toEqual([404, "MCP_ENTRY_NOT_FOUND"]);
    const unhashed = await t.takeover(entries, { fileHashes: {} });
    expect(unhashed.status).toBe(409);
  });

  it("takes all of it back when one file changes while it is under way", async () => {
    const t = await startConfigs();
    const files = {
      ".claude.json": claude({ a: { command: "a" } }),
      ".cursor/mcp.json": json({ mcpServers: { b: { command: "b" } } }),
    };
    for (const [path, text] of Object.entries(files)) await t.put(path, text);
    await t.put(".gemini/settings.json", json({ mcpServers: { c: { command: "c" }, a: { command: "a" } } }));
    await services(t).put({ id: "c", command: "c", name: "C" });
    const newer = json({ mcpServers: {}, newer: true });
    // Services come first; the last file read is another one by then.
    t.kernel.hooks.hook("mcp:changed", async () => void (await t.put(".gemini/settings.json", newer)));
    const before = await services(t).list();
    const answer = await t.takeAll();
    expect([answer.status, answer.body.code]).toEqual([409, "MCP_CONFIG_CHANGED"]);
    for (const [path, text] of Object.entries(files)) expect(await t.read(path)).toBe(text);
    expect(await t.read(".gemini/settings.json")).toBe(newer);
    const plain = (list: Awaited<ReturnType<ReturnType<typeof services>["list"]>>) =>
      list.map(({ updatedAt: _, ...one }) => one);
    expect(plain(await services(t).list())).toEqual(plain(before));
    expect(await t.backups()).toEqual([]);
    expect((await readdir(t.home)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("a linked file stays a link, also where the link's target is elsewhere", async () => {
    const t = await startConfigs();
    const text = claude({ files: { command: "x" } });
    const target = await t.put("dotfiles/claude.json", text);
    const link = join(t.home, ".claude.json");
    await symlink("dotfiles/claude.json", link);
    const { body } = await t.takeAll();
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect(await readlink(link)).toBe("dotfiles/claude.json");
    expect(await readFile(target, "utf8")).toContain("sessarc");
    expect((await t.restore(body.backups.map(({ id }) => id))).status).toBe(200);
    expect(await readFile(target, "utf8")).toBe(text);
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    await rename(target, `${target}.gone`);
    expect((await t.scan()).problems).toMatchObject([{ reason: expect.stringContaining("leads nowhere") }]);
  });

  it("a hard linked file is refused, and both its names stay one file", async () => {
    const t = await startConfigs();
    const text = claude({ files: { command: "x" } });
    const other = await t.put("dotfiles/claude.json", text);
    await link(other, join(t.home, ".claude.json"));
    const refused = await t.takeAll();
    expect([refused.status, refused.body.code]).toEqual([422, "MCP_ENTRY_REFUSED"]);
    expect(refused.body.message).toContain("hard linked");
    expect(await t.backups()).toEqual([]);
    expect((await t.takeAll({ mode: "import" })).status).toBe(200);
    expect([await readFile(other, "utf8"), (await stat(other)).nlink]).toEqual([text, 2]);
  });

  it("an entry that leads to another port is made to lead here, and what is beside its address stays", async () => {
    const t = await startConfigs();
    const text = claude({ sessarc: { type: "http", url: "http://127.0.0.1:5000/mcp?client=claude-code", timeout: 9 } });
    await t.put(".claude.json", text);
    await t.put(".codex/config.toml", '[mcp_servers.sessarc] # hub\nurl = "http://localhost:5000/mcp?client=codex"\n');
    await t.put(
      ".cursor/mcp.json",
      json({ mcpServers: { sessarc: { url: "http://127.0.0.1:41730/mcp?client=cursor" } } }),
    );
    const { entries, managed } = await t.scan();
    expect(entries).toEqual([]);
    expect(managed.map(({ tool, current }) => [tool, current])).toEqual([
      ["claude-code", false],
      ["codex", false],
      ["cursor", true],
    ]);
    const body = {
      entries: managed.map(({ key }) => ({ key })),
      fileHashes: Object.fromEntries(managed.map(({ file, fileHash }) => [file, fileHash])),
    };
    const answer = await t.takeover([], body);
    expect([answer.status, answer.body.imported, answer.body.diffs.length]).toEqual([200, [], 2]);
    expect(await t.read(".claude.json")).toBe(text.replace(":5000", ":41730"));
    expect(await t.read(".codex/config.toml")).toBe(
      '[mcp_servers.sessarc] # hub\nurl = "http://127.0.0.1:41730/mcp?client=codex"\n',
    );
    expect((await t.scan()).managed.every(({ current }) => current)).toBe(true);
    const [backup] = await t.backups();
    expect((await t.restore([backup?.takeover ?? ""])).status).toBe(200);
    expect(await t.read(".claude.json")).toBe(text);
  });

  it("what a takeover kept can be thrown away; the files stay as they are", async () => {
    const t = await startConfigs();
    await t.put(".claude.json", claude({ files: { command: "x", env: { TOKEN: "value-of-token" } } }));
    await t.takeAll();
    const taken = await t.read(".claude.json");
    const [backup] = await t.backups();
    const path = `/api/mcp/backups/${backup?.takeover}`;
    expect(await t.send("DELETE", path)).toMatchObject({ status: 200, body: { removed: true } });
    expect(await t.backups()).toEqual([]);
    expect(await readdir(join(t.kernel.config.dataDir, "files/backups/mcp"))).toEqual([]);
    expect(await t.read(".claude.json")).toBe(taken);
    expect(await t.send("DELETE", path)).toMatchObject({ status: 404, body: { code: "MCP_BACKUP_NOT_FOUND" } });
  });

  it("switches servers off where the tool's file can, and reports it where it cannot", async () => {
    const t = await startConfigs();
    const toml = '[mcp_servers.git] # mine\ncommand = "uvx"\n\n[mcp_servers.git.env]\nA = "b"\n';
    await t.put(".codex/config.toml", toml);
    expect((await t.takeAll({ mode: "disable" })).status).toBe(200);
    expect(await t.read(".codex/config.toml")).toBe(
      `${toml.replace("mine\n", "mine\nenabled = false\n")}\n[mcp_servers.sessarc]\nurl = "http://127.0.0.1:41730/mcp?client=codex"\n`,
    );
    expect(shapes((await t.scan()).entries)).toEqual([["git", "Unchanged", null]]);
    await t.put(".cursor/mcp.json", '{"mcpServers":{"cur":{"command":"x"}}}');
    const refused = await t.takeover(
      (await t.scan()).entries.filter(({ name }) => name === "cur"),
      { mode: "disable" },
    );
    expect([refused.status, refused.body.code]).toEqual([422, "MCP_ENTRY_REFUSED"]);
  });

  it("a server of the user's called sessarc is not overwritten", async () => {
    const t = await startConfigs();
    await t.put(".claude.json", claude({ sessarc: { command: "mine" }, a: { command: "a" } }));
    const { entries } = await t.scan();
    expect(shapes(entries)).toEqual([
      ["sessarc", "Conflict", "name"],
      ["a", "New", null],
    ]);
    expect((await t.takeover(entries.slice(1))).body.code).toBe("MCP_ENTRY_REFUSED");
    const all = await t.takeover(entries, {
      entries: entries.map(({ key, class: of }) => ({ key, resolution: of === "Conflict" ? "rename:mine" : "import" })),
    });
    expect(all.status).toBe(200);
    expect(Object.keys(JSON.parse(await t.read(".claude.json")).mcpServers)).toEqual(["sessarc"]);
  });

  it("in token mode the tool gets the hub's token, and no difference shows it", async () => {
    const t = await startConfigs({ config: { auth: true } });
    const token = t.kernel.access.scoped("mcp") ?? "";
    const headers = { authorization: `Bearer ${t.kernel.access.token}`, "content-type": "application/json" };
    await t.put(".codex/config.toml", '[mcp_servers.git]\ncommand = "uvx"\n');
    const { entries } = (await (await t.fetch("/api/mcp/scan", { headers })).json()) as { entries: WireScanEntry[] };
    const body = JSON.stringify({
      entries: entries.map(({ key }) => ({ key })),
      fileHashes: Object.fromEntries(entries.map(({ file, fileHash }) => [file, fileHash])),
      mode: "replace",
    });
    const answer = await t.fetch("/api/mcp/takeover", { method: "POST", headers, body });
    expect(answer.status).toBe(200);
    expect(await answer.text()).not.toContain(token);
    expect(await t.read(".codex/config.toml")).toContain(`Bearer ${token}`);
  });
});

describe("restore", () => {
  it("is refused where the file changed since; with merge the entries come back and the rest stays", async () => {
    const t = await startConfigs();
    await t.put(".claude.json", claude({ files: { command: "x", env: { A: "b" } } }));
    await t.put(
      ".codex/config.toml",
      'model = "m"\n[mcp_servers.git]\ncommand = "uvx"\n[mcp_servers.git.env]\nA = "b"\n',
    );
    const { body } = await t.takeAll();
    const ids = body.backups.map(({ id }) => id);
    const changed = (await t.read(".claude.json")).replace('"numStartups": 3', '"numStartups": 4');
    await t.put(".claude.json", changed);
    await t.put(".codex/config.toml", `${await t.read(".codex/config.toml")}\n[new]\nk = 1\n`);
    const refused = await t.restore(ids);
    expect([refused.status, refused.body.code]).toEqual([409, "MCP_CONFIG_CHANGED"]);
    expect(await t.read(".claude.json")).toBe(changed);
    expect((await t.backups()).map(({ state }) => state)).toEqual(["changed", "changed"]);
    expect((await t.restore(ids, { merge: true, dryRun: true })).body.diffs).toHaveLength(2);
    expect(await t.read(".claude.json")).toBe(changed);
    expect((await t.restore(ids, { merge: true })).status).toBe(200);
    expect(JSON.parse(await t.read(".claude.json"))).toEqual({
      numStartups: 4,
      mcpServers: { files: { command: "x", env: { A: "b" } } },
    });
    expect(await t.read(".codex/config.toml")).toBe(
      `model = "m"

[new]
k = 1

[mcp_servers.git]
command = "uvx"
env = { A = "b" }
`,
    );
    expect(shapes((await t.scan()).entries)).toEqual([
      ["files", "Unchanged", null],
      ["git", "Unchanged", null],
    ]);
    expect((await t.restore(["no-such-thing"])).status).toBe(404);
  });

  it("by a takeover as a whole; twice is once; services stay", async () => {
    const t = await startConfigs();
    const text = claude({ files: { command: "x" } });
    await t.put(".claude.json", text);
    await t.takeAll();
    const [backup] = await t.backups();
    expect(backup).toMatchObject({ state: "taken over", file: join(t.home, ".claude.json"), restoredAt: null });
    for (const files of [1, 0]) {
      const { body } = await t.restore([backup?.takeover ?? ""]);
      expect(body.restored).toHaveLength(files);
      expect(await t.read(".claude.json")).toBe(text);
    }
    expect(await t.backups()).toMatchObject([{ state: "restored" }]);
    expect((await services(t).get("files")).sources).toMatchObject([{ takenOver: false }]);
  });
});

describe("S7: secrets of configurations", () => {
  it("show in no answer, log or error; originals are the user's alone", async () => {
    const t = await startConfigs();
    const n = (i: number) => `s${letters(24, i)}${i}`;
    const planted = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(n);
    const [header, query, env, option, inline, user, short, escaped, old, other] = [
      ...planted.slice(0, 6),
      "pw1",
      ...planted.slice(7),
    ];
    const encoded = (text: string) =>
      [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
    await t.put(
      ".cursor/mcp.json",
      `{ "mcpServers": {
  // "OLD": "${old}"
  "web": { "url": "https://me:${user}@e.org/mcp?key=${query}", "headers": { "X": "${header}" } }, // ${header}
  "run": { "command": "npx", "args": ["--api-key", "${option}", "--token=${inline}"], "env": { "A": "${env}", "B": "${short}", "C": "${encoded(escaped ?? "")}" } },
  "stay": { "url": "https://e.org", "auth": { "CLIENT_SECRET": "${other}" } }
} }`,
    );
    await t.put(
      ".codex/config.toml",
      `[mcp_servers.t]\ncommand = "x"\nargs = ["--password", """${option}""", '${env}']\nenv = { P = "pre-${header}", Q = "${encoded(escaped ?? "")}" }\n`,
    );
    await t.put(
      ".claude.json",
      `{"oauth":"${other}","big":"${"x".repeat(3_000)}","mcpServers":{"min":{"command":"x","env":{"A":"${env}"}}}}`,
    );
    const answers: unknown[] = [await t.scan()];
    answers.push(await t.takeAll({ dryRun: true }));
    const done = await t.takeAll();
    expect(done.status, JSON.stringify(done.body)).toBe(200);
    const ids = done.body.backups.map(({ id }) => id);
    answers.push(done, await t.scan(), await t.backups(), await t.restore(ids, { dryRun: true }));
    await t.put(".cursor/mcp.json", `{ "a": "${other}", `);
    answers.push(await t.restore(ids), await t.restore(ids, { merge: true }), await t.scan());
    await t.put(".codex/config.toml", `secret = '${other}`);
    answers.push(await t.scan(), await t.json("/api/mcp/services"), await t.json("/api/mcp/log"));
    const shown = JSON.stringify(answers);
    for (const [i, secret] of [...planted.filter((one) => one !== n(7)), "pw1"].entries())
      expect([i, shown.includes(secret)]).toEqual([i, false]);
    const folder = join(t.home, "data/files/backups/mcp");
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      expect([entry.name, mode & 0o777]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600]);
      // Beside originals nothing has a value; what the services were is sealed.
      if (entry.name !== "run.json") continue;
      const text = await readFile(join(entry.parentPath, entry.name), "utf8");
      for (const secret of planted) expect(text).not.toContain(secret);
    }
    expect((await services(t).get("run")).env).toMatchObject({ A: env, B: short, C: escaped });
    await writeFile(join(t.home, ".cursor/mcp.json"), "{}");
  });
});
