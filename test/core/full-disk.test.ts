/** A write that fails because the disk is full reports that, in every part, and leaves everything unchanged. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isSessarcError } from "sessarc";
import { expect, it, onTestFinished } from "vitest";
import { checkMachine } from "../../core/kernel/doctor.ts";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import feedback from "../../plugins/feedback/index.ts";
import insights from "../../plugins/insights/index.ts";
import mcpHub from "../../plugins/mcp-hub/index.ts";
import replay from "../../plugins/replay/index.ts";
import security from "../../plugins/security/index.ts";
import share from "../../plugins/share/index.ts";
import skills from "../../plugins/skills/index.ts";
import { makeTempDir } from "../_setup.ts";
import { createTestKernel } from "../kernel.ts";
import { fillDisk, mountSmall } from "../small-disk.ts";

it("settings, prices, places, feedback, hooks and the hub's services (needs the right to mount)", async (context) => {
  const disk = await makeTempDir();
  const unmount = mountSmall(disk, "4m");
  if (!unmount) return context.skip();
  onTestFinished(unmount);
  const [dataDir, ballast] = [join(disk, "data"), join(disk, "ballast")];
  const plugins = [archive(), claude(), feedback(), insights(), mcpHub(), security()];
  const t = await createTestKernel({ plugins, config: { dataDir, sync: false } });
  await mkdir(join(t.home, "more"));
  /** Names and bytes of everything that says something but the catalogue, which has tests of its own. */
  const look = () =>
    readdirSync(dataDir, { recursive: true, encoding: "utf8" })
      .filter((name) => !name.startsWith("catalog.") && statSync(join(dataDir, name)).isFile())
      .sort()
      .map((name) => [name, readFileSync(join(dataDir, name), "latin1")])
      .filter(([, text]) => text !== "");
  const writes: [method: string, path: string, body: unknown][] = [
    ["PATCH", "/api/settings", { autoImport: true }],
    ["POST", "/api/prices", { model: "x", input: 1, output: 2 }],
    ["POST", "/api/sources", { tool: "claude-code", path: join(t.home, "more") }],
    ["POST", "/api/feedback", { message: "hello" }],
    ["POST", "/api/security/install-hook", { tool: "claude-code" }],
    ["POST", "/api/mcp/services", { id: "echo", command: "/bin/true" }],
  ];
  for (const [method, path, body] of writes) {
    const before = look();
    fillDisk(ballast);
    const refused = await t.send<{ code: string }>(method, path, body);
    expect([path, refused.status, refused.body.code]).toEqual([path, 507, "STORAGE_FULL"]);
    rmSync(ballast);
    expect(look()).toEqual(before);
    expect((await t.send(method, path, body)).status).toBeLessThan(300);
  }
  // A line of which a part fitted does not begin the next one.
  const log = join(dataDir, "files/feedback.log");
  const [once] = readFileSync(log, "utf8").split("\n");
  fillDisk(ballast);
  await t.send("POST", "/api/feedback", { message: "x".repeat(9_000) });
  rmSync(ballast);
  expect(readFileSync(log, "utf8")).toBe(`${once}\n`);
  const told = t.errors.splice(0);
  expect(told.map((error) => isSessarcError(error) && error.code)).toEqual(told.map(() => "STORAGE_FULL"));
});

it("an archive on a full disk is read as on a read-only one, and refuses what would write (needs the right to mount)", async (context) => {
  const disk = await makeTempDir();
  const unmount = mountSmall(disk, "6m");
  if (!unmount) return context.skip();
  onTestFinished(unmount);
  const [dataDir, ballast, home] = [join(disk, "data"), join(disk, "ballast"), await makeTempDir()];
  const id = "claude-code:aaaaaaaa-0000-4000-8000-000000000001";
  const log = join(home, ".claude/projects/-w-app", `${id.slice(12)}.jsonl`);
  mkdirSync(dirname(log), { recursive: true });
  const message = { role: "user", content: "needle" };
  writeFileSync(log, `${JSON.stringify({ type: "user", uuid: "u", timestamp: "2026-01-01T00:00:00Z", message })}\n`);
  mkdirSync(join(home, ".claude/skills/hello"), { recursive: true });
  const skill = "---\nname: hello\ndescription: says hello\n---\n";
  writeFileSync(join(home, ".claude/skills/hello/SKILL.md"), skill + "word ".repeat(3_000));
  writeFileSync(join(home, ".claude.json"), JSON.stringify({ mcpServers: { echo: { command: "/bin/true" } } }));
  const plugins = () => [archive(), claude(), insights(), mcpHub(), replay(), security(), share(), skills()];
  const open = () => createTestKernel({ home, plugins: plugins(), config: { dataDir, sync: false } });
  const reads = [
    "/sessions",
    "/usage",
    "/search?q=needle",
    `/sessions/${id}/messages`,
    "/insights",
    "/status",
    "/projects",
  ];

  const t = await open();
  await t.send("POST", "/api/import", { all: true });
  const { entries } = await t.json<{ entries: { key: string; file: string; fileHash: string }[] }>("/api/mcp/scan");
  const [{ key, file, fileHash }] = entries as [(typeof entries)[number]];
  const take = { entries: [{ key }], fileHashes: { [file]: fileHash }, mode: "replace" };
  const writes: [method: string, path: string, body?: object][] = [
    ["POST", "/mcp/takeover", take],
    ["POST", "/skills/import", { path: join(home, ".claude/skills/hello") }],
    ["POST", "/replay/start", { sessionId: id, allowUnisolated: true }],
    ["POST", `/sessions/${id}/share`, {}],
    ["POST", "/security/install-hook", { tool: "claude-code" }],
  ];
  fillDisk(ballast);
  for (const path of reads) expect([path, (await t.fetch(`/api${path}`)).status]).toEqual([path, 200]);
  for (const [method, path, body] of writes) {
    const { status, body: answer } = await t.send<{ code: string; fix: string }>(method, `/api${path}`, body);
    expect([path, status, answer.code]).toEqual([path, 507, "STORAGE_FULL"]);
    expect(answer.fix).toContain("Free space");
  }
  // It is kept where there is room for it.
  expect([200, 507]).toContain((await t.fetch(`/api/sessions/${id}/security-check`)).status);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ mcpServers: { echo: { command: "/bin/true" } } });
  t.errors.length = 0;
  await t.close();

  fillDisk(ballast);
  const read = await open();
  expect(read.kernel.storage.readOnly).toBe(true);
  for (const path of reads) expect([path, (await read.fetch(`/api${path}`)).status]).toEqual([path, 200]);
  read.errors.length = 0;
  await read.close();
  rmSync(ballast);
  const again = await open();
  expect(again.kernel.storage.readOnly).toBe(false);
});

it("the doctor says that nothing can be written, where an import would find out (needs the right to mount)", async (context) => {
  const disk = await makeTempDir();
  const unmount = mountSmall(disk, "256k");
  if (!unmount) return context.skip();
  onTestFinished(unmount);
  mkdirSync(join(disk, "there"), { mode: 0o700 });
  execFileSync("mount", ["-o", "remount,ro", disk]);
  for (const dataDir of [join(disk, "there"), join(disk, "not/made/yet")]) {
    const checks = await checkMachine(dataDir, false);
    expect(checks).toContainEqual(
      expect.objectContaining({
        name: "data directory",
        status: "fail",
        detail: `${dataDir} cannot be written: the disk is read-only`,
      }),
    );
  }
});
