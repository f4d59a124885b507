/** `sessarc usage --otlp`: sends token counts once to a collector of OpenTelemetry. No content is sent. */

import { SessarcError } from "sessarc";
import { collectorAt, sendPoints, type ToolTokens, tokenPoints } from "sessarc/serve";
import { type CommandContext, formatCount, UsageError } from "sessarc/terminal";
import "../errors.ts";

/** Flags of `sessarc usage` that change what is printed, or where it is counted. */
const MEANINGLESS = ["order", "limit", "breakdown", "compact", "evidence", "stateless"];

/** Throws UsageError: for a wrong address, and for a flag that has no meaning here. */
export function readEndpoint(ctx: CommandContext, text: string): URL {
  const ignored = MEANINGLESS.find((name) => ctx.flags[name] !== undefined);
  if (ignored !== undefined)
    throw new UsageError(
      `--otlp sends what the archive has by assistant and model: it takes no --${ignored}. --since, --until, --tool, --project and --tz choose what is sent`,
    );
  const url = collectorAt(text);
  if (typeof url === "string") throw new UsageError(`--otlp ${url}`);
  return url;
}

/** Throws OTLP_FAILED. */
export async function sendUsage(ctx: CommandContext, url: URL, rows: readonly ToolTokens[]): Promise<void> {
  const { models } = await ctx.get<{ models: readonly { model: string; entry: string | null }[] }>(
    "/prices",
    {},
    ctx.signal,
  );
  const entries = new Map(models.map(({ model, entry }) => [model, entry]));
  const points = tokenPoints(rows, (model) => entries.get(model));
  const reason = await sendPoints(url, points, ctx.signal);
  if (reason !== undefined) throw new SessarcError("OTLP_FAILED", { url: url.origin, reason });
  if (ctx.json) ctx.out(JSON.stringify({ endpoint: url.href, points: points.length }));
  else ctx.out(`Sent ${formatCount(points.length)} token counts to ${url.href}`);
}
