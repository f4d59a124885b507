/** A service's start: the catalogue's thread opens the catalogue while the plugins load. */
import { access } from "node:fs/promises";
import { join } from "node:path";
import { definePlugin } from "sessarc";
import { loadConfig, type PluginEntry } from "sessarc/serve";
import { expect, it, vi } from "vitest";
import { bootKernel } from "../../core/kernel/kernel.ts";
import { acquireLock } from "../../core/storage/lock.ts";
import { startThread } from "../../core/storage/thread.ts";
import { makeTempDir } from "../_setup.ts";
import { threadEntry } from "../storage/catalogue.ts";

const entry = await threadEntry();

async function boot(dataDir: string, load: PluginEntry["load"] & object) {
  const env = { home: dataDir, platform: process.platform, env: {} };
  const config = await loadConfig({ env, flags: { dataDir } });
  const thread = startThread(entry);
  return bootKernel({ config, env, plugins: [{ specifier: "late", load }] }, thread).catch(async (error: unknown) => {
    await thread.terminate();
    throw error;
  });
}

it("opens the catalogue before the plugins are loaded", async () => {
  const dataDir = await makeTempDir();
  const { kernel } = await boot(dataDir, async () => {
    await vi.waitFor(() => access(join(dataDir, "lock.json")), { timeout: 8_000 });
    return { default: definePlugin({ name: "late" }) };
  });
  await kernel.close();
});

it("releases the archive when a plugin cannot be loaded, and names the plugin", async () => {
  const dataDir = await makeTempDir();
  const failed = boot(dataDir, async () => {
    throw new Error("no such module");
  });
  await expect(failed).rejects.toThrow(/late.*no such module/);
  const lock = await acquireLock(dataDir);
  await lock.release();
});

it("reports what is wrong with a plugin before what is wrong with the archive", async () => {
  const dataDir = await makeTempDir();
  const lock = await acquireLock(dataDir);
  await expect(boot(dataDir, () => Promise.reject(new Error("no such module")))).rejects.toThrow(/no such module/);
  await expect(boot(dataDir, async () => ({ default: definePlugin({ name: "late" }) }))).rejects.toMatchObject({
    code: "ARCHIVE_LOCKED",
  });
  await lock.release();
});
