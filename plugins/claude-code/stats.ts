/** Claude Code's own statistics of days, in `stats-cache.json`: it counts a day once, and keeps the figures when the logs are deleted. */
import { join } from "node:path";
import { type AdapterCapabilities, isRecord, type JsonRecord, parseRecord, toText } from "sessarc";
import { textBeside } from "sessarc/adapter";

type Day = ReturnType<NonNullable<AdapterCapabilities["traces"]["days"]>>[number];

/** Of one home. A day that has neither messages nor sessions is left out. */
export function readStats(home: string): Day[] {
  const stats = parseRecord(textBeside(join(home, "stats-cache.json")) ?? "");
  const tokens = new Map(rowsOf(stats?.dailyModelTokens).map((row) => [toText(row.date), sumOf(row.tokensByModel)]));
  return rowsOf(stats?.dailyActivity).flatMap((row) => {
    const day = toText(row.date);
    const [sessions, messages] = [toCount(row.sessionCount), toCount(row.messageCount)];
    if (day === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(day) || sessions + messages === 0) return [];
    return { day, sessions, messages, calls: toCount(row.toolCallCount), tokens: tokens.get(day) ?? null };
  });
}

const rowsOf = (value: unknown): JsonRecord[] => (Array.isArray(value) ? value.filter(isRecord) : []);

const toCount = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;

const sumOf = (byModel: unknown): number =>
  isRecord(byModel) ? Object.values(byModel).reduce((sum: number, value) => sum + toCount(value), 0) : 0;
