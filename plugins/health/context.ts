/** How full the context of sessions was at their last prompt, beside what their model takes by the price table of the service "pricing". */
import type { Database, Kernel, KernelHooks, SqlValue, Statement } from "sessarc";
import { marks } from "#internal/adapter";

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

type Written = Parameters<KernelHooks["session:write"]>[0];

/** Replaces what is known of the session's newest prompt. */
export function writeContext({ session, write }: Written): void {
  write.push(...eraseContext([session.id]));
  const { context } = session.facts;
  if (!context) return;
  const most = new Map(context.most).get(context.model) ?? context.tokens;
  write.push(["insert into health_context values (?, ?, ?, ?)", [session.id, context.model, context.tokens, most]]);
}

export const eraseContext = (ids: readonly string[]): Statement[] => [
  [`delete from health_context where session in (${marks(ids)})`, ids],
];

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
    `select distinct model from health_context where ${where.sql}`,
    where.params,
  );
  const found: NearLimit[] = [];
  for (const { model } of models) {
    const window = pricing?.windowOf(model);
    if (window === undefined) continue;
    const rows = await db.all<Omit<NearLimit, "window">>(
      `select session, model, tokens from health_context
       where model = ? and tokens >= ? and most <= ? and ${where.sql}`,
      [model, NEAR * window, window, ...where.params],
    );
    found.push(...rows.map((row) => ({ ...row, window })));
  }
  return found.sort((a, b) => b.tokens - a.tokens || (a.session < b.session ? -1 : 1));
}
