/** GET /api/status: the kernel's own figures, and a section of each plugin that has something to say. */

import type { Kernel } from "../contract/kernel.ts";
import type { Json } from "../session/session.ts";
import { VERSION } from "../utils/version.ts";

/** Filled by listeners of `status:collect`: they set figures of `storage` they know, or a key of their own (`sync`, `isolation`). */
export interface StatusReport {
  version: string;
  mode: "standalone" | "dev";
  /** null when nothing listens (a kernel without a socket). */
  port: number | null;
  dataDir: string;
  storage: { catalogBytes: number; transcriptBytes: number; sessions: number; messages: number };
  uptimeMs: number;
  [section: string]: Json;
}

export async function collectStatus(kernel: Kernel): Promise<StatusReport> {
  const { db } = kernel.storage;
  const report: StatusReport = {
    version: VERSION,
    mode: kernel.config.mode,
    port: kernel.address?.port ?? null,
    dataDir: kernel.storage.dataDir,
    storage: {
      catalogBytes: db.stats.snapshotBytes + db.stats.journalBytes,
      transcriptBytes: 0,
      sessions: 0,
      messages: 0,
    },
    uptimeMs: Date.now() - kernel.startedAt,
  };
  await kernel.hooks.callHook("status:collect", report);
  return report;
}
