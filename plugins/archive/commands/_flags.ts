/** Values of flags that several commands take. */
import { type CommandContext, UsageError } from "sessarc/terminal";
import { readDay } from "../search/day.ts";

export function textFlag(ctx: CommandContext, name: string): string | undefined {
  const value = ctx.flags[name];
  return typeof value === "string" ? value : undefined;
}

/** A local day, `2026-11-01`. */
export function dayFlag(ctx: CommandContext, name: string): string | undefined {
  const value = textFlag(ctx, name);
  const day = value === undefined ? undefined : readDay(value);
  if (value !== undefined && day === undefined)
    throw new UsageError(`--${name} takes a day as 2026-11-01 or 7d, not ${JSON.stringify(value)}`);
  return day;
}

/** A whole number; without `least` any from 0. */
export function numberFlag(ctx: CommandContext, name: string, least = 0, most = 999_999_999): number | undefined {
  const value = textFlag(ctx, name);
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most) return Number(value);
  const range = least === 0 ? "whole number" : `number from ${least} to ${most}`;
  throw new UsageError(`--${name} takes a ${range}, not ${JSON.stringify(value)}`);
}
