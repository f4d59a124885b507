/** `sessarc mcp scan|takeover|restore`; as users run it, the built package, where a file is so large that a worker reads it. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import type { WireBackup } from "../../plugins/mcp-hub/index.ts";
import { makeTempDir } from "../_setup.ts";
import { builtPackage, runCli } from "../built.ts";
import { runCommand } from "../command.ts";

beforeAll(builtPackage);

it("sessarc mcp: scans, shows what would change, takes over, restores; exit codes", async () => {
  const home = await makeTempDir();
  const run = (...args: string[]) => runCommand(["mcp", ...args], home);
  expect(await run("scan")).toMatchObject({ code: 3 });
  const file = join(home, ".claude.json");
  const history = Array.from({ length: 2_000 }, (_, i) => ({ display: `prompt ${i} ${"x".repeat(80)}` }));
  const mcpServers = { files: { command: "npx", args: ["files"], env: { KEY: "value-of-key" } } };
  const text = JSON.stringify({ mcpServers, projects: { "/nowhere": { history } } }, null, 2);
  await writeFile(file, text);
  expect((await run("scan")).stdout).toMatch(/files +new +npx files/);
  const dry = await run("takeover", "files", "--dry-run");
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('+    "sessarc": {') });
  expect(dry.stdout).not.toContain("value-of-key");
  expect(await readFile(file, "utf8")).toBe(text);
  expect(await runCli(["mcp", "takeover", "--all"], home)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Taken over: files"),
  });
  expect(JSON.parse(await readFile(file, "utf8")).mcpServers).toEqual({
    sessarc: { type: "http", url: expect.stringMatching(/\/mcp$/) },
  });
  const { backups } = JSON.parse((await run("restore", "--json")).stdout) as { backups: WireBackup[] };
  expect(await run("restore", backups[0]?.takeover ?? "")).toMatchObject({ code: 0 });
  expect(await readFile(file, "utf8")).toBe(text);
  for (const wrong of [["takeover"], ["takeover", "none"], ["takeover", "files", "--resolve", "files"]])
    expect([wrong, (await run(...wrong)).code]).toEqual([wrong, 2]);
});

it("sessarc mcp: leads an entry of another port here, and throws away what it kept", async () => {
  const home = await makeTempDir();
  const run = (...args: string[]) => runCommand(["mcp", ...args], home);
  const file = join(home, ".cursor", "mcp.json");
  const old = JSON.stringify({ mcpServers: { sessarc: { url: "http://127.0.0.1:5000/mcp?client=cursor" } } });
  await mkdir(dirname(file));
  await writeFile(file, old);
  expect((await run("scan")).stdout).toContain("sessarc mcp takeover --all");
  expect((await run("takeover", "--all", "--dry-run")).code).toBe(0);
  expect(await readFile(file, "utf8")).toBe(old);
  expect((await run("takeover", "--all")).stdout).toContain(`Leads to where the service listens now: ${file}`);
  expect(await readFile(file, "utf8")).toBe(old.replace(":5000", ":41730"));
  const { backups } = JSON.parse((await run("restore", "--json")).stdout) as { backups: WireBackup[] };
  expect(await run("restore", "--delete", backups[0]?.takeover ?? "")).toMatchObject({ code: 0 });
  expect((await run("restore")).code).toBe(3);
  expect((await run("restore", "--delete", "none")).stderr).toContain("none");
});
