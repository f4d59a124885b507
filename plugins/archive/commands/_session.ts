/** Sessions as commands name and show them. */
import { type CommandContext, formatMoney, printable } from "sessarc/terminal";
import type { Cost, Session } from "../catalogue/types.ts";

/** The session that a text names: `last`, an id, or the beginning of one. Throws ApiError. */
export async function findSession(ctx: CommandContext, name: string): Promise<Session> {
  return (await ctx.get<{ session: Session }>("/sessions/find", { name })).session;
}

/** The beginnings of the sessions' ids without their tool: as short as they differ, eight characters at least. */
export function shortIds(ids: readonly string[]): Map<string, string> {
  const keys = ids.map((id) => ({ id, key: id.slice(id.indexOf(":") + 1) }));
  let length = 8;
  const most = Math.max(length, ...keys.map(({ key }) => key.length));
  while (length < most && new Set(keys.map(({ key }) => key.slice(0, length))).size < keys.length) length++;
  return new Map(keys.map(({ id, key }) => [id, key.slice(0, length)]));
}

/** Shown instead of a cost if the log has no token counts. */
export const NOT_LOGGED = "not logged";

/** `$1.23`; `$1.23 +` where models without a price are left out, `—` where nothing has one. */
export function toMoney(cost: Pick<Cost, "microdollars" | "unpriced"> | null | undefined): string {
  if (!cost) return "";
  if (cost.unpriced.length === 0) return formatMoney(cost.microdollars);
  return cost.microdollars === 0 ? "—" : `${formatMoney(cost.microdollars)} +`;
}

/** Models without a price that a line names. */
const NAMED = 5;

/** By which prices a sum is estimated, and what it leaves out or takes at another price. */
export function toEstimate({ pricedAt, unpriced, atStandard = [] }: Cost): string {
  const more = unpriced.length > NAMED ? ` and ${unpriced.length - NAMED} more` : "";
  const names = printable(unpriced.slice(0, NAMED).join(", "));
  const missing = unpriced.length > 0 ? `; no price for ${names}${more} (\`sessarc prices update\`)` : "";
  const standard =
    atStandard.length > 0 ? `; at the standard price, as no other is known: ${printable(atStandard.join(", "))}` : "";
  return `estimated with prices of ${pricedAt}${missing}${standard}`;
}

/** The estimate; where the log has no tokens, the cost that the assistant states, if it does. */
export function computeCost({ usage, cost, loggedCost }: Pick<Session, "usage" | "cost" | "loggedCost">): string {
  if (Object.keys(usage).length > 0) return toMoney(cost);
  return loggedCost === null ? NOT_LOGGED : `${formatMoney(loggedCost)} logged`;
}

/** `2026-11-20 15:04` in this machine's zone. */
export function localTime(iso: string | null): string {
  const at = new Date(iso ?? Number.NaN);
  if (Number.isNaN(at.getTime())) return "";
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
