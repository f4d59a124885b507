/** GET /api/status: the kernel's own figures, and a section of each plugin that has something to say. */
import { BACKGROUND, readState } from "../background/state.ts";
import type { Kernel } from "../contract/kernel.ts";
import type { StatusReport } from "../contract/reports.ts";
import { VERSION } from "../utils/version.ts";

export async function collectStatus(kernel: Kernel, uptimeMs: number): Promise<StatusReport> {
  const { db } = kernel.storage;
  const { user, system } = process.cpuUsage();
  const state = kernel.env.env[BACKGROUND] === "1" ? await readState(kernel.storage.dataDir) : undefined;
  const report: StatusReport = {
    version: VERSION,
    mode: kernel.config.mode,
    port: kernel.address?.port ?? null,
    dataDir: kernel.storage.dataDir,
    storage: {
      catalogBytes: db.stats.fileBytes + db.stats.logBytes,
      transcriptBytes: 0,
      sessions: 0,
      messages: 0,
      ...(kernel.storage.readOnly && { readOnly: true }),
    },
    uptimeMs: Math.round(uptimeMs),
    process: {
      pid: process.pid,
      memoryBytes: process.memoryUsage.rss(),
      processorMs: Math.round((user + system) / 1_000),
      restarts: state?.restarts.map((restart) => ({ ...restart })) ?? [],
    },
    tools: Object.fromEntries([...kernel.registry.adapters].map(([name, { label }]) => [name, label])),
  };
  await kernel.hooks.callHook("status:collect", report);
  return report;
}
