/** A kernel over sample data, for trying things. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultPlugins } from "sessarc/plugins";
import { writeDemo } from "sessarc/plugins/demo";
import { createKernel, loadConfig } from "sessarc/serve";

const home = await mkdtemp(join(tmpdir(), "sessarc-play-"));
try {
  await writeDemo({ home });
  const env = { home, platform: process.platform, env: {} };
  const config = await loadConfig({ env, flags: { dataDir: join(home, "archive") } });
  const kernel = await createKernel({ config, env, plugins: defaultPlugins() });
  try {
    await kernel.fetch("/api/scan");
    const report = await kernel.fetch("/api/import", { method: "POST", body: JSON.stringify({ all: true }) });
    process.stdout.write(`${JSON.stringify(await report.json(), null, 2)}\n`);
    const found = await kernel.fetch("/api/search?q=tide");
    process.stdout.write(`${JSON.stringify(await found.json(), null, 2).slice(0, 2_000)}\n`);
  } finally {
    await kernel.close();
  }
} finally {
  await rm(home, { recursive: true, force: true });
}
