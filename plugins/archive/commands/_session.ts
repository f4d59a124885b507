/** Sessions as commands name and show them. */
import { type CommandContext, fitColumns, formatMoney, printable } from "sessarc/terminal";
import type { Cost, Session } from "../catalogue/types.ts";

/** The session that a text names: `last`, an id, or the beginning of one. Throws ApiError. */
export async function findSession(ctx: CommandContext, name: string): Promise<Session> {
  return (await ctx.get<{ session: Session }>("/sessions/find", { name })).session;
}

/** Why a list is empty, with the one next step: nothing is archived, or nothing fits what was asked for. */
export async function nothingListed(ctx: CommandContext, what: "session" | "project"): Promise<string> {
  if (await isEmpty(ctx)) return EMPTY;
  return `No ${what} fits. \`sessarc ${what}s\` lists all, \`sessarc import\` imports what is new.`;
}

/** Whether nothing is archived. */
export async function isEmpty(ctx: CommandContext): Promise<boolean> {
  return (await ctx.get<{ total: number }>("/sessions", { limit: "1" }, ctx.signal)).total === 0;
}

/** To be pasted: in single quotes, in which a shell reads nothing else. */
export const toArgument = (text: string): string => `'${printable(text).replaceAll("'", "'\\''")}'`;

/** Printed where the archive has no session. */
export const EMPTY = "The archive is empty. `sessarc import` imports what your assistants logged.";

/** Shown instead of a cost if the log has no token counts. */
export const NOT_LOGGED = "not logged";

/** `$1.23`; `$1.23 +` where models without a price are left out, `—` where nothing has one. */
export function toMoney(cost: Pick<Cost, "microdollars" | "unpriced"> | null | undefined): string {
  if (!cost) return "";
  if (cost.unpriced.length === 0) return formatMoney(cost.microdollars);
  return cost.microdollars === 0 ? "—" : `${formatMoney(cost.microdollars)} +`;
}

/** Models that a line names, in at most so many columns each. */
const NAMED = 2;
const LONGEST = 24;

/** By which prices a sum is estimated, and what it leaves out or takes at another price: a line each. */
export function toEstimate({ pricedAt, unpriced, atStandard = [] }: Cost): string {
  const lines = [`estimated with prices of ${pricedAt}`];
  if (unpriced.length > 0) lines.push(`no price for ${someOf(unpriced)} (\`sessarc prices update\`)`);
  if (atStandard.length > 0) lines.push(`at the standard price, as no other is known: ${someOf(atStandard)}`);
  return lines.join("\n");
}

function someOf(models: readonly string[]): string {
  const names = models.slice(0, NAMED).map((model) => fitColumns(printable(model), LONGEST));
  return `${names.join(", ")}${models.length > NAMED ? ` and ${models.length - NAMED} more` : ""}`;
}

/** The estimate; where the log has no tokens, the cost that the assistant states, if it does. */
export function computeCost({ usage, cost, loggedCost }: Pick<Session, "usage" | "cost" | "loggedCost">): string {
  if (Object.keys(usage).length > 0) return toMoney(cost);
  return loggedCost === null ? NOT_LOGGED : `${formatMoney(loggedCost)} logged`;
}
