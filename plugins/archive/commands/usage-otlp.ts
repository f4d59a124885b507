/** `sessarc usage --otlp`: sends token counts, or the spans of one session, once to a collector of OpenTelemetry. No content is sent. */

import { SessarcError } from "sessarc";
import { collectorAt, type OtlpSignal, sendOtlp } from "sessarc/serve";
import { type CommandContext, formatCount, printable, UsageError } from "sessarc/terminal";
import { findSession } from "./_session.ts";
import "../errors.ts";

/** Flags of `sessarc usage` that change what is printed, or where it is counted. */
const MEANINGLESS = ["order", "limit", "breakdown", "compact", "evidence", "stateless"];
/** Flags that choose counts; a session is sent whole. */
const CHOICE = ["since", "until", "tool", "project", "tz"];

/** Throws UsageError: for a wrong address, and for a flag that has no meaning here. */
export function readEndpoint(ctx: CommandContext, text: string, signal: OtlpSignal): URL {
  const ignored = MEANINGLESS.find((name) => ctx.flags[name] !== undefined);
  if (ignored !== undefined)
    throw new UsageError(
      `--otlp sends what the archive has by assistant and model: it takes no --${ignored}. --since, --until, --tool, --project and --tz choose what is sent`,
    );
  const chosen = CHOICE.find((name) => ctx.flags[name] !== undefined);
  if (signal === "traces" && chosen !== undefined)
    throw new UsageError(`--otlp sends a session whole: it takes no --${chosen}`);
  const url = collectorAt(text, signal);
  if (typeof url === "string") throw new UsageError(`--otlp ${url}`);
  return url;
}

interface Metrics {
  resourceMetrics: { scopeMetrics: { metrics: { histogram: { dataPoints: unknown[] } }[] }[] }[];
}
interface Traces {
  resourceSpans: { scopeSpans: { spans: unknown[] }[] }[];
}

/** Throws OTLP_FAILED. */
export async function sendUsage(
  ctx: CommandContext,
  url: URL,
  query: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const document = await ctx.get<Metrics>("/metrics/otlp", query, ctx.signal);
  const points = document.resourceMetrics[0]?.scopeMetrics[0]?.metrics[0]?.histogram.dataPoints.length ?? 0;
  await send(ctx, url, document);
  if (ctx.json) ctx.out(JSON.stringify({ endpoint: url.href, points }));
  else ctx.out(`Sent ${formatCount(points)} token counts to ${url.href}`);
}

/** Throws OTLP_FAILED, SESSION_NOT_FOUND. */
export async function sendSession(ctx: CommandContext, url: URL, named: string): Promise<number> {
  const { id } = await findSession(ctx, named);
  const document = await ctx.get<Traces>(`/sessions/${encodeURIComponent(id)}/spans`, {}, ctx.signal);
  const spans = document.resourceSpans[0]?.scopeSpans[0]?.spans.length ?? 0;
  if (spans === 0) {
    ctx.err(printable(`The log of ${id} has no reply with a time: there is no span to send.`));
    return 3;
  }
  await send(ctx, url, document);
  if (ctx.json) ctx.out(JSON.stringify({ endpoint: url.href, session: id, spans }));
  else ctx.out(printable(`Sent ${formatCount(spans)} spans of ${id} to ${url.href}`));
  return 0;
}

async function send(ctx: CommandContext, url: URL, document: object): Promise<void> {
  const reason = await sendOtlp(url, document, ctx.signal);
  if (reason !== undefined) throw new SessarcError("OTLP_FAILED", { url: url.origin, reason });
}
