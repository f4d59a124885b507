/** `sessarc mcp list|add|remove|test|log` in a home of its own; one of them as users run it, by the built package. */
import { beforeAll, describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { builtPackage, runCli } from "../built.ts";
import { runCommand } from "../command.ts";
import { letters } from "../security/_samples.ts";
import { serveHub } from "./_hub.ts";
import { listsService, olderClient } from "./_lists.ts";
import { rough } from "./_rough.ts";

describe("sessarc mcp", () => {
  beforeAll(builtPackage, 300_000);

  it("adds, lists, tests and removes services without a running one", async () => {
    const home = await makeTempDir();
    const run = (args: string[]) => runCommand(["mcp", ...args], home);
    const { command, args } = rough();
    const token = `t${letters(30, 6)}1`;
    const named = ["mcp", "add", "rough", "--env", "SECRET", "--", command, ...args];
    const added = await runCommand(named, home, { SECRET: token });
    expect(added).toMatchObject({ code: 0, stdout: "Added rough. Try it: sessarc mcp test rough\n", stderr: "" });
    const exposed = await run(["add", "rough", "--", command, ...args, "", "", "--token", token]);
    expect(exposed).toMatchObject({ code: 0, stdout: expect.stringContaining("Changed rough") });
    expect(exposed.stderr).toMatch(/Argument 5 holds a secret.*env/);
    const list = await run(["list"]);
    expect(list.stdout).toMatch(/rough +stdio +idle/);
    expect(list.stdout).toContain("Argument 5 holds a secret");
    const listed = await run(["list", "--json"]);
    expect(JSON.parse(listed.stdout).services).toMatchObject([
      { id: "rough", env: { SECRET: expect.stringMatching(/^•/) } },
      { id: "sessarc" },
    ]);
    expect([added, exposed, list, listed].map(({ stdout, stderr }) => stdout + stderr).join("")).not.toContain(token);
    expect(await runCli(["mcp", "test", "rough"], home)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^rough answers: \d+ tools/),
    });
    await run(["add", "gone", "--", "/nowhere/at-all"]);
    expect(await run(["test", "gone"])).toMatchObject({ code: 1, stderr: expect.stringContaining("not installed") });
    expect(await run(["remove", "rough"])).toMatchObject({ code: 0, stdout: "Removed rough\n" });
    expect(await run(["remove", "rough"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("No service rough"),
    });
    expect((await run(["log"])).code).toBe(3);
    await run(["add", "web", "--url", "http://127.0.0.1:1/mcp"]);
    expect(await run(["sign-in", "web"])).toMatchObject({ code: 1, stderr: expect.stringContaining("sessarc serve") });
    for (const wrong of [["dance"], ["add", "x"], ["sign-in"]])
      expect([wrong, (await run(wrong)).code]).toEqual([wrong, 2]);
    expect(await run(["add", "x", "--bearer", "NOT_SET", "--url", "http://h/"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("NOT_SET is not set"),
    });
  });

  it("takes no secret from the command line, where every user of the machine can read it", async () => {
    const home = await makeTempDir();
    const token = `t${letters(30, 6)}1`;
    const at = ["mcp", "add", "web", "--url", "https://example.org/mcp"];
    for (const secret of [
      [...at, "--header", `Authorization=Bearer ${token}`],
      [...at, "--header", "X-Api-Key=hunter2"],
      [...at, "--header", `X-Team=${token}`],
      ["mcp", "add", "web", "--url", `https://user:${token}@example.org/mcp`],
      ["mcp", "add", "web", "--url", `https://example.org/mcp?api_key=${token}`],
      ["mcp", "add", "web", "--env", `API_TOKEN=${token}`, "--", "server"],
    ]) {
      const refused = await runCommand(secret, home);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/every user of this machine/)]);
      expect(refused.stderr).not.toContain(token);
    }
    const plain = ["--header", "Accept=text/plain", "--header", "X-Api-Key=$KEY"];
    const oauth = ["--oauth", "my-client", "--oauth-secret", "SECRET"];
    const added = await runCommand([...at, ...plain, ...oauth], home, { KEY: token, SECRET: token });
    expect(added).toMatchObject({ code: 0, stderr: "" });
    const { services } = JSON.parse((await runCommand(["mcp", "list", "--json"], home)).stdout);
    expect(services.find(({ id }: { id: string }) => id === "web")).toMatchObject({
      headers: { Accept: "text/plain", "X-Api-Key": expect.stringMatching(/^•/) },
      credential: { kind: "oauth", name: "my-client", set: true },
    });
  });

  it("lists a tool that is held with what differs, in `mcp list` and `mcp test`", async () => {
    const { home, add, url, kernel } = await serveHub();
    const tool = { name: "send", description: "Sends", inputSchema: { type: "object", properties: { to: {} } } };
    const { service, set } = await listsService(await makeTempDir(), "mail", { lists: { tools: [tool] } });
    await add("mail", service);
    await (await olderClient(url)).listTools();
    await set({ lists: { tools: [{ ...tool, description: "Sends to all", inputSchema: { type: "object" } }] } });
    await kernel.inject("mcp").hub.replaced("mail");
    const run = (...args: string[]) => runCommand(["mcp", ...args], home, { SESSARC_DATA_DIR: `${home}/data` });
    for (const { stdout } of [await run("test", "mail"), await run("list")]) {
      expect(stdout).toMatch(/tool send is held/);
      expect(stdout).toContain('- description: "Sends"');
      expect(stdout).toContain('+ description: "Sends to all"');
      expect(stdout).toContain('- inputSchema.properties: {"to":{}}');
    }
    const { services } = JSON.parse((await run("list", "--json")).stdout);
    expect(services.find(({ id }: { id: string }) => id === "mail").held).toMatchObject([
      { tool: "send", digest: expect.stringMatching(/^[0-9a-f]{16}$/) },
    ]);
  });

  it("shows the log of the service that runs", async () => {
    const { home, add, kernel } = await serveHub();
    await add("rough", rough());
    const body = JSON.stringify({ name: "rough__echo", arguments: { text: "hi" } });
    expect((await kernel.fetch("/api/mcp/call", { method: "POST", body })).status).toBe(200);
    const run = (...args: string[]) => runCommand(["mcp", ...args], home, { SESSARC_DATA_DIR: `${home}/data` });
    expect((await run("log")).stdout).toMatch(/→ {2}rough {2}tools\/call {2}ok/);
    const { entries } = JSON.parse((await run("log", "--service", "rough", "--limit", "1", "--json")).stdout);
    expect(entries).toMatchObject([{ service: "rough", method: "tools/call", status: "ok" }]);
    expect((await run("log", "--service", "nobody")).code).toBe(3);
  });
});
