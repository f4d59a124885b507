/** `--since` as an ISO time: a local day, or that many days ago. */
import { type CommandContext, UsageError } from "sessarc/terminal";
import { textFlag } from "./_ask.ts";

export function findSince(ctx: CommandContext): string | undefined {
  const value = textFlag(ctx, "since");
  if (value === undefined) return undefined;
  const [, days] = /^(\d{1,5})d$/.exec(value) ?? [];
  const at = days === undefined ? new Date(`${value}T00:00:00`) : new Date();
  if (days !== undefined) at.setDate(at.getDate() - Number(days));
  const isDay = days !== undefined || /^\d{4}-\d\d-\d\d$/.test(value);
  if (!isDay || Number.isNaN(at.getTime()))
    throw new UsageError(`--since takes a day as 2026-11-01 or 7d, not ${JSON.stringify(value)}`);
  return at.toISOString();
}
