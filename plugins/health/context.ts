/** How full the context of sessions was at their last prompt, beside what their model takes by the price table of the service "pricing". */
import type { Database, Kernel, SqlValue } from "sessarc";

/** A share of the model's context window from which on the context is near its limit. */
export const NEAR = 0.8;

export interface NearLimit {
  session: string;
  model: string;
  /** Tokens of the last prompt. */
  tokens: number;
  /** What the model takes. */
  window: number;
}

/**
 * Sessions that are near their limit, the largest prompt first. Those of models of which the price table has no window are not among them,
 * nor those that were sent more than the table allows: their model takes more.
 */
export async function nearLimits(
  kernel: Kernel,
  db: Database,
  where: { sql: string; params: readonly SqlValue[] },
): Promise<NearLimit[]> {
  const pricing = kernel.find("pricing");
  const models = await db.all<{ model: string }>(
    `select distinct model from usage_context where ${where.sql}`,
    where.params,
  );
  const found: NearLimit[] = [];
  for (const { model } of models) {
    const window = pricing?.windowOf(model);
    if (window === undefined) continue;
    const rows = await db.all<Omit<NearLimit, "window">>(
      `select session, model, tokens from usage_context
       where model = ? and tokens >= ? and most <= ? and ${where.sql}`,
      [model, NEAR * window, window, ...where.params],
    );
    found.push(...rows.map((row) => ({ ...row, window })));
  }
  return found.sort((a, b) => b.tokens - a.tokens || (a.session < b.session ? -1 : 1));
}
