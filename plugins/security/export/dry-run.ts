/** What rules would have done to the tool calls of the archive. */
import type { Kernel } from "sessarc";
import { type RuleInput, toTrialRule } from "../secrets/rule-set.ts";
import { CHECK, toSource } from "./sessions.ts";

export interface DryRun {
  /** Tool calls checked. */
  calls: number;
  sessions: number;
  /** Calls that would have been blocked. */
  blocked: number;
  /** Calls with a finding, blocked or not. */
  flagged: number;
  examples: { sessionId: string; seq: number; field: string; rule: string; masked: string }[];
  /** True when time ran out before all sessions were checked. */
  partial: boolean;
}

interface DryRunInput {
  rule?: RuleInput | undefined;
  days?: number | undefined;
}

const EXAMPLES = 20;
const LIMIT_MS = 30_000;

/** Newest sessions first, as many at once as the pool has threads, for half a minute at most. */
export async function countDryRun(kernel: Kernel, { rule, days }: DryRunInput, signal: AbortSignal): Promise<DryRun> {
  const rules = rule
    ? [{ ...(await toTrialRule(rule)), kind: "redact" as const }]
    : await kernel.inject("rules").list();
  const blocking = new Set(rules.filter((one) => one.action === "block").map((one) => one.id));
  const since = days === undefined ? 0 : Date.now() - days * 86_400_000;
  const rows = await kernel.storage.db.all<{ id: string }>(
    "select id from session where sort_at >= ? order by sort_at desc",
    [since],
  );
  const archive = kernel.inject("archive");
  const report: DryRun = { calls: 0, sessions: 0, blocked: 0, flagged: 0, examples: [], partial: false };
  const deadline = performance.now() + LIMIT_MS;
  const waiting = rows.values();

  async function work(): Promise<void> {
    for (const { id } of waiting) {
      signal.throwIfAborted();
      const budgetMs = deadline - performance.now();
      if (budgetMs <= 0) {
        report.partial = true;
        return;
      }
      const session = await archive.find(id);
      // Deleted since.
      if (!session) continue;
      const source = await toSource(kernel, session);
      const result = await kernel.pool.run(CHECK, {
        source,
        rules,
        categories: rule ? ["secret", "personal"] : ["secret"],
        kinds: ["tool_use"],
        budgetMs,
      });
      report.sessions++;
      report.partial ||= result.partial;
      report.calls += result.messages;
      report.flagged += new Set(result.findings.map((finding) => finding.seq)).size;
      const blocked = result.findings.filter((finding) => blocking.has(finding.ruleId));
      report.blocked += new Set(blocked.map((finding) => finding.seq)).size;
      for (const { seq, field, rule: name, masked } of result.findings)
        if (report.examples.length < EXAMPLES) report.examples.push({ sessionId: id, seq, field, rule: name, masked });
    }
  }
  await Promise.all(Array.from({ length: kernel.pool.size }, work));
  return report;
}
