/** Days that only an assistant's own statistics know. */
import type { Kernel } from "sessarc";
import type { ToolDay } from "./contract.ts";

export interface LoneDay extends ToolDay {
  tool: string;
}

const DAY = 86_400_000;
/** Days of a session that are gone through. */
const LONGEST = 400;

/** Those of which the archive has no session of that assistant, newest first; both ends included. */
export async function readDays(kernel: Kernel, { from = "", to = "~" }): Promise<LoneDay[]> {
  const found: LoneDay[] = [];
  for (const { name: tool, traces } of kernel.registry.adapters.values()) {
    const days = (traces?.days?.(kernel.env) ?? []).filter(({ day }) => day >= from && day <= to);
    if (days.length === 0) continue;
    const archived = await readArchived(kernel, tool);
    const byDay = new Map<string, LoneDay>();
    for (const one of days) {
      if (archived.has(one.day)) continue;
      // Each home of the assistant has statistics of its own.
      const sum = byDay.get(one.day);
      byDay.set(one.day, sum ? add(sum, one) : { tool, ...one });
    }
    found.push(...byDay.values());
  }
  return found.sort((a, b) => (a.day < b.day ? 1 : a.day > b.day ? -1 : a.tool < b.tool ? -1 : 1));
}

const add = (a: LoneDay, b: ToolDay): LoneDay => ({
  ...a,
  sessions: a.sessions + b.sessions,
  messages: a.messages + b.messages,
  calls: a.calls + b.calls,
  tokens: a.tokens === null ? b.tokens : a.tokens + (b.tokens ?? 0),
});

/** Local days in which a session of the assistant was. */
async function readArchived({ storage }: Kernel, tool: string): Promise<Set<string>> {
  const rows = await storage.db.all<{ start: string; end: string }>(
    `select started_at as start, coalesce(ended_at, started_at) as end from session where tool = ? and started_at is not null`,
    [tool],
  );
  const days = new Set<string>();
  for (const { start, end } of rows) {
    const last = Date.parse(end);
    let at = Date.parse(start);
    for (let n = 0; n < LONGEST && at < last; n++, at += DAY) days.add(toLocalDay(at));
    if (!Number.isNaN(last)) days.add(toLocalDay(last));
  }
  return days;
}

function toLocalDay(ms: number): string {
  const at = new Date(ms);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
