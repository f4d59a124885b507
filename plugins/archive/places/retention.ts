/** What tools are about to delete of their own logs, and how much of it is archived. */

import type { Kernel } from "sessarc";
import { isInside } from "sessarc/files";
import { type Scan, toVersion } from "./scan.ts";

/** One tool's part of `retention` in GET /status. */
export type RetentionReport = {
  tool: string;
  /** A log that was not written for this long is deleted by its tool. */
  days: number;
  /** Where that is set. */
  source: string;
  /** Logs the tool deletes within a week; sessions the user deleted from the archive are not among them. */
  dueWithin7Days: number;
  /** Of these, logs whose present state is in the archive. */
  archived: number;
  notArchived: number;
};

const DAY = 86_400_000;
/** How far ahead we look. */
const AHEAD_DAYS = 7;
const FRESH_MS = 60_000;
/** While an import changes the archive all the time. */
const IMPORTING_MS = 1_000;

export interface RetentionGuard {
  /**
   * Tools with logs here that delete them after a time. From the last scan, or from the catalogue where there was none: no folder is
   * listed. Cost: one query for each such tool, and nothing while neither the archive nor the scan has changed, for a minute; while an import
   * runs, once a second.
   */
  report(): Promise<RetentionReport[]>;
}

export function createRetentionGuard(kernel: Kernel): RetentionGuard {
  const archive = kernel.inject("archive/open");
  let last: { at: number; generation: number; scan: Scan | undefined; report: Promise<RetentionReport[]> } | undefined;
  return {
    report() {
      const { generation } = archive;
      const scan = archive.importer.lastScan;
      const now = Date.now();
      const isSame = last?.generation === generation && last.scan === scan;
      const freshMs = isSame ? FRESH_MS : archive.importer.progress.type === "idle" ? 0 : IMPORTING_MS;
      if (!last || now - last.at >= freshMs)
        last = { at: now, generation, scan, report: readReport(kernel, scan, now) };
      return last.report;
    },
  };
}

async function readReport(kernel: Kernel, scan: Scan | undefined, now: number): Promise<RetentionReport[]> {
  const { db } = kernel.storage;
  const reports: RetentionReport[] = [];
  let deleted: ReadonlySet<string> | undefined;
  for (const adapter of kernel.registry.adapters.values()) {
    const retention = await adapter.retention?.(kernel.env);
    if (!retention) continue;
    const before = now - (retention.days - AHEAD_DAYS) * DAY;
    const stored = new Map(
      (
        await db.all<{ id: string; version: string }>(
          "select id, source_version as version from session where tool = ? and source_mtime <= ? and missing = 0",
          [adapter.name, Math.round(before)],
        )
      ).map((row) => [row.id, row.version]),
    );
    const report = { tool: adapter.name, ...retention, dueWithin7Days: 0, archived: 0, notArchived: 0 };
    if (!scan) {
      if (stored.size === 0) continue;
      reports.push({ ...report, dueWithin7Days: stored.size, archived: stored.size });
      continue;
    }
    if (!scan.tools.some((one) => one.tool === adapter.name && one.sessions > 0)) continue;
    // A tool tidies its own places; what the user keeps elsewhere stays.
    const dirs = kernel.registry.folders.get(adapter.name)?.dirs ?? [];
    deleted ??= await kernel.inject("archive/open").store.tombstones();
    for (const { id, ref } of scan.found.values()) {
      if (ref.tool !== adapter.name || (ref.mtime ?? now) > before) continue;
      if (dirs.some((dir) => isInside(dir, ref.path)) || deleted.has(id)) continue;
      report.dueWithin7Days++;
      if (stored.get(id) === toVersion(ref)) report.archived++;
      else report.notArchived++;
    }
    reports.push(report);
  }
  return reports;
}

/** Rows for `sessarc doctor`; reads the logs as they are now. */
export async function checkRetention(kernel: Kernel) {
  const scan = await kernel.inject("archive/open").importer.scan();
  return (await readReport(kernel, scan, Date.now())).map((report) => {
    const { tool, days, source, dueWithin7Days: due, archived, notArchived } = report;
    const label = kernel.registry.adapters.get(tool)?.label ?? tool;
    const rule = `${label} deletes logs after ${Math.round(days * 10) / 10} days (${source})`;
    const name = `${tool} retention`;
    if (due === 0) return { name, status: "ok" as const, detail: `${rule}; none is due within 7 days` };
    if (notArchived === 0)
      return { name, status: "ok" as const, detail: `${rule}; ${due} due within 7 days, all archived` };
    return {
      name,
      status: "warn" as const,
      detail: `${rule}; ${due} due within 7 days, ${archived} archived, ${notArchived} not`,
      fix: `\`sessarc import --tool ${tool}\` keeps them. \`sessarc rescue --keep-for 3650 --tool ${tool}\` lets ${label} delete later.`,
    };
  });
}
