/** `sessarc mcp list|add|remove|test|log` in a home of its own; one of them as users run it, by the built package. */
import { beforeAll, describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { builtPackage, runCli } from "../built.ts";
import { runCommand } from "../command.ts";
import { letters } from "../security/_samples.ts";
import { serveHub } from "./_hub.ts";
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
