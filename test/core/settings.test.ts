/** Keys of the configuration that change while the service runs: what holds, what is kept, what is refused. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePlugin } from "sessarc";
import { writeSettings } from "sessarc/serve";
import { describe, expect, it, onTestFinished } from "vitest";
import type { SettingsAnswer } from "../../core/kernel/settings.ts";
import archive from "../../plugins/archive/index.ts";
import feedback from "../../plugins/feedback/index.ts";
import mcp from "../../plugins/mcp-hub/index.ts";
import security from "../../plugins/security/index.ts";
import { createTestKernel, type TestKernelOptions } from "../kernel.ts";

async function freshHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "sessarc-settings-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

const of = (answer: SettingsAnswer, key: string) => answer.settings.find((one) => one.key === key);

describe("settings", () => {
  it("hold at once, are reported, and hold after the next start", async () => {
    const home = await freshHome();
    const told: (readonly string[])[] = [];
    const plugin = definePlugin({
      name: "listener",
      hooks: { "settings:changed": ({ keys }) => void told.push(keys) },
    });
    const options: TestKernelOptions = { home, plugins: [archive(), security(), mcp(), plugin()] };
    const first = await createTestKernel(options);
    expect(of(await first.json("/api/settings"), "security.block")).toMatchObject({ value: "definite", fixed: false });
    const changed = { "security.block": "probable", autoImport: true, "mcp.toolSearch": true };
    const { body } = await first.send<SettingsAnswer>("PATCH", "/api/settings", changed);
    expect(of(body, "security.block")).toMatchObject({ value: "probable", configured: "definite" });
    expect(first.kernel.config).toMatchObject({ autoImport: true, security: { block: "probable" } });
    expect(first.kernel.config.mcp.toolSearch).toBe(true);
    expect(told).toEqual([["autoImport", "security.block", "mcp.toolSearch"]]);
    await first.close();
    const second = await createTestKernel(options);
    expect(second.kernel.config).toMatchObject({ autoImport: true, security: { block: "probable" } });
    await second.send("PATCH", "/api/settings", { "security.block": null });
    expect(second.kernel.config.security.block).toBe("definite");
    await second.close();
    const kept = JSON.parse(await readFile(join(home, "data", "settings.json"), "utf8"));
    expect(kept.values).toEqual({ autoImport: true, "mcp.toolSearch": true });
  });

  it("override the configuration file; the command line overrides them", async () => {
    const home = await freshHome();
    await writeFile(join(home, "sessarc.config.mjs"), "export default { sync: false, autoImport: false };\n");
    await writeSettings(join(home, "data"), { values: { sync: true, autoImport: true } });
    const { json, send, kernel } = await createTestKernel({ home, config: { autoImport: false } });
    expect(kernel.config).toMatchObject({ sync: true, autoImport: false });
    const answer = await json<SettingsAnswer>("/api/settings");
    expect(of(answer, "sync")).toMatchObject({ value: true, configured: false, fixed: false });
    expect(of(answer, "autoImport")).toMatchObject({ value: false, fixed: true });
    const refused = await send("PATCH", "/api/settings", { autoImport: true });
    expect(refused).toMatchObject({ status: 409, body: { code: "SETTING_FIXED", fix: expect.any(String) } });
  });

  it.each([
    [{ "security.block": "everything" }, "security.block"],
    [{ "feedback.relay": "file:///etc/passwd" }, "feedback.relay"],
    [{ "feedback.relay": "javascript:alert(1)" }, "feedback.relay"],
    [{ port: 80 }, "port"],
    [{ sync: "yes" }, "sync"],
  ])("refuse %j and change nothing", async (body, path) => {
    const { send, json } = await createTestKernel({ plugins: [archive(), security(), feedback()] });
    const before = await json("/api/settings");
    const refused = await send<{ issues: { path: string }[] }>("PATCH", "/api/settings", body);
    expect(refused.status).toBe(400);
    expect(refused.body.issues[0]?.path).toBe(path);
    expect(await json("/api/settings")).toEqual(before);
  });

  it("never show the password or the query of the relay's address", async () => {
    const { kernel, json } = await createTestKernel({
      plugins: [feedback()],
      config: { feedback: { relay: "https://me:secret@example.test/in?token=hidden" } },
    });
    expect(JSON.stringify(await json("/api/settings"))).not.toMatch(/secret|hidden/);
    expect(kernel.config.feedback.relay).toContain("secret");
  });

  it("lose nothing when several are written at once, and keep what a later version put into the file", async () => {
    const home = await freshHome();
    const dataDir = join(home, "data");
    await writeSettings(dataDir, { sources: { codex: ["/a"] } });
    const file = join(dataDir, "settings.json");
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, "utf8")), later: { kept: true } }));
    const { send } = await createTestKernel({ home });
    await Promise.all([
      send("PATCH", "/api/settings", { sync: false }),
      send("PATCH", "/api/settings", { autoImport: true }),
      writeSettings(dataDir, ({ prices }) => ({ prices: { ...prices, m: { input: 1, output: 2 } } })),
    ]);
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
      sources: { codex: ["/a"] },
      values: { sync: false, autoImport: true },
      prices: { m: { input: 1, output: 2 } },
      later: { kept: true },
    });
  });
});
