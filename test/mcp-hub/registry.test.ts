import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import mcpHub, { type WireService } from "../../plugins/mcp-hub/index.ts";
import security from "../../plugins/security/index.ts";
import { testPlugin } from "../plugin.ts";
import { letters } from "../security/_samples.ts";
import { startHub } from "./_hub.ts";

const list = async (t: Awaited<ReturnType<typeof startHub>>) =>
  (await t.json<{ services: WireService[] }>("/api/mcp/services")).services;

/** One value for each place a secret may be in. */
const planted = () => ({
  query: `q${letters(28, 1)}7`,
  user: `u${letters(24, 2)}8`,
  header: `h${letters(28, 3)}9`,
  env: `e${letters(28, 4)}1`,
  option: `o${letters(28, 5)}2`,
  inline: `i${letters(28, 6)}3`,
  credential: `c${letters(28, 7)}4`,
});

async function plant(t: Awaited<ReturnType<typeof startHub>>) {
  const secrets = planted();
  await t.send("POST", "/api/mcp/services", {
    id: "remote",
    url: `https://someone:${secrets.user}@mcp.example.org/v1?team=${secrets.query}`,
    headers: { "X-Team": secrets.header, Accept: "application/json" },
    credential: { kind: "bearer", value: secrets.credential },
  });
  await t.send("POST", "/api/mcp/services", {
    id: "local",
    command: "npx",
    args: ["-y", "@scope/server-name@1.2.3", "--api-key", secrets.option, `--token=${secrets.inline}`],
    env: { ANY_NAME: secrets.env, NODE_ENV: "production", REF: "$TOKEN" },
  });
  return secrets;
}

async function* filesBelow(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) yield join(entry.parentPath, entry.name);
}

