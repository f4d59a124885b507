/** How full the context of a session was at each reply, read from its log. */
import type { Kernel, TokenUsage } from "sessarc";
import type { Pricing } from "../prices/pricing.ts";
import { findReplies } from "./replies.ts";

export interface SessionContext {
  /** Why there are no replies: the log is gone, or says nothing of the tokens of single replies. Null when there are some. */
  missing: "log" | "replies" | null;
  /**
   * Prompt of each reply in tokens: input, cache reads and cache writes. In order of the log; of more than 1,000 only the largest of
   * each stretch. Replies copied from a parent session are left out.
   */
  replies: { at: string | null; model: string; tokens: number }[];
  /** Replies in the log. */
  count: number;
  /** Tokens the model of most replies takes, by the price table; null when it does not say, or says less than was sent. */
  window: number | null;
}

const POINTS = 1_000;

/** Reads the log once. Throws SESSION_NOT_FOUND. */
export async function readContext(kernel: Kernel, pricing: Pricing, id: string): Promise<SessionContext> {
  const archive = kernel.inject("archive");
  const row = await archive.get(id);
  const adapter = archive.adapter(row.tool);
  const none = { replies: [], count: 0, window: null };
  if (!adapter || row.source.missing) return { ...none, missing: "log" };
  const replies = await findReplies(adapter, archive.ref(row), kernel);
  if (!replies) return { ...none, missing: "log" };
  const points = replies
    .filter((one) => !one.inherited)
    .map(({ at, model, usage }) => ({ at: at ?? null, model, tokens: toPrompt(usage) }))
    .filter((one) => one.tokens > 0);
  if (points.length === 0) return { ...none, missing: "replies" };
  const most = points.reduce((max, { tokens }) => Math.max(max, tokens), 0);
  const window = pricing.windowOf(pickUsual(points.map((one) => one.model)));
  return {
    missing: null,
    replies: thin(points),
    count: points.length,
    window: window !== undefined && window >= most ? window : null,
  };
}

const toPrompt = ({ input, cacheRead, cacheWrite5m, cacheWrite1h }: TokenUsage) =>
  input + cacheRead + cacheWrite5m + cacheWrite1h;

function pickUsual(models: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const model of models) counts.set(model, (counts.get(model) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
}

function thin<T extends { tokens: number }>(points: readonly T[]): T[] {
  if (points.length <= POINTS) return [...points];
  const size = points.length / POINTS;
  return Array.from({ length: POINTS }, (_, i) => points.slice(Math.floor(i * size), Math.floor((i + 1) * size))).map(
    (part) => part.reduce((a, b) => (b.tokens > a.tokens ? b : a)),
  );
}