describe("mcp-hub: registry", () => {
  testPlugin({
    plugin: mcpHub,
    with: () => [archive(), security()],
    // JSON-RPC has errors of its own.
    skip: ["GET /mcp", "POST /mcp", "DELETE /mcp"],
  });

  it("lists the archive itself, which can be switched off but not removed", async () => {
    const t = await startHub();
    expect(await list(t)).toMatchObject([{ id: "sessarc", transport: "builtin", enabled: true, state: "running" }]);
    expect((await t.send("DELETE", "/api/mcp/services/sessarc")).status).toBe(409);
    expect((await t.send("PATCH", "/api/mcp/services/sessarc", { command: "x" })).status).toBe(409);
    expect((await t.send<WireService>("PATCH", "/api/mcp/services/sessarc", { enabled: false })).body).toMatchObject({
      state: "disabled",
    });
  });

  it("S7: shows no secret in any answer, and keeps values whose mask is sent back", async () => {
    const t = await startHub();
    const secrets = await plant(t);
    const shown = await list(t);
    for (const [place, value] of Object.entries(secrets)) expect(JSON.stringify(shown), place).not.toContain(value);
    const local = shown.find(({ id }) => id === "local");
    expect(local).toMatchObject({
      transport: "stdio",
      command: "npx",
      args: [
        "-y",
        "@scope/server-name@1.2.3",
        "--api-key",
        expect.stringMatching(/^•+/),
        expect.stringMatching(/^--token=•+/),
      ],
      env: { NODE_ENV: "production", REF: "$TOKEN", ANY_NAME: expect.stringMatching(/^•+/) },
    });
    for (const service of shown.filter(({ id }) => id !== "sessarc")) {
      const { args, env, url, headers } = service;
      const { status, body } = await t.send("PATCH", `/api/mcp/services/${service.id}`, { args, env, url, headers });
      expect(status, JSON.stringify(body)).toBe(200);
    }
    const kept = await t.kernel.inject("mcp").services.get("local");
    expect(kept.args.slice(3)).toEqual([secrets.option, `--token=${secrets.inline}`]);
    expect(kept.env).toEqual({ ANY_NAME: secrets.env, NODE_ENV: "production", REF: "$TOKEN" });
    const remote = await t.kernel.inject("mcp").services.get("remote");
    expect(remote.url).toContain(secrets.query);
    expect(remote.headers["X-Team"]).toBe(secrets.header);
    const fresh = await t.send("PATCH", "/api/mcp/services/remote", {
      credential: { kind: "bearer", value: "••••••••abcd" },
    });
    expect(fresh.status).toBe(422);
  });

  it.each([
    ["a password made of words", "Bearer hunter-harbour-key", "••••••••"],
    ["a short one behind a scheme", `Bearer ${letters(13, 3)}7`, "••••••••"],
    ["a long random one", `Bearer ${letters(24, 3)}wxy7`, "••••••••wxy7"],
  ])("shows the end of a random value alone: %s", async (_, value, shown) => {
    const t = await startHub();
    const { body } = await t.send<WireService>("POST", "/api/mcp/services", {
      id: "a",
      url: "https://a.dev",
      headers: { Authorization: value },
    });
    expect(body.headers).toEqual({ Authorization: shown });
  });

  it("keeps services over a restart, sealed: no file but the vault's holds a value, and its key is the user's alone", async () => {
    const first = await startHub();
    const { home } = first;
    const secrets = await plant(first);
    const data = join(home, "data");
    const values = Object.values(secrets).map((value) => Buffer.from(value));
    for await (const file of filesBelow(data)) {
      const bytes = await readFile(file);
      for (const value of values) expect(bytes.includes(value), file).toBe(false);
    }
    if (process.platform !== "win32") expect((await stat(join(data, "vault.key"))).mode & 0o777).toBe(0o600);
  });

  it.each([
    { kind: "bearer", value: `b${letters(28, 1)}7` },
    { kind: "header", name: "X-Key", value: "short" },
    { kind: "oauth", name: "client", value: `o${letters(28, 2)}8` },
    { kind: "oauth", name: "", value: "" },
  ] as const)("a credential that is sent back as it is listed keeps its value: $kind", async (credential) => {
    const t = await startHub();
    const { body } = await t.send<WireService>("POST", "/api/mcp/services", {
      id: "a",
      url: "https://a.dev",
      credential,
    });
    const patched = await t.send<WireService>("PATCH", "/api/mcp/services/a", { credential: body.credential });
    expect([patched.status, patched.body.credential]).toEqual([200, body.credential]);
    expect((await t.kernel.inject("mcp").services.get("a")).credential).toEqual(credential);
    expect((await t.send("POST", "/api/mcp/services", { id: "a", credential: body.credential })).status).toBe(200);
    expect((await t.kernel.inject("mcp").services.get("a")).credential).toEqual(credential);
    const other = { ...body.credential, hint: "••••••••wxyz" };
    expect((await t.send("PATCH", "/api/mcp/services/a", { credential: other })).status).toBe(422);
  });

  it("reports it when the key is another one, and leaves what is stored alone", async () => {
    const home = (await startHub()).home;
    const one = await startHub({ home: join(home, "one") });
    await plant(one);
    await one.close();
    await writeFile(join(home, "one/data/vault.key"), `${Buffer.alloc(32, 7).toString("base64")}\n`);
    const two = await startHub({ home: join(home, "one") });
    const { status, body } = await two.send<{ code: string }>("GET", "/api/mcp/services");
    expect([status, body.code]).toEqual([500, "VAULT_UNREADABLE"]);
    two.errors.length = 0;
  });

  it("D9: one id is one service; names make free ids", async () => {
    const t = await startHub();
    const add = (body: object) => t.send<WireService & { created: boolean }>("POST", "/api/mcp/services", body);
    expect((await add({ name: "GitHub (work)", command: "x" })).body).toMatchObject({
      id: "github-work",
      created: true,
    });
    expect((await add({ name: "github-work!", command: "y" })).body).toMatchObject({ id: "github-work-2" });
    expect((await add({ name: "GitHub (work)", args: ["z"] })).body).toMatchObject({
      id: "github-work",
      created: false,
    });
    expect((await add({ id: "a__b", command: "x" })).status).toBe(400);
    expect((await t.send("DELETE", "/api/mcp/services/github-work-2")).body).toEqual({ removed: true });
    expect((await t.send("PATCH", "/api/mcp/services/github-work-2", {})).status).toBe(404);
  });

  it("refuses itself as a service: it would wait for its own answer", async () => {
    const t = await startHub();
    const { port } = t.kernel.config;
    for (const url of [`http://localhost:${port}/mcp`, `http://127.0.0.1:${port}/mcp/a?client=x`]) {
      const answer = await t.send<{ message: string }>("POST", "/api/mcp/services", { id: "a", url });
      expect([answer.status, answer.body.message]).toEqual([422, expect.stringContaining("this hub itself")]);
    }
    expect((await t.send("POST", "/api/mcp/services", { id: "a", url: `http://localhost:${port}/else` })).status).toBe(
      200,
    );
  });

  it.each([
    [{ id: "a" }, "needs a command"],
    [{ id: "a", transport: "http" }, "needs a url"],
    [{ id: "a", url: "file:///etc/passwd" }, "not an http"],
    [{ id: "a", command: "x", cwd: "rel" }, "cwd"],
    [{ id: "a", command: "x", args: ["a\0b"] }, "NUL"],
    [{ id: "a", command: "x", cwd: "/\0" }, "NUL"],
    [{ id: "a", command: "x", env: { A: "a\0b" } }, "NUL"],
    [{ id: "a", name: "a\0b", command: "x" }, "NUL"],
    [{ id: "a", command: "x", env: { "A=B": "c" } }, "no name of a variable"],
    [{ id: "a", url: "https://x.dev", headers: { "X A": "1" } }, "no name of a header"],
    [{ id: "a", url: "https://x.dev", headers: { "X-A": "1\r\nX-B: 2" } }, "more than one line"],
    [{ id: "a", url: "https://x.dev", credential: { kind: "bearer", value: "1\n2" } }, "more than one line"],
    [{ id: "a", command: "x", credential: { kind: "bearer", value: "v" } }, "does not fit"],
  ])("refuses %j", async (body, reason) => {
    const t = await startHub();
    const answer = await t.send<{ message: string }>("POST", "/api/mcp/services", body);
    expect(answer.status).toBe(422);
    expect(answer.body.message).toContain(reason);
  });
});
